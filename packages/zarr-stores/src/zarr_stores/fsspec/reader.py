"""Readers of values in fsspec file systems."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from zarr_core.extension import BufferByteReader, ByteReader, StoreReadError

from zarr_stores._partial_reader import read_from_file
from zarr_stores._reader_store import replaced
from zarr_stores.fsspec.calls import MISSING
from zarr_stores.fsspec.http import limited_bodies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import ByteRange

    from zarr_stores.fsspec.store import FsspecStore
    from zarr_stores.fsspec.traits import Traits


_WHOLE = 1 << 18  # bytes: smaller values are read as a whole
_MOST_UNKNOWN = 1 << 28  # bytes of a value of unknown length
_STRONG = ("ETag", "etag", "generation", "content_md5", "md5", "md5Hash", "checksum")
_WEAK = ("mtime", "modified", "LastModified", "last_modified", "updated", "created", "size")
_SMALL = 1 << 16  # bytes that are requested before the length is known


def open_range_reader(
    store: FsspecStore, key: str, path: str, traits: Traits, first: ByteRange | None
) -> ByteReader | None:
    """Open a value for reading ranges; a small value is read immediately."""
    if first is None and traits.concurrent and (head := _head(store, key, path)) is not None:
        return BufferByteReader(head)
    info = store.info(key)
    if info is None:
        return None
    size = info.get("size")
    if size is None or size <= _WHOLE:
        limit = _MOST_UNKNOWN if size is None else _WHOLE
        value = store.get_limited(key, limit)
        if isinstance(value, int):
            reason = f"the value has more than {limit} bytes, but the server declares {size}"
            raise StoreReadError(reason, store, key)
        return None if value is None else BufferByteReader(value)
    return RangeReader(store, key, info)


def _head(store: FsspecStore, key: str, path: str) -> bytes | None:
    """Read a small value with one request; None if it is large or the request fails."""
    try:
        with store.calls.reading(key, path) as fs, limited_bodies(_SMALL):
            data: bytes = fs.cat_file(path, start=0, end=_SMALL)
    except Exception:  # empty values have no range; other errors recur in the next request
        return None
    return data if len(data) < _SMALL else None


def open_file_reader(store: FsspecStore, key: str, path: str) -> ByteReader | None:
    """Open a file; the reader keeps its contents if the file is replaced."""
    try:
        with store.calls.reading(key) as fs:
            file = fs.open(path, "rb")
            file.seek(0, os.SEEK_END)
            return FileReader(store, key, file, file.tell())
    except MISSING:
        return None


class RangeReader(ByteReader):
    """Reader of ranges of a value; compares the generation after each batch."""

    gap_nbytes = 1 << 17

    def __init__(self, store: FsspecStore, key: str, info: Mapping[str, Any]) -> None:
        self._store = store
        self._key = key
        self.size = int(info["size"])
        self._marks = change_markers(info)
        self.generation = generation_of(info)
        self.max_concurrency = store.max_concurrency

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        wanted = [(start, buffer) for start, buffer in parts if len(buffer)]
        if not wanted:
            return
        store, key = self._store, self._key
        try:
            values = store.read_ranges(
                key, self.size, [(start, start + len(buffer)) for start, buffer in wanted]
            )
        except StoreReadError as error:
            if self._is_replaced():
                raise replaced(store, key) from error
            raise
        if self._is_replaced():
            raise replaced(store, key)
        for (_, buffer), value in zip(wanted, values, strict=True):
            if value is None:
                raise replaced(store, key)
            buffer[:] = value

    def _is_replaced(self) -> bool:
        info = self._store.info(self._key)
        return info is None or change_markers(info) != self._marks


class FileReader(ByteReader):
    """Reader of a value in an open file, which keeps its contents if it is replaced."""

    def __init__(self, store: FsspecStore, key: str, file: Any, size: int) -> None:
        self._store = store
        self._key = key
        self._file = file
        self.size = size
        self._guard = threading.Lock()

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        with self._guard, self._store.calls.wrap_errors(self._key):
            read_from_file(self._file, parts)

    def close(self) -> None:
        with self._guard, self._store.calls.wrap_errors(self._key):
            self._file.close()


def generation_of(info: Mapping[str, Any]) -> str | None:
    """Return a reliable generation of a file; None if there is none."""
    for name in _STRONG:
        if value := info.get(name):
            return str(value).strip('"')
    return None


def change_markers(info: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return values that change if a file is replaced, as far as known."""
    generation = generation_of(info)
    return (generation,) if generation else tuple(str(info.get(name)) for name in _WEAK)
