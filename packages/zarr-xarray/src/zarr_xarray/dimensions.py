"""Dimension names of arrays, by convention.

Version 3 has ``dimension_names``.  In version 2, xarray stores the attribute
``_ARRAY_DIMENSIONS``, and NCZarr (netCDF-C) stores references to dimensions of groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_xarray import nczarr
from zarr_xarray._xarray import DIMENSION_KEY

if TYPE_CHECKING:
    from zarr_core import Array


def dimension_names_of(array: Array, attributes: dict[str, Any]) -> tuple[str, ...]:
    """Return the dimension names of an array; raise KeyError if no convention names all of them."""
    for names in (
        array.dimension_names,
        attributes.get(DIMENSION_KEY),
        nczarr.references_of(nczarr.nczarr_metadata(array, attributes)),
        () if not array.ndim else None,
    ):
        if isinstance(names, list | tuple) and len(names) == array.ndim:
            texts = tuple(name for name in names if isinstance(name, str))
            if len(texts) == array.ndim:
                return texts
    missing = (
        "dimension_names"
        if array.zarr_format == 3
        else f"the attribute `{DIMENSION_KEY}` and NCZarr's metadata"
    )
    raise KeyError(
        f"the array {array.name!r} in {array.store} is missing {missing}: a name for each of "
        f"its {array.ndim} dimensions is required for xarray to determine variable dimensions. "
        "Open the array with zarr_core.open_array, or exclude it with drop_variables"
    )


def sizes_of(array: Array) -> dict[str, int]:
    """Return the length of each dimension by name; raise KeyError if they have no names."""
    return dict(zip(dimension_names_of(array, array.attrs.asdict()), array.shape, strict=True))


def user_attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that do not belong to a convention."""
    return {
        name: value
        for name, value in nczarr.typed_attributes(attributes).items()
        if name != DIMENSION_KEY and not name.lower().startswith("_nc")
    }
