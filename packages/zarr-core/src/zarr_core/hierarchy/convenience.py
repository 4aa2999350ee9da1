"""Arrays from values, and arrays of one value; groups that are created if they are missing."""

from __future__ import annotations

from contextlib import suppress
from inspect import signature
from typing import TYPE_CHECKING, Any

from zarr_core.errors import NodeNotFoundError, StoreReadOnlyError
from zarr_core.hierarchy.create import create_array
from zarr_core.hierarchy.open import open_group
from zarr_core.optional import check_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.group import Group
    from zarr_core.hierarchy.store_path import StoreLike

    Shape = int | Sequence[int]


def array(data: Any, *, store: StoreLike = None, **options: Any) -> Array:
    """Create an array that contains ``data``; options as for :func:`create_array`.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> zarr.array([[1, 2], [3, 4]], chunks=(1, 2))[:, 1]
    array([2, 4])
    """
    return create(None, store=store, data=data, **options)


def create(shape: Shape | None = None, *, store: StoreLike = None, **options: Any) -> Array:
    """Create an array of a shape; by default that of ``data``, and in memory.

    Options as for :func:`create_array`.
    """
    return create_array(store, shape=shape, **options)


def empty(shape: Shape, **options: Any) -> Array:
    """Create an array of the default fill value; options as for :func:`create_array`.

    Its elements are defined, unlike those of :func:`numpy.empty`.
    """
    return create(shape, **options)


def zeros(shape: Shape, **options: Any) -> Array:
    """Create an array of zeros; options as for :func:`create_array`.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> array = zarr.zeros((3, 4), chunks=2, dtype="int8")
    >>> array[0, 0] = 5
    >>> int(array[...].sum())
    5
    """
    return full(shape, 0, **options)


def ones(shape: Shape, **options: Any) -> Array:
    """Create an array of ones; options as for :func:`create_array`."""
    return full(shape, 1, **options)


def full(shape: Shape, fill_value: Any, **options: Any) -> Array:
    """Create an array of one value; options as for :func:`create_array`.

    The value is the array's fill value; no chunk is stored for it.
    """
    return create(shape, fill_value=fill_value, **options)


def group(store: StoreLike = None, *, overwrite: bool = False, **options: Any) -> Group:
    """Open a group, or create it if it does not exist.

    A group in a read-only store is opened for reading.

    Parameters
    ----------
    store : store-like
        Location; in memory by default.
    overwrite : bool
        Whether an existing node is overwritten.
    **options
        Further arguments of :func:`open_group`.

    Raises
    ------
    StoreReadOnlyError
        If the store is read-only, and has no group at the path or ``overwrite`` is true.
    """
    check_names(options, signature(open_group).parameters.keys() - {"mode"} | {"overwrite"})
    try:
        return open_group(store, "w" if overwrite else "a", **options)
    except StoreReadOnlyError:
        if not overwrite:
            with suppress(NodeNotFoundError):
                return open_group(store, "r", **options)
        raise
