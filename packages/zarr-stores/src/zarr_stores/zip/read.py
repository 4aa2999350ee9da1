"""Read operations of zip stores, independent of the location of the archive."""

from __future__ import annotations

import threading
from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import ZIP_STORED, BadZipFile, ZipExtFile, ZipInfo

from zarr_core.extension import (
    BufferByteReader,
    ByteRange,
    ByteReader,
    Store,
    StoreKeyError,
    StoreReadError,
    ValueReplacedError,
    check_key,
    check_prefix,
)
from zarr_core.tools import encode_key, log

from zarr_stores.zip.archive import (
    EXTRA,
    data_start,
    entry_range,
    header_range,
    read_start,
    read_whole,
)
from zarr_stores.zip.methods import FAILURES
from zarr_stores.zip.source import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from zarr_core.extension import Buffer

    from zarr_stores.zip.archive import Entry
    from zarr_stores.zip.source import Source

    Values = list[Buffer | None]

__all__ = ["ReadableZip", "check_name"]

T = TypeVar("T")

_NAME_LIMIT = 0xFFFF
_ATTEMPTS = 5
_MAX_DECOMPRESSED = 1 << 26  # bytes of a compressed value that a reader holds


class ReadableZip(Store):
    """Base class with the read operations; subclasses provide the archive."""

    @abstractmethod
    def _archive(self) -> tuple[Source | None, dict[str, Entry]]:
        """Return the archive and its entries; None if the archive does not exist."""

    @abstractmethod
    def _forget(self) -> None:
        """Reopen the archive at the next read."""

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        def work(source: Source, entry: Entry) -> Buffer:
            near = source.near([entry_range(key, entry)])
            return read_whole(near, data_start(near, entry), entry)

        return self._with(key, work)

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        def work(source: Source, entry: Entry) -> Buffer | int:
            if entry.size > limit:
                return entry.size
            near = source.near([entry_range(key, entry)])
            start = data_start(near, entry)
            if out is None:
                return read_whole(near, start, entry)
            read_start(near, start, entry, out[: entry.size])
            return out[: entry.size]

        return self._with(key, work)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        """Return parts of values; a remote archive needs one request for headers, one for parts."""
        requested = [(key, ByteRange(*part)) for key, part in key_ranges]
        for key, _ in requested:
            check_name(key)
        source, entries = self._archive()
        if source is None or source.starts is None:
            return super().get_partial_values(requested)
        known = source.starts
        stored = {
            key: entry
            for key, _ in requested
            if (entry := entries.get(key)) is not None and entry.method == ZIP_STORED
        }
        new = [
            header_range(key, entry) for key, entry in stored.items() if entry.header not in known
        ]
        starts = {}
        try:
            near = source.near(new)
            for key, entry in stored.items():
                with _wrap_errors(self, key):
                    starts[key] = data_start(near, entry)
            parts = [
                (starts[key] + first, stop - first)
                for key, part in requested
                if key in starts
                for first, stop in [part.within(stored[key].size)]
            ]
            near = source.near(parts)
            there = iter([near.read(start, length) for start, length in parts])
        except ValueReplacedError:
            self._forget()
            return super().get_partial_values(requested)
        return [
            next(there)
            if key in starts
            else super(ReadableZip, self).get_partial_values([(key, part)])[0]
            for key, part in requested
        ]

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        def work(source: Source, entry: Entry) -> ByteReader:
            if entry.method == ZIP_STORED:
                return _StoredReader(source, entry, self, key, first)
            if entry.size > _MAX_DECOMPRESSED:
                return _CompressedReader(source, entry, self, key)
            return BufferByteReader(self.get(key) or b"")

        return self._with(key, work)

    def exists(self, key: str) -> bool:
        return self._entry(key) is not None

    def getsize(self, key: str) -> int | None:
        entry = self._entry(key)
        return None if entry is None else entry.size

    def generation(self, key: str) -> str | None:
        entry = self._entry(key)
        return None if entry is None else entry.generation

    def _entry(self, key: str) -> Entry | None:
        check_name(key)
        return self._archive()[1].get(key)

    def _with(self, key: str, work: Callable[[Source, Entry], T]) -> T | None:
        """Call ``work`` with an entry; retry if the archive was replaced; None if missing."""
        check_name(key)
        for attempt in range(_ATTEMPTS):
            source, entries = self._archive()
            entry = entries.get(key)
            if entry is None or source is None:
                return None
            try:
                with _wrap_errors(self, key):
                    return work(source, entry)
            except ValueReplacedError:
                self._forget()
                if attempt == _ATTEMPTS - 1:
                    raise
                log("retries", "%s was replaced while it was read; reading it again", self)
        raise AssertionError("the last attempt raises")

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        _, entries = self._archive()
        # list copies a dictionary in one step, tuple does not without the GIL.
        return (key for key in list(entries) if key.startswith(prefix))


