"""A store that keeps in memory what was read last from another one."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.extension import BufferReader, ByteRange, Store, StoreError, check_prefix

from zarr_stores._forked import in_children
from zarr_stores.cache_memory import Memory, Opened
from zarr_stores.cache_reader import HeldReader
from zarr_stores.changing import ChangeWatchingStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import Buffer, ValueReader

    from zarr_stores.wrapper import Listing, Values

__all__ = ["CacheInfo", "LRUCacheStore"]

_WHOLE = ByteRange(0)


class CacheInfo(NamedTuple):
    """What a cache has done so far."""

    hits: int
    """Reads of values that needed no other store."""
    misses: int
    """Reads of values that did."""
    nbytes: int
    """Bytes of values that it holds."""
    max_bytes: int | None
    """Bytes of values that it may hold; None for any number."""


class LRUCacheStore(ChangeWatchingStore):
    """Keeps values, parts of values and listings; forgets what was used longest ago.

    Parameters
    ----------
    inner : Store
        The store.
    max_bytes : int or None
        How many bytes of values to keep; None for any number.  What is larger than
        this is passed on and not kept.

    Notes
    -----
    What is written through this object is seen at once.  What others write is seen
    after one of the three ``invalidate`` methods; until then a read may give a value
    of before.  Missing keys are not remembered.

    Values are held once and given out as they lie, read-only.  A part is found again
    if it is asked for with the same beginning and length, or if its whole value is
    held.  All reads of an open value are of one version: where the inner store's readers
    know theirs, a value is opened there only for what is not held; where they do not, it
    always is, and parts that are held save the reads.

    Pickling and copying give an empty cache around the same store.

    Raises
    ------
    StoreError
        If ``max_bytes`` is negative.
    """

    def __init__(self, inner: Store, max_bytes: int | None) -> None:
        super().__init__(inner)
        if max_bytes is not None and max_bytes < 0:
            raise StoreError(f"max_bytes must not be negative: {max_bytes}", store=inner)
        self.in_memory = True
        self._max_bytes = max_bytes
        self._memory = Memory(max_bytes)
        self._listings: dict[tuple[str, str], Any] = {}
        self._listing_changes = 0
        self._guard = threading.Lock()
        in_children(self, LRUCacheStore._renew)

    def _renew(self) -> None:
        self._guard = threading.Lock()

    # --- the cache ---

    def cache_info(self) -> CacheInfo:
        """Hits, misses, bytes held, most bytes to hold."""
        memory = self._memory
        return CacheInfo(memory.hits, memory.misses, memory.nbytes, self._max_bytes)

    def invalidate(self) -> None:
        """Forget everything."""
        self.invalidate_values()
        self.invalidate_keys()

    def invalidate_values(self) -> None:
        """Forget all values."""
        self._memory.forget_all()

    def invalidate_keys(self) -> None:
        """Forget all listings."""
        with self._guard:
            self._listings.clear()
            self._listing_changes += 1

    def _changed(self, key: str) -> None:
        self._memory.forget(key)
        self.invalidate_keys()

    @contextmanager
    def _changing_below(self, *prefixes: str) -> Iterator[None]:
        try:
            yield
        finally:
            self.invalidate()

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        held = self._memory.use(key)
        if held is not None:
            return held
        change = self._memory.missed(key)
        value = self.inner.get(key)
        return None if value is None else self._memory.keep(key, _WHOLE, value, change)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        asked = list(key_ranges)
        find = self._memory.find
        values: Values = [find(key, part) for key, part in asked]
        if None not in values:
            return values
        gaps = [number for number, value in enumerate(values) if value is None]
        changes = [self._memory.changes(asked[number][0]) for number in gaps]
        read = self.inner.get_partial_values([asked[number] for number in gaps])
        for number, value, change in zip(gaps, read, changes, strict=True):
            if value is not None:
                values[number] = self._memory.keep(*asked[number], value, change)
        return values

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        return Store.get_into(self, key, buffer)

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        held = self._memory.use(key)
        if held is not None:
            return BufferReader(held)
        memory = self._memory
        change = memory.changes(key)
        known = memory.opened(key)
        if known is not None and known.version is not None:
            return HeldReader(self, memory, key, known, change, None)
        reader = self.inner.open_value(key, first)
        if reader is None:
            return None
        if isinstance(reader, BufferReader) and memory.fits(reader.size):  # it is here already
            return BufferReader(memory.keep(key, _WHOLE, reader.read(0, reader.size), change))
        known = Opened(reader.size, reader.version, reader.requests, reader.gap_bytes)
        memory.note_opened(key, known, change)
        return HeldReader(self, memory, key, known, change, reader)

    def exists(self, key: str) -> bool:
        return self._size(key) is not None or self.inner.exists(key)

    def getsize(self, key: str) -> int | None:
        size = self._size(key)
        return self.inner.getsize(key) if size is None else size

    def _size(self, key: str) -> int | None:
        held = self._memory.peek(key)
        if held is not None:
            return len(held)
        known = self._memory.opened(key)
        return None if known is None or known.version is None else known.size

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        found = self._listing("all", prefix, lambda: tuple(self.inner.list_prefix(prefix)))
        return iter(found)

    def list(self) -> Iterator[str]:
        return self.list_prefix("")

    def list_dir(self, prefix: str) -> Listing:
        keys, prefixes = self._listing("dir", prefix, lambda: self.inner.list_dir(prefix))
        return [*keys], [*prefixes]

    def _listing(self, kind: str, prefix: str, work: Any) -> Any:
        check_prefix(prefix)
        with self._guard:
            found = self._listings.get((kind, prefix))
            change = self._listing_changes
        if found is None:
            found = work()
            with self._guard:
                if change == self._listing_changes:
                    self._listings[kind, prefix] = found
        return found

    # --- the object ---

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self._max_bytes
