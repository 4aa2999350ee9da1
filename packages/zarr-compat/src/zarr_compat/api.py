"""The module ``zarr``."""

from __future__ import annotations

import itertools
import os
import sys
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr_core.optional import optional_function

from zarr_compat.adapt import adapt
from zarr_compat.api_nodes import create_hierarchy
from zarr_compat.array import Array
from zarr_compat.asynchronous import AsyncArray, AsyncGroup
from zarr_compat.errors import ArrayNotFoundError, ZarrUserWarning
from zarr_compat.group import Group
from zarr_compat.open_nodes import (
    adapt_creation,
    create,
    create_array,
    create_group,
    open,
    open_array,
    open_consolidated,
    open_group,
)
from zarr_compat.settings import config

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Array",
    "AsyncArray",
    "AsyncGroup",
    "Group",
    "array",
    "config",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_group",
    "create_hierarchy",
    "empty",
    "empty_like",
    "from_array",
    "full",
    "full_like",
    "group",
    "load",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "open_like",
    "print_debug_info",
    "save",
    "save_array",
    "save_group",
    "tree",
    "zeros",
    "zeros_like",
]

# That of zarr-python, whose modules describe arrays.
__version__ = f"{version('zarr')}+zarr.core.{zarr_core.__version__}"

copy_store = adapt(zarr_core.copy_store)
empty = adapt_creation(zarr_core.empty)
empty_like = adapt_creation(zarr_core.empty_like)
full = adapt_creation(zarr_core.full)
full_like = adapt_creation(zarr_core.full_like)
ones = adapt_creation(zarr_core.ones)
ones_like = adapt_creation(zarr_core.ones_like)
zeros = adapt_creation(zarr_core.zeros)
zeros_like = adapt_creation(zarr_core.zeros_like)


def tree(group: Any, expand: bool | None = None, level: int | None = None) -> Any:
    """The hierarchy below a group, for display, as :meth:`Group.tree`."""
    node: Any = open_group(group, mode="r")
    return node.tree(expand=expand, level=level)


def array(data: Any, **options: Any) -> Array:
    """Create an array that contains ``data``, with its shape."""
    options.pop("shape", None)
    if isinstance(data, Array):
        return from_array(options.pop("store", None), data=data, **options)
    created: Array = adapt_creation(zarr_core.array)(data, **options)
    return created


def from_array(store: Any, *, data: Any, write_data: bool = True, **options: Any) -> Array:
    """Create an array with the elements, and by default the layout, of another array.

    Parameters
    ----------
    store : store-like
        Path, URL, mapping or store.
    data : Array or array-like
        The elements.
    write_data : bool
        Whether the elements are written.
    **options
        Further arguments of :func:`zarr_core.create_array`; ``"keep"`` is the value of ``data``.
    """
    kept = {key: value for key, value in options.items() if not _is_keep(value)}
    if not isinstance(data, Array):
        arguments = {"data": data, "store": store} if write_data else {"like": data, "store": store}
        created: Array = (create_array if write_data else empty_like)(**arguments, **kept)
        return created
    for name in ("chunks", "shards"):
        if isinstance(kept.get(name), str):  # "auto"
            kept.setdefault({"chunks": "shards", "shards": "chunks"}[name], None)
    if kept.get("zarr_format") is None:
        kept["zarr_format"] = data.core.zarr_format
    made: Array = empty_like(data, store=store, **kept)
    if write_data:
        for region in _stored_regions(made):
            made.core[region] = data.core[region]
    return made


def _stored_regions(array: Array) -> Iterator[tuple[slice, ...]]:
    """Yield the selections of the chunks, with shards of the shards."""
    axes = []
    for sizes in array.core.write_chunk_sizes:
        edges = [0, *itertools.accumulate(sizes)]
        axes.append([slice(*pair) for pair in itertools.pairwise(edges)])
    return itertools.product(*axes)


def open_like(a: Any, path: str, **options: Any) -> Array:
    """Open the array at a path, or create one like another array, with its codecs."""
    mode = options.pop("mode", None) or "a"
    if mode in ("r", "r+", "a"):
        try:
            opened: Array = open_array(path, mode="r" if mode == "r" else "r+", **options)
            return opened
        except ArrayNotFoundError:
            if mode != "a":
                raise
    created: Array = empty_like(a, store=path, overwrite=mode == "w", **options)
    return created


def load(store: Any, path: str | None = None, **options: Any) -> Any:
    """Read an array into memory; for a group, return a mapping that reads arrays when accessed."""
    node = open(store, mode="r", path=path, **options)
    return node[...] if isinstance(node, Array) else LazyArrays(node)


class LazyArrays(Mapping[str, Any]):
    """The arrays directly below a group, by name; each is read into memory at each access."""

    def __init__(self, group: Group) -> None:
        self._group = group

    def __getitem__(self, name: str) -> Any:
        member = self._group[name]
        if not isinstance(member, Array):
            raise KeyError(name)
        return member[...]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._group.core.arrays())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"LazyArrays({self._group!r}: {', '.join(self)})"


