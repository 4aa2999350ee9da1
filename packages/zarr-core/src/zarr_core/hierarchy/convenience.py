"""Arrays of one value, arrays like others; saving and loading arrays in one call."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.errors import NodeExistsError, NodeNotFoundError, StoreReadOnlyError
from zarr_core.formats.detect import format_of_new
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.create import ARRAY_ARGUMENTS, create_array, create_group, like_options
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.open import open as open_node
from zarr_core.hierarchy.open import open_group
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.hierarchy.store_path import (
    NodeOptions,
    opened_store,
    refuse_misspelt,
)
from zarr_core.location import Location
from zarr_core.registry.scope import override_extensions
from zarr_core.threads import concurrent_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core.hierarchy.group import Group
    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.store import Store

    Shape = int | Sequence[int]

# Arguments of ``save_array`` that describe the location.
_LOCATION = {"path", "zarr_format", "overwrite", "storage_options"}


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


def save(
    store: StoreLike,
    *arrays: Any,
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
        called ``arr_0``, ``arr_1``, ...  ``path`` may be the path of the node in the store.
    overwrite : bool
        Whether an existing node is removed first, with everything below it.
    storage_options : mapping, optional
        Further arguments for the store of a URL.

    Raises
    ------
    NodeExistsError
        If a node exists already, and ``overwrite`` is false; or if the location has keys that
        belong to no node, such as other files in a directory.
    TypeError
        If ``overwrite`` or ``storage_options`` is an array, or an array has the name of an argument of
        :func:`create_array` or :func:`open`.
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
    options = _checked_options(overwrite, storage_options)
    if len(arrays) == 1 and not named.keys() - {"path"}:
        save_array(store, arrays[0], **options, **named)
    else:
        save_group(store, *arrays, **options, **named)


def _checked_options(overwrite: Any, storage_options: Any) -> dict[str, Any]:
    if not isinstance(overwrite, bool):
        raise TypeError("overwrite must be True or False; save no array under this name")
    if not isinstance(storage_options, Mapping | None):
        raise TypeError("storage_options must be a mapping; save no array under this name")
    return {"overwrite": overwrite, "storage_options": storage_options}


def _all_named(arrays: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Return all arrays by name; the unnamed ones are called as by :func:`numpy.savez`."""
    unnamed = {f"arr_{number}": values for number, values in enumerate(arrays)}
    if both := sorted(unnamed.keys() & named.keys()):
        raise ValueError(
            f"cannot save two arrays as {both[0]!r}: unnamed arrays are called arr_0, arr_1, ...; "
            "rename the keyword argument"
        )
    arguments = ARRAY_ARGUMENTS | signature(open_node).parameters.keys()
    if wrong := sorted(named.keys() & arguments):
        raise TypeError(
            f"{wrong[0]!r} is an argument of create_array and open, and cannot be the name of a saved "
            "array: for one array pass it to save_array, for several to create_group and "
            f"group.create_array, which also accepts {wrong[0]!r} as a name"
        )
    return unnamed | named


def _location(
    store: StoreLike,
    *,
    path: str | None = None,
    zarr_format: int | str | None = None,
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> tuple[StoreLike, dict[str, Any]]:
    """Resolve a location for new nodes, and check that it has no keys that belong to no node.

    Saving again with ``overwrite=True`` would remove them, or be refused.
    """
    named = NodeOptions(path, zarr_format, storage_options)
    place, below, zarr_format = named.resolve(store)
    of_parent = store.stored.format.name if isinstance(store, Node) else None
    format_ = format_of_new(place, below, zarr_format or of_parent)
    if place.supports_listing and (foreign := format_.unmanaged_key(place, below)) is not None:
        raise NodeExistsError(
            Location(place, below),
            f"has {foreign!r}, which is not part of a Zarr node; save to a path of its own",
        )
    options = {"zarr_format": zarr_format, "overwrite": overwrite}
    if isinstance(store, Node):
        return store, options | {"path": path}
    return place, options | {"path": below}


def save_array(store: StoreLike, values: Any, **options: Any) -> None:
    """Store one array; options as for :func:`create_array`, errors as for :func:`save`."""
    location = {name: options.pop(name) for name in _LOCATION & options.keys()}
    place, target = _location(store, **location)
    array = create_array(place, data=values, **target, **options)
    array.store.flush()  # of a zip file


def save_group(
    store: StoreLike,
    *arrays: Any,
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **named: Any,
) -> None:
    """Store arrays in a group, also a single one; otherwise as :func:`save`."""
    path = named.pop("path", None)
    location = _checked_options(overwrite, storage_options)
    members = _all_named(arrays, named)
    if not members:
        raise ValueError("nothing to save: pass at least one array")
    place, options = _location(store, path=path, **location)
    with Rollback() as rollback, rollback.nested():
        group = create_group(place, **options)
        for name, value in members.items():
            group.create_array(name, data=value)
        group.store.flush()


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
    try:
        return open_group(store, "w" if overwrite else "a", **options)
    except StoreReadOnlyError as error:
        if overwrite:
            raise
        try:
            return open_group(store, "r", **options)
        except NodeNotFoundError:
            raise error from None


def tree(
    store: StoreLike,
    level: int | None = None,
    *,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> object:
    """The hierarchy below a group, for display; as :meth:`Group.tree`.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> root = zarr.create_group("drawn.zarr")
    >>> _ = root.create_array("north/height", shape=(4, 5), dtype="int16")
    >>> zarr.tree("drawn.zarr")
    /
    └── north
        └── height (4, 5) int16
    """
    return open_group(store, path=path, storage_options=storage_options).tree(level)


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
    with opened_store(store, path, read_only=True, storage_options=storage_options) as opened:
        place, below = opened
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
    """Bytes of the values of some keys; keys that were removed meanwhile count as 0."""
    return sum(size or 0 for _, size in concurrent_map(keys, store.getsize, store.max_concurrency))
