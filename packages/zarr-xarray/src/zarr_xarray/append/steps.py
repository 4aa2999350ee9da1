"""Data that is appended, in the form of stored elements, and its comparison with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xarray import DataArray, Dataset, Variable, conventions

from zarr_xarray.encoded_elements import is_missing
from zarr_xarray.variables import variable_of
from zarr_xarray.writers import as_dataset

if TYPE_CHECKING:
    from zarr_core import Array

    from zarr_xarray.append.committed_lengths import Growing

    NDArray = np.ndarray[Any, Any]


def dataset_of(data: Any) -> Dataset:
    """Return the dataset of an argument, which may be a DataArray."""
    if isinstance(data, DataArray):
        return as_dataset(data)
    if isinstance(data, Dataset):
        return data
    raise TypeError(f"cannot append {type(data).__name__}; pass a Dataset, DataArray or mapping")


def with_dimension(data: Dataset, dim: str) -> Dataset:
    """Return a dataset with the dimension; without it, the dataset is one step."""
    return data if dim in data.dims else data.expand_dims(dim)


def in_stored_order(name: str, variable: Variable, item: Growing, dim: str) -> NDArray:
    """Return the elements of a variable in the order of the stored dimensions."""
    dims = item.raw.dims
    if variable.dims != dims:
        wanted = dims if dim in variable.dims else tuple(one for one in dims if one != dim)
        if set(variable.dims) != set(wanted):
            raise ValueError(
                f"cannot append to {item.array.store} {item.array.name!r}: {name!r} has the "
                f"dimensions {variable.dims}; pass those of the stored variable, {dims}"
            )
        variable = variable.transpose(*wanted)
    values: NDArray = variable.values
    return values


def to_array(value: Any) -> NDArray:
    """Convert as xarray does: datetimes of Python and pandas become those of NumPy."""
    array = np.asarray(value)
    if array.dtype != object:
        return array
    values: NDArray = Variable([f"d{axis}" for axis in range(array.ndim)], array).values
    return values


def decoded_values(array: Array) -> NDArray:
    """Return the stored elements of an array as xarray decodes them."""
    values: NDArray = conventions.decode_cf_variable(array.name, variable_of(array)).values
    return values


def are_equal(one: NDArray, other: NDArray) -> bool:
    """Whether shapes and elements are equal; missing elements count as equal."""
    if one.shape != other.shape:
        return False
    return bool(np.all((one == other) | (is_missing(one) & is_missing(other))))
