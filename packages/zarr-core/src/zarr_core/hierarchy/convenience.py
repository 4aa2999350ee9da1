"""Arrays full of something, arrays like others, arrays saved or loaded at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.stored import sizes_along
from zarr_core.given.older_words import in_present_words
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.create import create_array, create_group
from zarr_core.hierarchy.open import open as open_node
from zarr_core.hierarchy.open import open_group
from zarr_core.hierarchy.values import values_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.display.tree import Tree
    from zarr_core.hierarchy.group import Group
    from zarr_core.hierarchy.location import StoreLike

    Shape = int | Sequence[int]


def array(data: Any, *, store: StoreLike = None, **options: Any) -> Array:
    """Make an array that holds ``data``; options as for :func:`create_array`."""
    return create(None, store=store, data=data, **options)


def create(
    shape: Shape | None = None, *, store: StoreLike = None, path: str | None = None, **options: Any
) -> Array:
    """Make an array of a shape; options as for :func:`create_array`.

    Parameters
    ----------
    shape : int or sequence of int, optional
        Length of each dimension; that of ``data`` if not given.
    store : store-like, optional
        Where; in memory if not given.
    path : str, optional
        Path of the array in the store.
    **options
        Further arguments of :func:`create_array`.
    """
    if path is not None:
        options["name"] = path
    return create_array(store, shape=shape, **options)


def empty(shape: Shape, **options: Any) -> Array:
    """Make an array of nothing but the default fill value; options as for :func:`create_array`.

    Its elements are defined, unlike those of :func:`numpy.empty`.
    """
    return create(shape, **options)


def zeros(shape: Shape, **options: Any) -> Array:
    """Make an array of zeros; options as for :func:`create_array`."""
    return full(shape, 0, **options)


def ones(shape: Shape, **options: Any) -> Array:
    """Make an array of ones; options as for :func:`create_array`."""
    return full(shape, 1, **options)


def full(shape: Shape, fill_value: Any, **options: Any) -> Array:
    """Make an array of one value; options as for :func:`create_array`.

    The value is the array's fill value; no chunk is stored for it.
    """
    return create(shape, fill_value=fill_value, **options)


def empty_like(like: Any, **options: Any) -> Array:
    """Make an empty array with the shape, dtype and, of a Zarr array, chunks and codecs of another.

    Parameters
    ----------
    like : array-like
        The other array.
    **options
        Arguments of :func:`create_array`, which take precedence.  Another ``dtype``
        takes the default filters, serializer and fill value with it, other ``chunks`` mean no
        shards, another number of dimensions means chunks of its own.
    """
    options = in_present_words(options)
    return create(**{**_traits(like, options), **options})


def zeros_like(like: Any, **options: Any) -> Array:
    """Make an array of zeros like another; see :func:`empty_like`."""
    return full_like(like, 0, **options)


def ones_like(like: Any, **options: Any) -> Array:
    """Make an array of ones like another; see :func:`empty_like`."""
    return full_like(like, 1, **options)


def full_like(like: Any, fill_value: Any, **options: Any) -> Array:
    """Make an array of one value like another; see :func:`empty_like`."""
    return empty_like(like, **{**options, "fill_value": fill_value})


def save(store: StoreLike, *arrays: Any, **named: Any) -> None:
    """Store one array, or several in a group.

    Parameters
    ----------
    store : store-like
        Where to.  A node that is there already is left alone: the call fails.
    *arrays, **named : array-like
        What to store.  A single unnamed array becomes the node itself; of several,
        the unnamed ones are called ``arr_0``, ``arr_1``, ...  ``path`` may name the
        node in the store.

    Raises
    ------
    NodeExistsError
        If there is something already.
    """
    path = named.pop("path", None)
    if len(arrays) == 1 and not named:
        create_array(store, name=path, data=arrays[0])
        return
    if not arrays and not named:
        raise ValueError("nothing to save: give at least one array")
    group = create_group(store, path=path)
    for number, unnamed in enumerate(arrays):
        group.create_array(f"arr_{number}", data=unnamed)
    for name, value in named.items():
        group.create_array(name, data=value)


def save_array(store: StoreLike, values: Any, **options: Any) -> None:
    """Store one array; options as for :func:`create_array`.

    Raises
    ------
    NodeExistsError
        If there is something already.
    """
    create(None, store=store, data=values, **options)


def save_group(store: StoreLike, *arrays: Any, **named: Any) -> None:
    """Store arrays in a group, one as well as several; otherwise as :func:`save`."""
    named |= {f"arr_{number}": values for number, values in enumerate(arrays)}
    save(store, **named)


def group(store: StoreLike = None, *, overwrite: bool = False, **options: Any) -> Group:
    """Open a group, or make it if it is not there.

    Parameters
    ----------
    store : store-like
        Where; in memory if not given.
    overwrite : bool
        Whether it is made anew in place of what is there.
    **options
        Further arguments of :func:`open_group`.
    """
    return open_group(store, "w" if overwrite else "a", **options)


def tree(place: StoreLike, level: int | None = None, *, path: str | None = None) -> Tree:
    """The hierarchy below a group, to look at; as :meth:`Group.tree`."""
    return open_group(place, path=path).tree(level)


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


def _chunking(like: Array, shape: Any) -> dict[str, Any]:
    """Chunks and shards; where their lengths differ, as they would be had the array grown."""
    grid, length = like._binding.grid, np.size(shape)
    if like._binding.is_uniform or length != like.ndim:
        chunks = like.chunks if like._is_sharded else like.metadata.chunk_grid
        return {"chunks": chunks, "shards": like.shards}
    new = tuple(np.ravel(shape).tolist())
    resized = grid.resized(new)
    if like._is_sharded:
        return {"chunks": like.chunks, "shards": tuple(map(sizes_along, resized.axes(new)))}
    return {"chunks": like.metadata.chunk_grid if resized is grid else resized.to_definition()}


def _traits(like: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a new array has from another, unless the options say otherwise."""
    if not isinstance(like, Array):
        values = values_of(like)
        return {"shape": values.shape, "dtype": values.dtype}
    metadata = like.metadata
    traits: dict[str, Any] = {
        "shape": like.shape,
        "dtype": metadata.data_type,
        **_chunking(like, options.get("shape", like.shape)),
        "filters": like.filters,
        "serializer": like.serializer,
        "compressors": like.compressors,
        "fill_value": like._binding.fill_value,
        "chunk_key_encoding": metadata.chunk_key_encoding,
        "dimension_names": metadata.dimension_names,
        "extensions": like._extensions,
    }
    if "dtype" in options:  # what was chosen for the other dtype
        for name in ("fill_value", "filters", "serializer"):
            del traits[name]
    if "shape" in options and np.size(options["shape"]) != like.ndim:
        for name in ("chunks", "shards", "filters", "dimension_names"):
            traits.pop(name, None)
    if "chunks" in options and "shards" not in options:
        traits.pop("shards", None)
    return traits
