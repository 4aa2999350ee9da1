"""Stores under the class names of zarr-python."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from uuid import uuid4
from weakref import WeakValueDictionary

import zarr_core
from zarr.core.buffer import default_buffer_prototype
from zarr_core.extension import strictjson
from zarr_core.registry.resolve import find_class

from zarr_compat.async_store import AsyncStore
from zarr_compat.core_store import CoreStore, in_thread, wrap_core_store
from zarr_compat.references import WritableReferences, is_reference_file_system
from zarr_compat.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping
    from typing import Literal

    from zarr_compat.store import ByteRequest

__all__ = [
    "FSStore",
    "FsspecStore",
    "LocalStore",
    "MemoryStore",
    "ObjectStore",
    "StoreLike",
    "StorePath",
    "ZipStore",
    "wrap_store",
]

_METADATA_NAMES = frozenset({"zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"})


class MemoryStore(CoreStore):
    """Values in a dictionary, or in any mapping.

    A pickled store leads to the same values within the process.  In another process, it is a
    read-only copy, because whatever is written to a copy would be lost.

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
        super().__init__(_Values(values, read_only), lambda read_only: _Values(values, read_only))

    @property
    def _store_dict(self) -> Any:
        """The values by key, which programs and tests look at."""
        core = self.core
        return (
            core.values
            if isinstance(core, _Values)
            else {key: core.get(key) for key in core.list()}
        )


class _Values(zarr_core.MemoryStore):
    """The store of the core behind :class:`MemoryStore`."""

    # A store of each mapping of this process, which holds the mapping.
    by_mapping: ClassVar[WeakValueDictionary[int, _Values]] = WeakValueDictionary()

    def __init__(self, mapping: MutableMapping[str, Any], read_only: bool) -> None:
        super().__init__(mapping, read_only)
        self.values = mapping
        self.by_mapping.setdefault(id(mapping), self)

    def set(self, key: str, value: Any) -> None:
        super().set(key, value)
        if key.rpartition("/")[2] in _METADATA_NAMES:
            self.values[key] = _Document(self.values[key])

    def __reduce__(self) -> tuple[Any, ...]:
        values = {key: bytes(value) for key, value in self.values.items()}
        return _values_of, (_this_process(), id(self.values), values, self.read_only)


class _Document(bytes):
    """A metadata document, with the method of zarr-python's buffers that programs call."""

    def to_bytes(self) -> bytes:
        """Return a copy of the class ``bytes``."""
        return bytes(self)


def _values_of(
    process: tuple[bytes, int], mapping: int, values: dict[str, bytes], read_only: bool
) -> zarr_core.Store:
    """Return an unpickled store."""
    if process != _this_process():
        return _Values(values, True)
    known = _Values.by_mapping.get(mapping)
    return _Values(values if known is None else known.values, read_only)


def _this_process() -> tuple[bytes, int]:
    """Return what distinguishes this process from others, also on other machines and after a fork."""
    return _PROCESS, os.getpid()


_PROCESS = uuid4().bytes


class LocalStore(CoreStore):
    """Values in files of a directory."""

    def __init__(self, root: str | os.PathLike[str], *, read_only: bool = False) -> None:
        if not isinstance(root, str | os.PathLike):
            raise TypeError(
                f"'root' must be a string or Path instance. Got an instance of {type(root)} instead."
            )
        self.root = Path(root)
        """The directory."""

        def reopen(read_only: bool) -> zarr_core.Store:
            if self.root.is_file():
                return _File(self.root, read_only)
            return zarr_core.LocalStore(root, read_only=read_only)

        super().__init__(reopen(read_only), reopen)

    async def move(self, dest_root: str | os.PathLike[str]) -> None:
        """Move the directory."""
        await in_thread(shutil.move, self.root, dest_root)
        type(self).__init__(self, dest_root, read_only=self.read_only)


class _File(zarr_core.MemoryStore):
    """A store without values, for a path that is a file as in zarr-python; writes raise an error."""

    def __init__(self, file: Path, read_only: bool) -> None:
        super().__init__({}, read_only)
        self._file = file

    @property
    def url(self) -> str:
        return self._file.absolute().as_uri()

    def set(self, key: str, value: Any) -> None:
        zarr_core.LocalStore(self._file).set(key, value)  # raises, unless the file was removed

    def __reduce__(self) -> tuple[Any, ...]:
        return _File, (self._file, self.read_only)


