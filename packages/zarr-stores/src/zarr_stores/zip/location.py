"""Locations of archives: paths, file objects, and values of other stores."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

from zarr_core.extension import ByteRange, Store, StoreError, check_key

from zarr_stores.zip.archive import TAIL, StreamWriter, Writer, open_file
from zarr_stores.zip.source import Descriptor, Source, Stream, Value

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["Location", "ValueLocation", "location_of"]


class Location(ABC):
    """Location of an archive."""

    path: str | None = None
    """Absolute path of the file; None if the archive is not a file."""

    max_concurrency: int | None = None
    """Maximum number of concurrent reads; None for a location without latency."""

    is_writable: bool = False
    """Whether the archive can be written."""

    @property
    @abstractmethod
    def url(self) -> str:
        """URL for messages; a file can be reopened with it."""

    @property
    @abstractmethod
    def identity(self) -> Hashable:
        """Equal for locations of the same archive."""

    @abstractmethod
    def open(self) -> Source | None:
        """Open the archive; return None if it does not exist."""

    def is_empty(self) -> bool:
        """Return whether the archive has no bytes, before the first value is written."""
        return False

    def open_writer(self, *, empty: bool, exclusive: bool) -> Writer:
        """Open the archive for writing."""
        raise StoreError("cannot be written", store=self.url)


class _FileLocation(Location):
    """Location of an archive in a file.

    Parameters
    ----------
    path : str or os.PathLike
        Path of the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.path.abspath(os.fspath(path))
        self.path = self._path
        self.is_writable = True

    @property
    def url(self) -> str:
        return f"zip://{quote(self._path)}"

    @property
    def identity(self) -> str:
        return os.path.realpath(self._path)

    def open(self) -> Source:
        return open_file(self._path)

    def is_empty(self) -> bool:
        return os.path.getsize(self._path) == 0

    def open_writer(self, *, empty: bool, exclusive: bool) -> Writer:
        if not empty:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
        return Writer(self._path, empty=empty, exclusive=exclusive)

    def __repr__(self) -> str:
        return repr(self._path)

    def __reduce__(self) -> tuple[type[_FileLocation], tuple[str]]:
        return _FileLocation, (self._path,)


class _StreamLocation(Location):
    """Location of an archive in a file object.

    Parameters
    ----------
    file : binary file object
        Seekable file object; it is not closed.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        answers = (getattr(file, name, bool)() for name in ("readable", "writable", "seekable"))
        self.is_writable = all(answers)

    @property
    def url(self) -> str:
        return f"zip://{type(self._file).__name__}@{id(self._file):#x}"

    @property
    def identity(self) -> Hashable:
        return _StreamLocation, id(self._file)

    def open(self) -> Source:
        file = self._file
        if not self.is_writable and isinstance(getattr(file, "raw", file), io.FileIO):
            # The descriptor can be read without the shared file position.
            return Descriptor(os.dup(file.fileno()))
        return Stream(file)

    def is_empty(self) -> bool:
        return self._file.seek(0, os.SEEK_END) == 0

    def open_writer(self, *, empty: bool, exclusive: bool) -> Writer:
        return StreamWriter(Stream(self._file), empty=empty, exclusive=exclusive)

    def __repr__(self) -> str:
        return repr(self._file)

    def __reduce__(self) -> str:
        raise StoreError(
            "a file object cannot be pickled; use ZipStore(path) or ZipStore.within(store, key)",
            store=self.url,
        )


class ValueLocation(Location):
    """Location of an archive in a value of another store.

    Parameters
    ----------
    store : Store
        The store; it is not closed.
    key : str
        The key.
    """

    def __init__(self, store: Store, key: str) -> None:
        if not isinstance(store, Store):
            raise StoreError(f"must be a store, not {type(store).__name__}", store=repr(store))
        self._store = store
        self._key = check_key(key)
        self.max_concurrency = store.max_concurrency

    @property
    def url(self) -> str:
        return f"zip::{self._store.url.rstrip('/')}/{self._key}"

    @property
    def identity(self) -> Hashable:
        return self._store, self._key

    def open(self) -> Source | None:
        reader = self._store.open_value(self._key, ByteRange(-TAIL))
        return None if reader is None else Value(reader)

    def __repr__(self) -> str:
        return f"{self._store!r}, {self._key!r}"

    def __reduce__(self) -> tuple[type[ValueLocation], tuple[Store, str]]:
        return ValueLocation, (self._store, self._key)


def location_of(given: str | os.PathLike[str] | BinaryIO | Location) -> Location:
    """Return the location of an archive."""
    if isinstance(given, Location):
        return given
    if isinstance(given, str | os.PathLike):
        return _FileLocation(given)
    if hasattr(given, "read") and hasattr(given, "seek"):
        return _StreamLocation(given)
    raise StoreError("must be a path or a binary file object", store=repr(given))
