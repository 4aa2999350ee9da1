"""Data that is appended, in the form of stored elements, and its comparison with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xarray import DataArray, Dataset, Variable, conventions

from zarr_xarray.encoded_elements import is_missing
from zarr_xarray.variables import variable_of
from zarr_xarray.writers import as_dataset

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def incomplete_variables(fixed: Mapping[str, Array], data: Dataset) -> set[str]:
    """Return the variables that were created, but of which not all elements were stored.

    The missing elements have the fill value.
    """
    names = set()
    for name in fixed.keys() & data.variables.keys():
        array = fixed[name]
        given, stored, fill = data[name].values, decoded_values(array), array.fill_value
        if given.shape == stored.shape and not are_equal(given, stored):
            different = ~_equal_elements(given, stored)
            raw = np.asarray(array[...])[different]
            missing = np.zeros_like(raw) if fill is None else np.full_like(raw, fill)
            if are_equal(raw, missing):
                names.add(name)
    return names


def are_equal(one: NDArray, other: NDArray) -> bool:
    """Whether shapes and elements are equal; missing elements count as equal."""
    return one.shape == other.shape and bool(_equal_elements(one, other).all())


def _equal_elements(one: NDArray, other: NDArray) -> NDArray:
    return np.asarray((one == other) | (is_missing(one) & is_missing(other)))
