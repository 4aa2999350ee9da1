"""Arrays full of one value, arrays like others, arrays saved or loaded in one call."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.errors import NodeNotFoundError, StoreReadOnlyError
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.create import create_array, create_group, like_options
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.open import open as open_node
from zarr_core.hierarchy.open import open_group
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.hierarchy.store_path import opened_store, refuse_misspelt
from zarr_core.threads import concurrent_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core.display.tree import Tree
    from zarr_core.hierarchy.group import Group
    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.store import Store

    Shape = int | Sequence[int]


def array(data: Any, *, store: StoreLike = None, **options: Any) -> Array:
    """Create an array that contains ``data``; options as for :func:`create_array`."""
    return create(None, store=store, data=data, **options)


def create(shape: Shape | None = None, *, store: StoreLike = None, **options: Any) -> Array:
    """Create an array of a shape; options as for :func:`create_array`.

    Parameters
    ----------
    shape : int or sequence of int, optional
        Length of each dimension; that of ``data`` if not given.
    store : store-like, optional
        Where; in memory if not given.
    **options
        Further arguments of :func:`create_array`.
    """
    return create_array(store, shape=shape, **options)


def empty(shape: Shape, **options: Any) -> Array:
    """Create an array of the default fill value; options as for :func:`create_array`.

    Its elements are defined, unlike those of :func:`numpy.empty`.
    """
    return create(shape, **options)


def zeros(shape: Shape, **options: Any) -> Array:
    """Create an array of zeros; options as for :func:`create_array`."""
    return full(shape, 0, **options)


def ones(shape: Shape, **options: Any) -> Array:
    """Create an array of ones; options as for :func:`create_array`."""
    return full(shape, 1, **options)


def full(shape: Shape, fill_value: Any, **options: Any) -> Array:
    """Create an array of one value; options as for :func:`create_array`.

    The value is the array's fill value; no chunk is stored for it.
    """
    return create(shape, fill_value=fill_value, **options)


def empty_like(like: Any, **options: Any) -> Array:
    """Create an empty array with the shape and dtype of another; of a Zarr array, also its layout.

    Parameters
    ----------
    like : array-like
        The other array.
    **options
        Arguments of :func:`create_array`, which take precedence.  Another ``dtype``
        takes the default filters, serializer and fill value with it, other ``chunks`` mean no
        shards, another number of dimensions means chunks of its own.
    """
    return create(**{**like_options(like, options), **options})


def zeros_like(like: Any, **options: Any) -> Array:
    """Create an array of zeros like another; see :func:`empty_like`."""
    return full_like(like, 0, **options)


def ones_like(like: Any, **options: Any) -> Array:
    """Create an array of ones like another; see :func:`empty_like`."""
    return full_like(like, 1, **options)


def full_like(like: Any, fill_value: Any, **options: Any) -> Array:
    """Create an array of one value like another; see :func:`empty_like`."""
    return empty_like(like, **{**options, "fill_value": fill_value})


def save(store: StoreLike, *arrays: Any, **named: Any) -> None:
    """Store one array, or several in a group.

    Parameters
    ----------
    store : store-like
        Where to.  If there is a node already, the call fails.
    *arrays, **named : array-like
        What to store.  A single unnamed array becomes the node itself; of several,
        the unnamed ones are called ``arr_0``, ``arr_1``, ...  ``path`` may name the
        node in the store.

    Raises
    ------
    NodeExistsError
        If there is a node already.

    Notes
    -----
    If this fails, or is interrupted, everything that it has created is removed again, or
    named in a note of the exception.
    """
    path = named.pop("path", None)
    if len(arrays) == 1 and not named:
        create_array(store, path=path, data=arrays[0])
        return
    if not arrays and not named:
        raise ValueError("nothing to save: give at least one array")
    unnamed = ((f"arr_{number}", values) for number, values in enumerate(arrays))
    with Rollback() as rollback, rollback.nested():
        group = create_group(store, path=path)
        for name, value in chain(unnamed, named.items()):
            group.create_array(name, data=value)


def save_array(store: StoreLike, values: Any, **options: Any) -> None:
    """Store one array; options as for :func:`create_array`.

    Raises
    ------
    NodeExistsError
        If there is a node already.
    """
    create(None, store=store, data=values, **options)


def save_group(store: StoreLike, *arrays: Any, **named: Any) -> None:
    """Store arrays in a group, one as well as several; otherwise as :func:`save`."""
    named |= {f"arr_{number}": values for number, values in enumerate(arrays)}
    save(store, **named)


def group(store: StoreLike = None, *, overwrite: bool = False, **options: Any) -> Group:
    """Open a group, or create it if it does not exist.

    A group in a store that is open for reading only is opened for reading only.

    Parameters
    ----------
    store : store-like
        Where; in memory if not given.
    overwrite : bool
        Whether an existing node is overwritten.
    **options
        Further arguments of :func:`open_group`.

    Raises
    ------
    StoreReadOnlyError
        If the store is open for reading only, and has no group there or ``overwrite``
        is true.
    """
    try:
        return open_group(store, "w" if overwrite else "a", **options)
    except StoreReadOnlyError as error:
        if overwrite:
            raise
        try:
            return open_group(store, "r", **options)
        except NodeNotFoundError:
            raise error from None


def tree(store: StoreLike, level: int | None = None, *, path: str | None = None) -> Tree:
    """The hierarchy below a group, to look at; as :meth:`Group.tree`."""
    return open_group(store, path=path).tree(level)


def load(store: StoreLike, *, path: str | None = None, **options: Any) -> Any:
    """Read an array, or all arrays directly below a group, into memory.

    Parameters
    ----------
    store : store-like
        Where from.
    path : str, optional
        Path of the node in the store.
    **options
        Further arguments of :func:`open`.

    Returns
    -------
    ndarray, or dict of str to ndarray
    """
    node: Array | Group = open_node(store, "r", path=path, **options)
    if isinstance(node, Array):
        return np.asarray(node[...])
    return {name: np.asarray(member[...]) for name, member in node.arrays()}


def getsize(store: StoreLike, path: str | None = None) -> int:
    """Bytes of all values below a path: chunks, metadata and all other keys.

    Parameters
    ----------
    store : store-like
        Where; an array or group for what it takes with everything below it.
    path : str, optional
        Path of a node, or a key.

    Raises
    ------
    NodeNotFoundError
        If there is no value at or below the path.  A store object may be empty.
    StoreCapabilityError
        If the store cannot list its keys.

    Notes
    -----
    Of an array, :meth:`Array.nbytes_stored` counts the chunks alone.
    """
    with opened_store(store, path, read_only=True) as (place, below):
        if isinstance(store, Node) and below and not path:
            format_ = store.stored.format
            keys = set(format_.documents(below))
            for prefix in format_.prefixes(below):
                keys.update(place.list_prefix(prefix))
            return _nbytes_of(place, keys)
        found = place.getsize(below) if below else None
        keys = set(place.list_prefix(f"{below}/" if below else ""))
        if found is None and not keys:
            refuse_misspelt(store, place, below, "nothing is stored here")
        return (found or 0) + _nbytes_of(place, keys)


def _nbytes_of(store: Store, keys: Iterable[str]) -> int:
    """Bytes of the values of some keys; a key that was removed in the meantime counts as 0."""
    return sum(size or 0 for _, size in concurrent_map(keys, store.getsize, store.max_concurrency))
