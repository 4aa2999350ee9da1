"""Arrays of one value, arrays like others; saving and loading arrays in one call."""

from __future__ import annotations

from contextlib import suppress
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.errors import NodeNotFoundError, StoreReadOnlyError
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.assigned_values import data_to_array
from zarr_core.hierarchy.create import ARRAY_ARGUMENTS, create_array
from zarr_core.hierarchy.group import create_group
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.open import open as open_node
from zarr_core.hierarchy.open import open_group
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.hierarchy.store_path import check_location, opened_store
from zarr_core.optional import check_names
from zarr_core.registry.overrides import override_extensions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.hierarchy.group import Group
    from zarr_core.hierarchy.store_path import StoreLike

    Shape = int | Sequence[int]

_ARGUMENTS = ARRAY_ARGUMENTS | signature(open_node).parameters.keys()


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


def empty_like(like: Any, **options: Any) -> Array:
    """Create an empty array with the shape and dtype of another; of a Zarr array, also its layout.

    Parameters
    ----------
    like : array-like
        The other array.
    **options
        Arguments of :func:`create_array`, which take precedence.  Another ``dtype`` implies its
        default filters, serializer and fill value; other ``chunks`` imply no shards; another
        number of dimensions implies default chunks.
    """
    with override_extensions(like.stored.extensions if isinstance(like, Array) else None):
        return create(**{**_like_options(like, options), **options})


def _like_options(like: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options that a new array takes from another, unless ``options`` contradict."""
    if not isinstance(like, Array):
        values = data_to_array(like)
        return {"shape": values.shape, "dtype": values.dtype}
    metadata = like.metadata
    defaults: dict[str, Any] = {
        "shape": like.shape,
        "dtype": metadata.data_type,
        "chunks": like.chunks if like.stored.is_sharded else metadata.chunk_grid,
        "shards": like.shards,
        "filters": like.stored.inner_codecs.array_to_array,
        "serializer": like.serializer,
        "compressors": like.stored.inner_codecs.bytes_to_bytes,
        "fill_value": like.stored.resolved.fill_value,
        "chunk_key_encoding": metadata.chunk_key_encoding,
        "dimension_names": metadata.dimension_names,
    }
    if options.get("zarr_format", like.zarr_format) != like.zarr_format:
        del defaults["chunk_key_encoding"]  # formats have different ones
    if "dtype" in options:  # they depend on the dtype
        for name in ("fill_value", "filters", "serializer"):
            del defaults[name]
    if "shape" in options and np.size(options["shape"]) != like.ndim:
        for name in ("chunks", "shards", "filters", "dimension_names"):
            defaults.pop(name, None)
    elif "shape" in options and not like.stored.resolved.is_uniform:
        del defaults["chunks"], defaults["shards"]
    if "chunks" in options and "shards" not in options:
        defaults.pop("shards", None)
    return defaults


def zeros_like(like: Any, **options: Any) -> Array:
    """Create an array of zeros like another; see :func:`empty_like`."""
    return full_like(like, 0, **options)


def ones_like(like: Any, **options: Any) -> Array:
    """Create an array of ones like another; see :func:`empty_like`."""
    return full_like(like, 1, **options)


def full_like(like: Any, fill_value: Any, **options: Any) -> Array:
    """Create an array of one value like another; see :func:`empty_like`."""
    return empty_like(like, **{**options, "fill_value": fill_value})


def save(
    store: StoreLike,
    *arrays: Any,
    path: str | None = None,
    zarr_format: int | str | None = None,
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **named: Any,
) -> None:
    """Store one array, or several in a group.

    Parameters
    ----------
    store : store-like
        Location of the new node.
    *arrays, **named : array-like
        A single unnamed array becomes the node itself.  If there are several, the unnamed ones are
        called ``arr_0``, ``arr_1``, ...
    path, zarr_format, overwrite, storage_options
        As for :func:`create_array`.

    Raises
    ------
    NodeExistsError
        If a node exists already, and ``overwrite`` is false.
    TypeError
        If an array has the name of an argument of :func:`create_array` or :func:`open`.
    ValueError
        If there is no array, or two have the same name.

    Notes
    -----
    If the call fails or is interrupted, everything that it has created is removed, or named in a
    note of the exception.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr_core as zarr
    >>> zarr.save("both.zarr", x=np.arange(3), y=np.ones(2))
    >>> zarr.load("both.zarr")["x"]
    array([0, 1, 2])
    """
    options: dict[str, Any] = {
        "path": path, "zarr_format": zarr_format, "overwrite": overwrite,
        "storage_options": storage_options,
    }  # fmt: skip
    if len(arrays) == 1 and not named:
        create_array(store, data=arrays[0], **options).store.close()  # a zip file is complete
        return
    members = {f"arr_{number}": values for number, values in enumerate(arrays)}
    if both := sorted(members.keys() & named.keys()):
        raise ValueError(
            f"cannot save two arrays as {both[0]!r}: unnamed arrays are called arr_0, arr_1, ...; "
            "rename the keyword argument"
        )
    members.update(named)
    if not members:
        raise ValueError("nothing to save: pass at least one array")
    if wrong := sorted(named.keys() & _ARGUMENTS):
        raise TypeError(
            f"{wrong[0]!r} is an argument of create_array and open, and cannot be the name of a saved "
            "array: for one array pass it to create_array, for several to create_group and "
            f"group.create_array, which also accepts {wrong[0]!r} as a name"
        )
    with Rollback() as rollback, rollback.nested():
        group = create_group(store, **options)
        for name, value in members.items():
            group.create_array(name, data=value)
        group.store.close()


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


def load(store: StoreLike, *, path: str | None = None, **options: Any) -> Any:
    """Read an array, or all arrays directly below a group, into memory.

    Options as for :func:`open`.

    Returns
    -------
    ndarray, or dict of str to ndarray

    Examples
    --------
    >>> import numpy as np
    >>> import zarr_core as zarr
    >>> zarr.save("one.zarr", np.arange(3))
    >>> zarr.load("one.zarr")
    array([0, 1, 2])
    """
    check_names(options, _ARGUMENTS - {"mode"})
    node: Array | Group = open_node(store, "r", path=path, **options)
    if isinstance(node, Array):
        return np.asarray(node[...])
    return {name: np.asarray(member[...]) for name, member in node.arrays()}


def getsize(
    store: StoreLike, path: str | None = None, *, storage_options: Mapping[str, Any] | None = None
) -> int:
    """Bytes of all values below a path: chunks, metadata and all other keys.

    :meth:`Array.nbytes_stored` counts only the chunks of an array.

    Parameters
    ----------
    store : store-like
        Location; an array or group for the node and everything below it.
    path : str, optional
        Path of a node, or a key.
    storage_options : mapping, optional
        Further arguments for the store of a URL.

    Raises
    ------
    NodeNotFoundError
        If there is no value at or below the path.  A store object may be empty.
    StoreCapabilityError
        If the store cannot list its keys.
    """
    with opened_store(store, path, read_only=True, storage_options=storage_options) as (
        opened,
        node_path,
    ):
        names, prefixes = [node_path] if node_path else [], [f"{node_path}/" if node_path else ""]
        if isinstance(store, Node) and node_path and not path:
            format_ = store.stored.format
            names, prefixes = [*format_.documents(node_path)], [*format_.prefixes(node_path)]
        sizes = {key: size for prefix in prefixes for key, size in opened.list_sizes(prefix)}
        sizes |= {key: size for key in names if (size := opened.getsize(key)) is not None}
        if not sizes and not isinstance(store, Node):
            check_location(store, opened, node_path, "nothing is stored here")
        return sum(sizes.values())