class ZipStore(CoreStore):
    """Values in a zip archive; requires zarr-stores.

    Parameters
    ----------
    path : str, path or binary file object
        The file; a file object is not closed, and no other store of it can be created.
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
        path: str | os.PathLike[str] | io.IOBase,
        *,
        mode: Literal["r", "w", "a", "x"] = "r",
        read_only: bool | None = None,
        compression: int = 0,
        allowZip64: bool = True,  # noqa: N803 - its name
    ) -> None:
        first_mode: Any = "r" if read_only else mode
        self.path: Any = path if isinstance(path, io.IOBase) else Path(path)
        """The file."""
        if isinstance(self.path, io.IOBase):
            zip_store = find_class("store", "zip")
            super().__init__(zip_store(self.path, first_mode, compression), None)
            return
        url = f"zip://{self.path.absolute()}"

        def reopen(read_only: bool) -> zarr_core.Store:
            new_mode = "r" if read_only else "a"
            return zarr_core.resolve_store_path(url, storage_options={"mode": new_mode})[0]

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
        self.fs = fs
        """The file system."""
        self.path = path
        mapper = fs.get_mapper(path)

        def reopen(read_only: bool) -> zarr_core.Store:
            store: zarr_core.Store = zarr_core.resolve_store_path(mapper, read_only=read_only)[0]
            if read_only or not is_reference_file_system(fs):
                return store
            prefix = mapper.root.strip("/")
            return WritableReferences(store, fs.references, f"{prefix}/" if prefix else "")

        super().__init__(reopen(read_only), reopen)

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the store for a URL, or for the arguments of the class."""
        return cls.from_url(*args, **kwargs) if "url" in kwargs else cls(*args, **kwargs)

    @classmethod
    def from_url(
        cls,
        url: str | os.PathLike[str],
        storage_options: Mapping[str, Any] | None = None,
        read_only: bool = False,
        **_: Any,
    ) -> FsspecStore:
        """Return the store for a URL of fsspec."""
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]  # optional, untyped

        text = os.fspath(url)
        is_local = "://" not in text or text.startswith("file://")
        name = text if "::" in text or is_local else f"fsspec+{text}"
        options = {} if is_local else dict(storage_options or {})

        def reopen(read_only: bool) -> zarr_core.Store:
            return zarr_core.resolve_store_path(name, read_only=read_only, storage_options=options)[
                0
            ]

        store = object.__new__(cls)
        CoreStore.__init__(store, reopen(read_only), reopen)
        fs, path = url_to_fs(text, **options)
        vars(store).update(fs=fs, path=path)
        return store

    @classmethod
    def from_mapper(cls, fs_map: Any, read_only: bool = False, **_: Any) -> FsspecStore:
        """Return the store for a mapping of fsspec."""
        return cls(fs_map.fs, read_only, fs_map.root)

    @classmethod
    def from_upath(cls, upath: Any, read_only: bool = False, **_: Any) -> FsspecStore:
        """Return the store for a path of universal_pathlib."""
        return cls(upath.fs, read_only, upath.path)


class ObjectStore(CoreStore):
    """Values in an object store of obstore; requires zarr-stores."""

    def __init__(self, store: Any, *, read_only: bool = False) -> None:
        self.store = store
        """The store of obstore."""
        super().__init__(
            zarr_core.resolve_store_path(store, read_only=read_only)[0],
            lambda read_only: zarr_core.resolve_store_path(store, read_only=read_only)[0],
        )