def print_debug_info() -> None:
    """Print the versions of Python, NumPy and this library."""
    print(f"zarr: {__version__}\nPython: {sys.version}\nnumpy: {np.__version__}")


def _is_keep(value: Any) -> bool:
    return isinstance(value, str) and value == "keep"


def save(store: Any, *args: Any, path: str | None = None, **kwargs: Any) -> None:
    """Store one array, or several in a group; see :func:`save_array` and :func:`save_group`."""
    if len(args) == 1 and not kwargs.keys() - _OPTIONS_OF_SAVE:
        save_array(store, args[0], path=path, **kwargs)
    else:
        save_group(store, *args, path=path, **kwargs)


def save_array(store: Any, arr: Any, **options: Any) -> None:
    """Store an array; see :func:`zarr_core.save`."""
    if not _is_array(arr):
        raise TypeError("arr argument must be numpy or other NDArrayLike array")
    overwrite = options.pop("mode", "a") == "w"
    if overwrite:
        options["overwrite"] = True
    create(None, store=store, data=arr, **options)


def save_group(
    store: Any,
    *args: Any,
    path: str | None = None,
    zarr_format: int | None = None,
    zarr_version: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Store arrays in a group, which replaces whatever exists at the location.

    Parameters
    ----------
    store : store-like
        Path, URL, mapping or store.
    *args : array
        Arrays with the names ``arr_0``, ``arr_1``, ...
    path : str, optional
        Path of the group in the store.
    zarr_format, zarr_version : {2, 3}, optional
        The format.
    storage_options : mapping, optional
        Options for a URL.
    **kwargs : array
        Arrays by name.

    Raises
    ------
    TypeError
        If an argument is not an array.
    ValueError
        If no array is passed, or two have the same name.
    """
    unnamed = {f"arr_{number}": array for number, array in enumerate(args)}
    arrays = {**unnamed, **kwargs}
    for name, value in arrays.items():
        if not _is_array(value):
            raise TypeError(
                f"{name!r} is not a NumPy array or another NDArrayLike: {type(value).__name__}. "
                "All arguments must be numpy or other NDArrayLike arrays (except store, path, "
                "storage_options, and zarr_format)"
            )
    if not arrays:
        raise ValueError("at least one array must be provided")
    if len(arrays) < len(unnamed) + len(kwargs):
        raise ValueError(
            f"two arrays have one name: {sorted(unnamed.keys() & kwargs.keys())}; unnamed arrays "
            "are called arr_0, arr_1, ..."
        )
    options = {} if storage_options is None else {"storage_options": storage_options}
    versions = {"zarr_format": zarr_format, "zarr_version": zarr_version}
    created = open_group(store, mode="w", path=path, **versions, **options)
    for name, value in arrays.items():
        created.create_array(name, data=value)
    if isinstance(store, str | os.PathLike):
        created.store.close()


def _is_array(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("dtype", "shape", "__getitem__"))


_OPTIONS_OF_SAVE = frozenset({"zarr_format", "zarr_version", "storage_options"})


def group(store: Any = None, *, overwrite: bool = False, **options: Any) -> Group:
    """Open a group, and create it if it does not exist."""
    opened: Group = open_group(store, mode="w" if overwrite else "a", **options)
    return opened


def consolidate_metadata(store: Any, path: str | None = None, zarr_format: Any = None) -> Group:
    """Consolidate the metadata of all nodes below a group."""
    opened: Group = open_group(
        store, mode="r+", path=path, zarr_format=zarr_format, use_consolidated=False
    )
    if opened.core.zarr_format == 3:
        warnings.warn(
            "Consolidated metadata is currently not part in the Zarr format 3 specification.",
            ZarrUserWarning,
            stacklevel=2,
        )
    result: Group = adapt(zarr_core.consolidate_metadata, opened.user_store)(opened)
    return result


def copy(source: Any, dest: Any, name: str | None = None, **options: Any) -> Any:
    """Copy an array or group; see :func:`zarr_core.copy`, whose ``dest_path`` is ``name``.

    ``source`` or ``dest`` can be an object of h5py, for which zarr-import is required.
    """
    function = optional_function("copy_hdf5") if _is_hdf5(source, dest) else zarr_core.copy
    return adapt(function)(source, dest, name, **options)


def copy_all(source: Any, dest: Any, **options: Any) -> Any:
    """Copy all members of a group; see :func:`zarr_core.copy_all`.

    ``source`` or ``dest`` can be an object of h5py, for which zarr-import is required.
    """
    function = optional_function("copy_all_hdf5") if _is_hdf5(source, dest) else zarr_core.copy_all
    return adapt(function)(source, dest, **options)


def _is_hdf5(*nodes: Any) -> bool:
    return any(base.__module__.startswith("h5py.") for node in nodes for base in type(node).__mro__)
