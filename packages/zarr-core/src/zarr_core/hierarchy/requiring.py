"""The array of a name, made if it is not there."""

from __future__ import annotations

from operator import index as as_integer
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.errors import NodeExistsError, NodeTypeError
from zarr_core.given.data_types import data_type_of
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.values import dtype_of, values_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.hierarchy.group import Group


def require_array(
    group: Group,
    name: str,
    shape: int | Sequence[int] | None,
    dtype: Any,
    exact: bool,
    options: dict[str, Any],
) -> Array:
    """See :meth:`zarr_core.Group.require_array`."""
    data = options.get("data")
    if data is not None and (shape is None or dtype is None):
        values = values_of(data)
        shape = values.shape if shape is None else shape
        dtype = dtype_of(values) if dtype is None else dtype
    found = group._existing(name)
    if found is None:
        try:
            return group.create_array(name, shape=shape, dtype=dtype, **options)
        except NodeExistsError:
            found = group._existing(name)  # someone was faster
            if found is None:
                raise
    if not isinstance(found, Array):
        raise NodeTypeError(found._where(), "is a group, not an array")
    if shape is None:
        raise TypeError("an array that is required needs a shape, or data to take it from")
    items: Any = shape if hasattr(shape, "__iter__") else (shape,)
    wanted = tuple(as_integer(length) for length in items)
    if found.shape != wanted:
        raise NodeTypeError(found._where(), f"has shape {found.shape}, not {wanted}")
    if dtype is not None:
        asked = data_type_of(dtype)[0].numpy_dtype
        fits = found.dtype == asked if exact else np.can_cast(asked, found.dtype)
        if not fits:
            raise NodeTypeError(found._where(), f"has dtype {found.dtype}, which is not {asked}")
    return found