class StorePath:
    """A location: a store and a path in it."""

    def __init__(self, store: Any, path: str = "") -> None:
        self.store = store
        self.path = join_paths(path)

    @classmethod
    async def open(cls, store: Store, path: str, mode: str | None = None) -> StorePath:
        """Return a location for a mode.

        ``"w"`` removes all keys below the path, ``"r"`` opens the store for reading only.

        Raises
        ------
        ValueError
            If the mode is unknown, or not supported by the store.
        FileExistsError
            If the mode is ``"w-"`` and keys exist below the path.
        """
        if mode not in (None, "r", "r+", "a", "w", "w-"):
            raise ValueError(f"Invalid mode: {mode}, expected one of r, r+, a, w, w-")
        if store.read_only and mode not in (None, "r"):
            raise ValueError(
                f"Store is read-only but mode is {mode!r}. Create a writable store or use 'r' mode."
            )
        if mode == "r" and not store.read_only:
            try:
                store = store.with_read_only(True)
            except NotImplementedError as error:
                raise ValueError(
                    "Store is not read-only but mode is 'r'. Unable to create a read-only copy of "
                    "the store. Please use a read-only store or a storage class that implements "
                    ".with_read_only()."
                ) from error
        await store._ensure_open()  # noqa: SLF001 - of the same interface
        found = cls(store, path)
        if mode == "w-" and not await found.is_empty():
            raise FileExistsError(f"Path {found} is not empty and mode is 'w-'")
        if mode == "w":
            await found.delete_dir()
        return found

    @property
    def read_only(self) -> bool:
        """Whether the store is read-only."""
        return bool(self.store.read_only)

    async def get(self, prototype: Any = None, byte_range: ByteRequest | None = None) -> Any:
        """Read the value of the key."""
        classes = prototype or default_buffer_prototype()
        return await self.store.get(self.path, prototype=classes, byte_range=byte_range)

    async def set(self, value: Any) -> None:
        """Store the value of the key."""
        await self.store.set(self.path, value)

    async def set_if_not_exists(self, default: Any) -> None:
        """Store the value of the key if it does not exist."""
        await self.store.set_if_not_exists(self.path, default)

    async def delete(self) -> None:
        """Remove the key."""
        await self.store.delete(self.path)

    async def delete_dir(self) -> None:
        """Remove all keys below the path."""
        await self.store.delete_dir(self.path)

    async def get_json(self, *, byte_range: ByteRequest | None = None) -> Any:
        """Return the JSON document of the key, or None if it does not exist."""
        value = await self.get(byte_range=byte_range)
        return (
            None if value is None else strictjson.loads(value.to_bytes(), self.path, constants=True)
        )

    def get_sync(self, *, prototype: Any = None, byte_range: ByteRequest | None = None) -> Any:
        """Read the value of the key, without an event loop."""
        return _synchronous(self.store, "get_sync")(
            self.path, prototype=prototype, byte_range=byte_range
        )

    def set_sync(self, value: Any) -> None:
        """Store the value of the key, without an event loop."""
        _synchronous(self.store, "set_sync")(self.path, value)

    def delete_sync(self) -> None:
        """Remove the key, without an event loop."""
        _synchronous(self.store, "delete_sync")(self.path)

    async def exists(self) -> bool:
        """Return whether the key exists."""
        return bool(await self.store.exists(self.path))

    async def is_empty(self) -> bool:
        """Return whether no key is below the path."""
        return bool(await self.store.is_empty(self.path))

    def __truediv__(self, other: str) -> StorePath:
        return StorePath(self.store, join_paths(self.path, other))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorePath) and (self.store, self.path) == (other.store, other.path)

    def __hash__(self) -> int:
        return hash((self.store, self.path))

    def __str__(self) -> str:
        return f"{self.store}/{self.path}".rstrip("/")

    def __repr__(self) -> str:
        return f"StorePath({type(self.store).__name__}, {str(self)!r})"


def _synchronous(store: Any, name: str) -> Any:
    """Return a method of a store that needs no event loop."""
    if not hasattr(store, name):
        what = name.removesuffix("_sync")
        raise TypeError(f"Store {type(store).__name__} does not support synchronous {what}.")
    return getattr(store, name)


def join_paths(*paths: str) -> str:
    """Join paths, without slashes at both ends."""
    return "/".join(part.strip("/") for part in paths if part.strip("/"))


class FSStore(FsspecStore):
    """The store of zarr-python 2 for a URL of fsspec; see :meth:`FsspecStore.from_url`."""

    def __new__(cls, url: str | os.PathLike[str], **options: Any) -> Any:
        return cls.from_url(url, **options)

    def __init__(self, *_: Any, **__: Any) -> None:
        """Do nothing: ``from_url`` did it."""


StoreLike: TypeAlias = Store | StorePath | os.PathLike[str] | str | dict[str, Any]


def wrap_store(core: zarr_core.Store) -> Store:
    """Return the ``store`` of a node that was not opened from a store object."""
    if type(core) is AsyncStore:
        store: Store = core.store
        return store
    if isinstance(core, zarr_core.MemoryStore):
        return wrap_core_store(core, MemoryStore)
    if isinstance(core, zarr_core.LocalStore):
        return wrap_core_store(core, LocalStore, root=Path(core.path))
    return CoreStore(core)
