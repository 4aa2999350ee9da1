"""Names of ``zarr.storage`` of zarr-python 2, which the module ``zarr`` also has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import zarr_core

from zarr_compat.adapt import resolve_store
from zarr_compat.core_store import CoreStore
from zarr_compat.open_nodes import create, create_group
from zarr_compat.storage import LocalStore, MemoryStore, ZipStore, join_paths
from zarr_compat.store import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DBMStore",
    "DirectoryStore",
    "KVStore",
    "LMDBStore",
    "NestedDirectoryStore",
    "SQLiteStore",
    "ZipStore",
    "array_meta_key",
    "attrs_key",
    "contains_array",
    "contains_group",
    "group_meta_key",
    "init_array",
    "init_group",
]

array_meta_key = ".zarray"
group_meta_key = ".zgroup"
attrs_key = ".zattrs"


class _Mapping:
    """Values by key, as the stores of version 2 have them."""

    core: zarr_core.Store

    def __getitem__(self, key: str) -> bytes:
        value = self.core.get(key)
        if value is None:
            raise KeyError(key)
        return bytes(value)

    def __setitem__(self, key: str, value: Any) -> None:
        self.core.set(key, to_bytes(value))

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self.core.erase(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and bool(self.core.exists(key))

    def __iter__(self) -> Iterator[str]:
        return iter(self.core.list())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def keys(self) -> list[str]:
        """Return all keys."""
        return list(self)


class KVStore(_Mapping, MemoryStore):
    """Values of a mapping."""


class DirectoryStore(_Mapping, LocalStore):
    """Values in files of a directory."""

    def __init__(self, path: str | os.PathLike[str], **_: Any) -> None:
        super().__init__(path)
        self.path = str(path)
        """The directory."""


class NestedDirectoryStore(DirectoryStore):
    """Values in files of a directory; arrays have the separator that they are created with."""


class _DatabaseStore(_Mapping, CoreStore):
    """Values in a database file; requires zarr-stores.

    Parameters
    ----------
    path : str or path
        The file.
    **options
        Options of the store of zarr-stores.
    """

    scheme = ""

    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        self.path = str(path)
        """The file."""
        url = f"{self.scheme}://{os.path.abspath(path)}"

        def reopen(read_only: bool) -> zarr_core.Store:
            return zarr_core.resolve_store_path(
                url, read_only=read_only, storage_options=options or None
            )[0]

        super().__init__(reopen(False), reopen)


class DBMStore(_DatabaseStore):
    """Values in a file of :mod:`dbm`."""

    scheme = "dbm"


class LMDBStore(_DatabaseStore):
    """Values in a database of LMDB."""

    scheme = "lmdb"


class SQLiteStore(_DatabaseStore):
    """Values in a database of SQLite."""

    scheme = "sqlite"


def init_array(
    store: Any, shape: Any, chunks: Any = True, dtype: Any = None, **options: Any
) -> None:
    """Create an array of version 2 in a store.

    Parameters
    ----------
    store : store-like
        Path, mapping or store.
    shape, chunks, dtype
        As for :func:`zarr_core.create`.
    **options
        Further arguments of ``zarr.create``, such as ``path`` and ``overwrite``.
    """
    arguments = {} if dtype is None else {"dtype": dtype}
    chunking = {} if chunks is True else {"chunks": chunks}
    create(shape, store=store, zarr_format=2, **chunking, **arguments, **options)


def init_group(
    store: Any, overwrite: bool = False, path: str | None = None, chunk_store: Any = None
) -> None:
    """Create a group of version 2 in a store.

    Parameters
    ----------
    store : store-like
        Path, mapping or store.
    overwrite : bool
        Whether an existing node is replaced.
    path : str, optional
        Path of the group.
    chunk_store : None
        Another store for chunks is not supported.
    """
    create_group(store, path=path, overwrite=overwrite, zarr_format=2, chunk_store=chunk_store)


def contains_array(store: Any, path: str | None = None) -> bool:
    """Return whether a path has an array."""
    return _kind_at(store, path) is zarr_core.Array


def contains_group(store: Any, path: str | None = None, explicit_only: bool = True) -> bool:
    """Return whether a path has a group."""
    return _kind_at(store, path) is zarr_core.Group


def _kind_at(store: Any, path: str | None) -> type[Any] | None:
    location, below, _ = resolve_store(store, join_paths(path or ""))
    try:
        node = zarr_core.open(location, "r", path=below)
    except zarr_core.errors.NodeNotFoundError:
        return None
    return zarr_core.Array if isinstance(node, zarr_core.Array) else zarr_core.Group
