"""Variables of xarray from arrays in a store, elements left where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xarray import Variable

from zarr_xarray import _xarray, nczarr
from zarr_xarray.dimensions import dimensions_of, shown
from zarr_xarray.encodings import decoded_fill_value, encoding_of
from zarr_xarray.lazy import StoredArray

if TYPE_CHECKING:
    from zarr_core import Array


def fill_value_masks(zarr_format: int, asked: bool | None) -> bool:
    """Whether the fill value of an array marks missing elements.

    That is so in version 2, where xarray stores ``_FillValue`` in its place.  In version 3
    the two are different things.
    """
    return zarr_format == 2 if asked is None else asked


def variable_of(array: Array, fill_value_is_mask: bool | None = None) -> Variable:
    """The variable that an array is, not decoded yet.

    Parameters
    ----------
    array : Array
        The array.
    fill_value_is_mask : bool, optional
        Whether its fill value marks missing elements; by default in version 2.

    Raises
    ------
    KeyError
        If nothing names its dimensions.
    """
    masks = fill_value_masks(array.zarr_format, fill_value_is_mask)
    stored = array.attrs.asdict()
    dimensions = dimensions_of(array, stored)
    attributes = shown(stored)
    if masks:
        # netCDF-C gives every array a fill value; if it was asked for, there is the attribute.
        asked = nczarr.notes_of(array, stored) is None or "_FillValue" in attributes
        if array.fill_value is not None and asked:
            attributes["_FillValue"] = array.fill_value
    elif "_FillValue" in attributes:
        attributes["_FillValue"] = decoded_fill_value(
            attributes["_FillValue"], array.dtype, _xarray.FillValueCoder.decode
        )
    encoding = encoding_of(array, dimensions, keep_fill_value=not masks)
    data = _xarray.LazilyIndexedArray(StoredArray(array))
    variable = Variable(dimensions, data, attributes, encoding)
    if dimensions == (nczarr.SCALAR,) and array.shape == (1,):
        variable = variable.isel({nczarr.SCALAR: 0})
        variable.encoding |= {"chunks": (), "preferred_chunks": {}}
    return variable
