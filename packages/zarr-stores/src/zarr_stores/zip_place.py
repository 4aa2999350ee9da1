"""Where an archive is: a path, a file object, a key of another store."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

from zarr_core.extension import ByteRange, Store, StoreError, check_key

from zarr_stores.zip_archive import TAIL, open_file
from zarr_stores.zip_source import Descriptor, Source, Stream, Value

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["FilePlace", "Place", "StreamPlace", "ValuePlace", "place_of"]


class Place(ABC):
    """Where an archive is."""

    path: str | None = None
    """Absolute path of the file; None if it is not one."""

    requests: int | None = None
    """How many reads to keep in flight; None for a place without latency."""

    @property
    @abstractmethod
    def url(self) -> str:
        """For messages, and to open it again if it is a file."""

    @property
    @abstractmethod
    def identity(self) -> Hashable:
        """The same for what is the same archive."""

    @abstractmethod
    def open(self) -> Source | None:
        """The bytes of the archive; None if there is none."""


class FilePlace(Place):
    """A file.

    Parameters
    ----------
    path : str or os.PathLike
        Its path.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.path.abspath(os.fspath(path))
        self.path = self._path

    @property
    def url(self) -> str:
        return f"zip://{quote(self._path)}"

    @property
    def identity(self) -> str:
        return os.path.realpath(self._path)

    def open(self) -> Source:
        return open_file(self._path)

    def __repr__(self) -> str:
        return repr(self._path)

    def __reduce__(self) -> tuple[type[FilePlace], tuple[str]]:
        return FilePlace, (self._path,)


class StreamPlace(Place):
    """A file object.

    Parameters
    ----------
    file : binary file object
        One that can be read and sought; it is left open.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    @property
    def url(self) -> str:
        return f"zip://{type(self._file).__name__}@{id(self._file):#x}"

    @property
    def identity(self) -> Hashable:
        return StreamPlace, id(self._file)

    def open(self) -> Source:
        file = self._file
        if isinstance(getattr(file, "raw", file), io.FileIO):
            # A file of the operating system, which needs no position.
            return Descriptor(os.dup(file.fileno()))
        return Stream(file)

    def __repr__(self) -> str:
        return repr(self._file)

    def __reduce__(self) -> str:
        raise StoreError(
            "a file object cannot be pickled; use ZipStore(path) or ZipStore.within(store, key)",
            store=self.url,
        )


class ValuePlace(Place):
    """A value of another store.

    Parameters
    ----------
    store : Store
        The store; it is left open.
    key : str
        The key.
    """

    def __init__(self, store: Store, key: str) -> None:
        if not isinstance(store, Store):
            raise StoreError(f"a {type(store).__name__} is no store", store=repr(store))
        self._store = store
        self._key = check_key(key)
        self.requests = store.requests

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

    def __reduce__(self) -> tuple[type[ValuePlace], tuple[Store, str]]:
        return ValuePlace, (self._store, self._key)


def place_of(given: str | os.PathLike[str] | BinaryIO | Place) -> Place:
    """The place that a user means."""
    if isinstance(given, Place):
        return given
    if isinstance(given, str | os.PathLike):
        return FilePlace(given)
    if hasattr(given, "read") and hasattr(given, "seek"):
        return StreamPlace(given)
    raise StoreError("neither a path nor a binary file object", store=repr(given))
