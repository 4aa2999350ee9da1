"""Names of the dimensions of an array, as the conventions store them.

Version 3 has ``dimension_names``.  xarray puts ``_ARRAY_DIMENSIONS`` among the attributes
in version 2.  NCZarr, which netCDF-C writes, has references to dimensions of groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_xarray import nczarr
from zarr_xarray._xarray import DIMENSION_KEY

if TYPE_CHECKING:
    from zarr_core import Array


def dimensions_of(array: Array, attributes: dict[str, Any]) -> tuple[str, ...]:
    """The names of the dimensions.

    Parameters
    ----------
    array : Array
        The array.
    attributes : dict
        Its attributes.

    Raises
    ------
    KeyError
        If no convention gives one name for each dimension.
    """
    for names in (
        array.dimension_names,
        attributes.get(DIMENSION_KEY),
        nczarr.dimensions_in(nczarr.notes_of(array, attributes)),
        () if not array.ndim else None,
    ):
        if isinstance(names, list | tuple) and len(names) == array.ndim:
            texts = tuple(name for name in names if isinstance(name, str))
            if len(texts) == array.ndim:
                return texts
    looked_for = (
        "dimension_names"
        if array.zarr_format == 3
        else f"the attribute `{DIMENSION_KEY}`, and NCZarr's metadata"
    )
    raise KeyError(
        f"the array {array.name!r} in {array.store} is missing {looked_for}: a name for each of "
        f"its {array.ndim} dimensions is required for xarray to determine variable dimensions. "
        "Open the array with zarr_core.open_array, or leave it out with drop_variables"
    )


def shown(attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a node that are the user's, not a convention's."""
    return {
        name: value
        for name, value in nczarr.typed(attributes).items()
        if name != DIMENSION_KEY and not name.lower().startswith("_nc")
    }
