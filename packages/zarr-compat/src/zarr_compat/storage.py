"""Stores of zarr-python by their names, each in front of a store of the core."""

from __future__ import annotations

import os
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import zarr_core

from zarr_compat.foreign import ForeignStore
from zarr_compat.store import Store, cut
from zarr_compat.sync import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping
    from typing import Literal, Self

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
    "store_for",
]


class CoreStore(Store):
    """A store in front of one of the core.

    Parameters
    ----------
    core : zarr_core.Store
        The store.
    reopen : callable, optional
        Makes the store of the core for the same place, given whether it is read only.
    """

    def __init__(
        self, core: zarr_core.Store, reopen: Callable[[bool], zarr_core.Store] | None = None
    ) -> None:
        super().__init__(read_only=core.read_only)
        self.core = core
        """The store of the core."""
        self._reopen = reopen
        self.supports_writes = not core.read_only
        self.supports_deletes = core.supports_erasing
        self.supports_listing = core.supports_listing

    def with_read_only(self, read_only: bool = False) -> Self:
        if read_only == self.read_only:
            return self
        if self._reopen is None:
            return super().with_read_only(read_only)
        other = copy(self)
        CoreStore.__init__(other, self._reopen(read_only), self._reopen)
        return other

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    async def get(
        self, key: str, prototype: Any = None, byte_range: ByteRequest | None = None
    ) -> Any:
        value = await self._call(self.core.get, key)
        return None if value is None else cut(value, byte_range)

    async def exists(self, key: str) -> bool:
        return bool(await self._call(self.core.exists, key))

    async def getsize(self, key: str) -> int:
        size = await self._call(self.core.getsize, key)
        return await super().getsize(key) if size is None else int(size)

    async def set(self, key: str, value: Any) -> None:
        data = value.to_bytes() if hasattr(value, "to_bytes") else bytes(value)
        await self._call(self.core.set, key, data)

    async def delete(self, key: str) -> None:
        await self._call(self.core.erase, key)

    async def list(self) -> AsyncIterator[str]:
        for key in await self._call(sorted, self.core.list()):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        below = prefix[: prefix.rfind("/") + 1]
        for key in await self._call(sorted, self.core.list_prefix(below)):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        prefix = f"{prefix.rstrip('/')}/" if prefix else ""
        keys, prefixes = await self._call(self.core.list_dir, prefix)
        for name in sorted([*keys, *(item.rstrip("/") for item in prefixes)]):
            yield name.removeprefix(prefix)

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self.core.requests is None:
            return function(*arguments)
        return await in_thread(function, *arguments)

    def close(self) -> None:
        self.core.close()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreStore) and bool(self.core == other.core)

    def __hash__(self) -> int:
        return hash(self.core)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.core.url!r})"

    def __str__(self) -> str:
        return str(self.core)

    def __reduce__(self) -> tuple[Any, ...]:
        known = {name: vars(self)[name] for name in ("root", "path", "store") if name in vars(self)}
        return _unpickled, (self.core, type(self), known)


