"""Variables of xarray from stored arrays, whose elements are read lazily."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xarray import Variable

from zarr_xarray import _xarray, nczarr
from zarr_xarray.dimensions import dimension_names_of, user_attributes
from zarr_xarray.encodings import decode_fill_value, encoding_of
from zarr_xarray.lazy import LazyZarrArray

if TYPE_CHECKING:
    from zarr_core import Array


def is_fill_value_mask(zarr_format: int, override: bool | None) -> bool:
    """Whether the fill value of an array marks missing elements.

    By default only in version 2, where xarray stores ``_FillValue`` as fill value.
    """
    return zarr_format == 2 if override is None else override


def variable_of(array: Array, fill_value_is_mask: bool | None = None) -> Variable:
    """Return the encoded variable of an array; raise KeyError if it has no dimension names."""
    masks = is_fill_value_mask(array.zarr_format, fill_value_is_mask)
    stored = array.attrs.asdict()
    dimensions = dimension_names_of(array, stored)
    attributes = user_attributes(stored)
    if masks:
        # netCDF-C gives every array a fill value; the attribute exists if the user set one.
        is_explicit = nczarr.nczarr_metadata(array, stored) is None or "_FillValue" in attributes
        if array.fill_value is not None and is_explicit:
            attributes["_FillValue"] = array.fill_value
    elif "_FillValue" in attributes:
        attributes["_FillValue"] = decode_fill_value(attributes["_FillValue"], array.dtype)
    encoding = encoding_of(array, dimensions, keep_fill_value=not masks)
    data = _xarray.LazilyIndexedArray(LazyZarrArray(array))
    variable = Variable(dimensions, data, attributes, encoding)
    if dimensions == (nczarr.SCALAR,) and array.shape == (1,):
        variable = variable.isel({nczarr.SCALAR: 0})
        variable.encoding |= {"chunks": (), "preferred_chunks": {}}
    return variable
