"""What can be read of a zip archive, wherever its bytes are."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar
from zipfile import ZIP_STORED

from zarr_core.extension import (
    BufferReader,
    ByteRange,
    Store,
    StoreKeyError,
    StoreReadError,
    ValueReader,
    ValueReplacedError,
    check_key,
    check_prefix,
)

from zarr_stores.zip_archive import EXTRA, data_start, head, read_start, read_whole, span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from zarr_core.extension import Buffer

    from zarr_stores.zip_archive import Entry
    from zarr_stores.zip_source import Source

    Values = list[Buffer | None]

__all__ = ["ReadableZip", "check_name"]

T = TypeVar("T")

_NAME_LIMIT = 0xFFFF
_ATTEMPTS = 5


class ReadableZip(Store):
    """What can be read of an archive; subclasses say where it is."""

    @abstractmethod
    def _archive(self) -> tuple[Source | None, dict[str, Entry]]:
        """The archive with its entries; None while there is none."""

    @abstractmethod
    def _forget(self) -> None:
        """Open the archive anew when it is read next."""

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        def work(source: Source, entry: Entry) -> Buffer:
            near = source.near([span(key, entry)])
            return read_whole(near, data_start(near, entry), entry)

        return self._with(key, work)

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        def work(source: Source, entry: Entry) -> int:
            near = source.near([span(key, entry)])
            start = data_start(near, entry)
            read_start(near, start, entry, buffer[: entry.size])
            return entry.size

        return self._with(key, work)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        """Parts of values; headers and parts with a request each, where an archive is remote."""
        asked = [(key, ByteRange(*part)) for key, part in key_ranges]
        for key, _ in asked:
            check_name(key)
        source, entries = self._archive()
        if source is None or source.starts is None:
            return super().get_partial_values(asked)
        known = source.starts
        stored = {
            key: entry
            for key, _ in asked
            if (entry := entries.get(key)) is not None and entry.method == ZIP_STORED
        }
        new = [head(key, entry) for key, entry in stored.items() if entry.header not in known]
        starts = {}
        try:
            near = source.near(new)
            for key, entry in stored.items():
                with _naming(self, key):
                    starts[key] = data_start(near, entry)
            parts = [
                (starts[key] + first, stop - first)
                for key, part in asked
                if key in starts
                for first, stop in [part.within(stored[key].size)]
            ]
            near = source.near(parts)
            there = iter([near.read(start, length) for start, length in parts])
        except ValueReplacedError:
            self._forget()
            return super().get_partial_values(asked)
        return [
            next(there)
            if key in starts
            else super(ReadableZip, self).get_partial_values([(key, part)])[0]
            for key, part in asked
        ]

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        def work(source: Source, entry: Entry) -> ValueReader:
            if entry.method == ZIP_STORED:
                return _StoredReader(source, entry, self, key, first)
            return BufferReader(self.get(key) or b"")

        return self._with(key, work)

    def exists(self, key: str) -> bool:
        return self._entry(key) is not None

    def getsize(self, key: str) -> int | None:
        entry = self._entry(key)
        return None if entry is None else entry.size

    def version(self, key: str) -> str | None:
        entry = self._entry(key)
        return None if entry is None else entry.version

    def _entry(self, key: str) -> Entry | None:
        check_name(key)
        return self._archive()[1].get(key)

    def _with(self, key: str, work: Callable[[Source, Entry], T]) -> T | None:
        """Work with an entry, once more if the archive was replaced; None if it is missing."""
        check_name(key)
        for attempt in range(_ATTEMPTS):
            source, entries = self._archive()
            entry = entries.get(key)
            if entry is None or source is None:
                return None
            try:
                with _naming(self, key):
                    return work(source, entry)
            except ValueReplacedError:
                self._forget()
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt raises")

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        _, entries = self._archive()
        return (key for key in tuple(entries) if key.startswith(prefix))


class _StoredReader(ValueReader):
    """An uncompressed entry; its checksum cannot be checked in parts."""

    def __init__(
        self, source: Source, entry: Entry, store: ReadableZip, key: str, first: ByteRange | None
    ) -> None:
        known = source.starts
        if known is not None and (first is not None or entry.header not in known):
            header, length = head(key, entry)
            ranges = [] if entry.header in known else [(header, length)]
            if first is not None:
                # Where data begins is known but for what further fields the header has.
                begin, stop = first.within(entry.size)
                start = known.get(header, header + length - EXTRA)
                ranges.append((start + begin, stop - begin + EXTRA))
            source = source.near(ranges)
        self._source = source
        self._start = data_start(source, entry)
        self._size = entry.size
        self._store = store
        self._key = key
        self.requests = source.requests
        self.gap_bytes = source.gap_bytes
        self.version = entry.version

    @property
    def size(self) -> int:
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        with _naming(self._store, self._key):
            for start, buffer in parts:
                if start < 0 or start + len(buffer) > self._size:
                    raise StoreReadError(
                        f"bytes {start} to {start + len(buffer)} of a value of {self._size} bytes"
                    )
            try:
                self._source.fill_all([(self._start + start, buffer) for start, buffer in parts])
            except ValueReplacedError:
                self._store._forget()  # noqa: SLF001 - it made this reader
                raise


def check_name(key: str) -> None:
    """Refuse what is no key, or cannot be the name of an entry."""
    check_key(key)
    if key.isascii() and len(key) <= _NAME_LIMIT:
        return
    try:
        length = len(key.encode())
    except UnicodeEncodeError as error:
        raise StoreKeyError("cannot be encoded as UTF-8", key=ascii(key)) from error
    if length > _NAME_LIMIT:
        raise StoreKeyError("too long for the name of an entry", key=f"{key[:40]}...")


@contextmanager
def _naming(store: Store, key: str) -> Iterator[None]:
    """Add store and key to what goes wrong while an entry is read."""
    try:
        yield
    except StoreReadError as error:
        raise type(error)(error.reason, store, key) from error.__cause__
    except OSError as error:
        raise StoreReadError(f"cannot be read: {error.strerror}", store, key) from error
    except MemoryError as error:
        raise StoreReadError("there is no memory for a value of its size", store, key) from error