class MemoryStore(CoreStore):
    """Values in a dictionary, or in any mapping.

    Parameters
    ----------
    store_dict : mutable mapping, optional
        Where; bytes, or buffers, by key.
    read_only : bool
        Whether changes are refused.
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
        Whether changes are refused.
    """

    def __init__(self, root: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.root = Path(root)
        """The directory."""
        super().__init__(
            zarr_core.LocalStore(root, read_only=read_only),
            lambda read_only: zarr_core.LocalStore(root, read_only=read_only),
        )


class ZipStore(CoreStore):
    """Values in a zip archive; zarr-stores has it.

    Parameters
    ----------
    path : str or path
        The file.
    mode : {"r", "w", "a", "x"}
        As for files.
    read_only : bool, optional
        The same as mode ``"r"``.
    compression : int
        As for :class:`zipfile.ZipFile`.
    allowZip64 : bool
        Large archives are always allowed.
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
            how = "r" if read_only else "a"
            return zarr_core.locate(url, storage_options={"mode": how})[0]

        wanted = "r" if read_only else mode
        options = {"mode": wanted, "compression": compression}
        core, _ = zarr_core.locate(url, storage_options=options, read_only=wanted == "r")
        super().__init__(core, reopen)


class FsspecStore(CoreStore):
    """Values in a file system of fsspec; zarr-stores has it.

    Parameters
    ----------
    fs : AbstractFileSystem
        The file system.
    read_only : bool
        Whether changes are refused.
    path : str
        The directory.
    """

    def __init__(self, fs: Any, read_only: bool = False, path: str = "/", **_: Any) -> None:
        mapper = fs.get_mapper(path)
        super().__init__(
            zarr_core.locate(mapper, read_only=read_only)[0],
            lambda read_only: zarr_core.locate(mapper, read_only=read_only)[0],
        )

    @classmethod
    def from_url(
        cls,
        url: str | os.PathLike[str],
        storage_options: Mapping[str, Any] | None = None,
        read_only: bool = False,
        **_: Any,
    ) -> FsspecStore:
        """The store that a URL of fsspec leads to."""
        text = os.fspath(url)
        name = text if "::" in text else f"fsspec+{text if '://' in text else f'file://{text}'}"
        options = dict(storage_options or {})

        def reopen(read_only: bool) -> zarr_core.Store:
            return zarr_core.locate(name, read_only=read_only, storage_options=options)[0]

        found = object.__new__(cls)
        CoreStore.__init__(found, reopen(read_only), reopen)
        return found

    @classmethod
    def from_mapper(cls, fs_map: Any, read_only: bool = False, **_: Any) -> FsspecStore:
        """The store of a mapping of fsspec."""
        return cls(fs_map.fs, read_only, fs_map.root)

    @classmethod
    def from_upath(cls, upath: Any, read_only: bool = False, **_: Any) -> FsspecStore:
        """The store of a path of universal_pathlib."""
        return cls(upath.fs, read_only, upath.path)


class ObjectStore(CoreStore):
    """Values in an object store of obstore; zarr-stores has it.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        The store.
    read_only : bool
        Whether changes are refused.
    """

    def __init__(self, store: Any, *, read_only: bool = False) -> None:
        self.store = store
        """The store of obstore."""
        super().__init__(
            zarr_core.locate(store, read_only=read_only)[0],
            lambda read_only: zarr_core.locate(store, read_only=read_only)[0],
        )


class WrapperStore(Store):
    """A store in front of another, for those who derive theirs from it.

    Parameters
    ----------
    store : Store
        The other one.
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
        return f"{self.store}/{self.path}".rstrip("/")


# Names of version 2, of those that are the same place.
DirectoryStore = NestedDirectoryStore = LocalStore
KVStore = MemoryStore
FSStore = FsspecStore.from_url

StoreLike: TypeAlias = Store | StorePath | os.PathLike[str] | str | dict[str, Any]


def store_for(core: zarr_core.Store) -> Store:
    """What a program shall see as the store of a node that it opened by a path or the like."""
    if isinstance(core, ForeignStore):
        return core.store
    if isinstance(core, zarr_core.MemoryStore):
        return in_front_of(core, MemoryStore)
    if isinstance(core, zarr_core.LocalStore):
        return in_front_of(core, LocalStore, root=Path(core.path))
    return CoreStore(core)


def in_front_of(core: zarr_core.Store, kind: type[CoreStore], **attributes: Any) -> CoreStore:
    """A store of one of the classes here, in front of one of the core that is there already."""
    made = object.__new__(kind)
    CoreStore.__init__(made, core)
    vars(made).update(attributes)
    return made


def _unpickled(core: zarr_core.Store, kind: type[CoreStore], known: dict[str, Any]) -> CoreStore:
    return in_front_of(core, kind, **known)