class _StoredReader(ByteReader):
    """Reader of an uncompressed entry; parts cannot be checked by the checksum."""

    def __init__(
        self, source: Source, entry: Entry, store: ReadableZip, key: str, first: ByteRange | None
    ) -> None:
        known = source.starts
        if known is not None and (first is not None or entry.header not in known):
            header, length = header_range(key, entry)
            ranges = [] if entry.header in known else [(header, length)]
            if first is not None:
                # The start of the data is known except for the length of the extra fields.
                begin, stop = first.within(entry.size)
                start = known.get(header, header + length - EXTRA)
                ranges.append((start + begin, stop - begin + EXTRA))
            source = source.near(ranges)
        self._source = source
        self._start = data_start(source, entry)
        self.size = entry.size
        self._store = store
        self._key = key
        self.max_concurrency = source.max_concurrency
        self.gap_bytes = source.gap_bytes
        self.generation = entry.generation

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        with _wrap_errors(self._store, self._key):
            for start, buffer in parts:
                self.check_part(start, len(buffer))
            try:
                self._source.fill_all([(self._start + start, buffer) for start, buffer in parts])
            except ValueReplacedError:
                self._store._forget()  # noqa: SLF001 - the store created this reader
                raise


class _CompressedReader(ByteReader):
    """Reader of a large compressed entry, which is decompressed up to the parts that are read."""

    def __init__(self, source: Source, entry: Entry, store: ReadableZip, key: str) -> None:
        file: Any = SourceFile(source)
        file.seek(data_start(source, entry))
        info = ZipInfo(key)
        info.compress_type, info.CRC = entry.method, entry.checksum
        info.compress_size, info.file_size = entry.compressed_size, entry.size
        self._file: Any = ZipExtFile(file, "r", info)
        self._guard = threading.Lock()
        self.size = entry.size
        self._store = store
        self._key = key
        self.generation = entry.generation

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        with _wrap_errors(self._store, self._key), self._guard:
            for start, buffer in sorted(parts, key=lambda part: part[0]):
                self.check_part(start, len(buffer))
                try:
                    self._file.seek(start)
                    data = self._file.read(len(buffer))
                except (BadZipFile, *FAILURES) as error:
                    raise StoreReadError(f"damaged archive: {error}") from error
                if len(data) != len(buffer):
                    raise StoreReadError("damaged archive: the entry is shorter than its size")
                buffer[:] = data


def check_name(key: str) -> None:
    """Raise an error if a key is not valid, or cannot be the name of an entry."""
    check_key(key)
    if key.isascii() and len(key) <= _NAME_LIMIT:
        return
    if len(encode_key(key)) > _NAME_LIMIT:
        raise StoreKeyError("the key is too long for a zip archive", key=f"{key[:40]}...")


@contextmanager
def _wrap_errors(store: Store, key: str) -> Iterator[None]:
    """Add store and key to errors of reading an entry."""
    try:
        yield
    except StoreReadError as error:
        raise type(error)(error.reason, store, key) from error.__cause__
    except OSError as error:
        raise StoreReadError(f"cannot be read: {error.strerror}", store, key) from error
    except MemoryError as error:
        raise StoreReadError("not enough memory for the value", store, key) from error
