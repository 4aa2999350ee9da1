"""Stores under the class names of zarr-python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import zarr_core

from zarr_compat.core_store import CoreStore, wrap_core_store
from zarr_compat.foreign import ForeignStore
from zarr_compat.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, MutableMapping
    from typing import Literal

    from zarr_compat.store import ByteRequest

__all__ = [
    "DirectoryStore",
    "FSStore",
    "FsspecStore",
    "KVStore",
    "LocalStore",
    "MemoryStore",
    "NestedDirectoryStore",
    "ObjectStore",
    "StoreLike",
    "StorePath",
    "WrapperStore",
    "ZipStore",
    "wrap_store",
]


class MemoryStore(CoreStore):
    """Values in a dictionary, or in any mapping.

    Parameters
    ----------
    store_dict : mutable mapping, optional
        Bytes or buffers by key.
    read_only : bool
        Whether the store is read-only.
    """

    def __init__(
        self, store_dict: MutableMapping[str, Any] | None = None, *, read_only: bool = False
    ) -> None:
        values = {} if store_dict is None else store_dict
        for key, value in values.items():
            if hasattr(value, "to_bytes"):
                values[key] = value.to_bytes()
        super().__init__(
            zarr_core.MemoryStore(values, read_only),
            lambda read_only: zarr_core.MemoryStore(values, read_only),
        )


class LocalStore(CoreStore):
    """Values in files of a directory.

    Parameters
    ----------
    root : str or path
        The directory.
    read_only : bool
        Whether the store is read-only.
    """

    def __init__(self, root: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.root = Path(root)
        """The directory."""
        super().__init__(
            zarr_core.LocalStore(root, read_only=read_only),
            lambda read_only: zarr_core.LocalStore(root, read_only=read_only),
        )


class ZipStore(CoreStore):
    """Values in a zip archive; requires zarr-stores.

    Parameters
    ----------
    path : str or path
        The file.
    mode : {"r", "w", "a", "x"}
        As for :func:`open`.
    read_only : bool, optional
        Equivalent to mode ``"r"``.
    compression : int
        As for :class:`zipfile.ZipFile`.
    allowZip64 : bool
        Ignored: large archives are always allowed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        mode: Literal["r", "w", "a", "x"] = "r",
        read_only: bool | None = None,
        compression: int = 0,
        allowZip64: bool = True,  # noqa: N803 - its name
    ) -> None:
        self.path = Path(path)
        """The file."""
        url = f"zip://{self.path.absolute()}"

        def reopen(read_only: bool) -> zarr_core.Store:
            new_mode = "r" if read_only else "a"
            return zarr_core.resolve_store_path(url, storage_options={"mode": new_mode})[0]

        first_mode = "r" if read_only else mode
        options = {"mode": first_mode, "compression": compression}
        core, _ = zarr_core.resolve_store_path(
            url, storage_options=options, read_only=first_mode == "r"
        )
        super().__init__(core, reopen)


class FsspecStore(CoreStore):
    """Values in a file system of fsspec; requires zarr-stores.

    Parameters
    ----------
    fs : AbstractFileSystem
        The file system.
    read_only : bool
        Whether the store is read-only.
    path : str
        The directory.
    """

    def __init__(self, fs: Any, read_only: bool = False, path: str = "/", **_: Any) -> None:
        mapper = fs.get_mapper(path)
        super().__init__(
            zarr_core.resolve_store_path(mapper, read_only=read_only)[0],
            lambda read_only: zarr_core.resolve_store_path(mapper, read_only=read_only)[0],
        )

    @classmethod
    def from_url(
        cls,
        url: str | os.PathLike[str],
        storage_options: Mapping[str, Any] | None = None,
        read_only: bool = False,
        **_: Any,
    ) -> FsspecStore:
        """Return the store for a URL of fsspec."""
        text = os.fspath(url)
        name = text if "::" in text else f"fsspec+{text if '://' in text else f'file://{text}'}"
        options = dict(storage_options or {})

        def reopen(read_only: bool) -> zarr_core.Store:
            return zarr_core.resolve_store_path(name, read_only=read_only, storage_options=options)[
                0
            ]

        found = object.__new__(cls)
        CoreStore.__init__(found, reopen(read_only), reopen)
        return found

    @classmethod
    def from_mapper(cls, fs_map: Any, read_only: bool = False, **_: Any) -> FsspecStore:
        """Return the store for a mapping of fsspec."""
        return cls(fs_map.fs, read_only, fs_map.root)

    @classmethod
    def from_upath(cls, upath: Any, read_only: bool = False, **_: Any) -> FsspecStore:
        """Return the store for a path of universal_pathlib."""
        return cls(upath.fs, read_only, upath.path)


class ObjectStore(CoreStore):
    """Values in an object store of obstore; requires zarr-stores.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        The store.
    read_only : bool
        Whether the store is read-only.
    """

    def __init__(self, store: Any, *, read_only: bool = False) -> None:
        self.store = store
        """The store of obstore."""
        super().__init__(
            zarr_core.resolve_store_path(store, read_only=read_only)[0],
            lambda read_only: zarr_core.resolve_store_path(store, read_only=read_only)[0],
        )


class WrapperStore(Store):
    """A store that wraps another; programs derive their own stores from it.

    Parameters
    ----------
    store : Store
        The wrapped store.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(read_only=store.read_only)
        self._store = store

    @property
    def read_only(self) -> bool:
        return self._store.read_only

    async def get(
        self, key: str, prototype: Any = None, byte_range: ByteRequest | None = None
    ) -> Any:
        return await self._store.get(key, prototype, byte_range)

    async def exists(self, key: str) -> bool:
        return await self._store.exists(key)

    async def set(self, key: str, value: Any) -> None:
        await self._store.set(key, value)

    async def delete(self, key: str) -> None:
        await self._store.delete(key)

    async def list(self) -> AsyncIterator[str]:
        async for key in self._store.list():
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        async for key in self._store.list_prefix(prefix):
            yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        async for name in self._store.list_dir(prefix):
            yield name

    def close(self) -> None:
        self._store.close()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._store == other._store

    def __hash__(self) -> int:
        return hash((type(self), self._store))


class StorePath(NamedTuple):
    """A path in a store."""

    store: Any
    path: str = ""

    def __truediv__(self, other: str) -> StorePath:
        return StorePath(self.store, f"{self.path}/{other}".strip("/"))

    def __str__(self) -> str:
        return f"{getattr(self.store, 'url', self.store)}/{self.path}".rstrip("/")


# Names of version 2 for the same kinds of stores.
DirectoryStore = NestedDirectoryStore = LocalStore
KVStore = MemoryStore
FSStore = FsspecStore.from_url

StoreLike: TypeAlias = Store | StorePath | os.PathLike[str] | str | dict[str, Any]


def wrap_store(core: zarr_core.Store) -> Store:
    """Return the ``store`` of a node that was not opened from a store object."""
    if isinstance(core, ForeignStore):
        return core.store
    if isinstance(core, zarr_core.MemoryStore):
        return wrap_core_store(core, MemoryStore)
    if isinstance(core, zarr_core.LocalStore):
        return wrap_core_store(core, LocalStore, root=Path(core.path))
    return CoreStore(core)
