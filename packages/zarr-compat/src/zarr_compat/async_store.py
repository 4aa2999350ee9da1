"""The adapter of stores with the asynchronous interface of zarr-python to the core."""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr.abc.store import RangeByteRequest, Store
from zarr.core.buffer import cpu
from zarr.core.sync import sync
from zarr_core.extension import (
    BufferByteReader,
    ByteReader,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreReadOnlyError,
    StoreTraits,
    ValueReplacedError,
    ZarrError,
    check_key,
    check_prefix,
    key_lock,
)
from zarr_core.interfaces.store import to_bytes

from zarr_compat.store import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, Buffers, ByteRange, Change

    # The alias is defined here, because ``list`` is a method within the class.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]

__all__ = ["AsyncStore"]

REQUESTS = 32
_SMALL_VALUE = 1 << 18  # bytes; smaller values are read as a whole
PROTOTYPE = cpu.buffer_prototype
"""Buffers of zarr-python in NumPy arrays, independent of its settings."""


class AsyncStore(zarr_core.Store):
    """Keys and values in a store with asynchronous methods, or below a path in it.

    Parameters
    ----------
    store : object
        The wrapped store.
    path : str
        Path in the store below which the keys are.
    read_only : bool
        Whether changes raise an error, even if the store permits them.
    max_concurrency : int, optional
        Maximum number of concurrent requests; None for a store without latency.

    Notes
    -----
    ``close`` does not close the wrapped store.  ``update`` excludes other threads of this process
    that use the wrapped store, but not other processes: zarr-python has no locks.
    """

    def __init__(
        self,
        store: Any,
        path: str = "",
        read_only: bool = False,
        max_concurrency: int | None = REQUESTS,
    ) -> None:
        self.store = store
        """The wrapped store."""
        self._prefix = check_prefix(f"{path.strip('/')}/" if path.strip("/") else "")
        self.read_only = read_only or store.read_only
        self.supports_listing = store.supports_listing
        self.traits = StoreTraits(
            supports_erasing=store.supports_deletes,
            metadata_first=getattr(store, "metadata_first", self.traits.metadata_first),
            supports_consolidated_metadata=store.supports_consolidated_metadata,
        )
        self.max_concurrency = max_concurrency
        self._readers = _Readers()
        # Whether the store, or the one that a LoggingStore wraps, reads a value to get its length.
        while isinstance(inner := getattr(store, "_store", None), Store):
            store = inner
        self._getsize_reads = type(store).getsize is Store.getsize

    @property
    def url(self) -> str:
        return f"zarr-python://{type(self.store).__qualname__}/{id(self.store):#x}/{self._prefix}"

    # --- readable ---

    def get(self, key: str, part: Any = None) -> Buffer | None:
        value: Buffer | None = self._call(key, lambda: self._read(key, part))
        return value

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        # Ranges of a ManifestStore, which has no sizes, extend beyond a value into the next one.
        if self._getsize_reads:
            return super().get_limited(key, limit)
        try:
            value = self.get(key, RangeByteRequest(0, limit + 1))
        except StoreError:  # not every store has ranges beyond the end of a value
            return super().get_limited(key, limit)
        if value is None or len(value) <= limit:
            return value
        return max(len(value), self.getsize(key) or 0)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        requests = [*key_ranges]
        sizes = {key: self.getsize(key) for key in dict.fromkeys(key for key, _ in requests)}
        ranges = [
            None if (size := sizes[key]) is None else (key, *part.within(size))
            for key, part in requests
        ]
        values = iter(self.get_ranges([item for item in ranges if item is not None]))
        return [None if item is None else next(values) for item in ranges]

    def get_ranges(self, ranges: list[tuple[str, int, int]]) -> Values:
        """Return byte ranges of values, each given by key, start and stop, read concurrently.

        The values of a store that refuses or ignores byte ranges are read as a whole.
        """

        async def read(key: str, start: int, stop: int) -> Buffer | None:
            if start >= stop:
                return b""
            part = await self._read(key, RangeByteRequest(start, stop))
            if part is not None and len(part) != stop - start:
                raise ValueError(f"read {len(part)} bytes instead of {stop - start}")
            return part

        parts: Values | None = None
        try:
            parts = self._call(ranges[0][0], lambda: self._gather(read, ranges)) if ranges else []
        except StoreError as error:
            if not isinstance(error.__cause__, NotImplementedError | TypeError | ValueError):
                raise
        if parts is not None:
            return parts
        values = {key: self.get(key) for key in {key for key, *_ in ranges}}
        return [(v := values[key]) and memoryview(v)[start:stop] for key, start, stop in ranges]

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        size = self.getsize(key)
        if size is None:
            return None
        if size > _SMALL_VALUE and self.max_concurrency is not None:
            reader = _RangeReader(self, key, size)
            self._readers.add(key, reader)
            return reader
        value = self.get(key)
        return None if value is None else BufferByteReader(value)

    def exists(self, key: str) -> bool:
        return bool(self._call(key, lambda: self._exists(self._name(key))))

    def getsize(self, key: str) -> int | None:
        name = self._name(key)
        if self._getsize_reads:
            return super().getsize(key)

        async def work() -> Any:
            # getsize of some stores does not report a missing key.
            return await self.store.getsize(name) if await self._exists(name) else None

        try:
            size: int | None = self._call(key, work)
        except StoreCapabilityError:
            return super().getsize(key)
        return size

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        name = self._name(key)
        self._require_writable(key)
        data = PROTOTYPE.buffer.from_bytes(to_bytes(value))
        with self._readers.invalidating(key):
            self._call(key, lambda: self.store.set(name, data), StoreError)

    def update(self, key: str, change: Change) -> None:
        self._name(key)
        self._require_writable(key)
        with key_lock(self.url, key):
            self._update_unlocked(key, change)

    def erase(self, key: str) -> None:
        name = self._name(key)
        self._require_writable(key)
        # The local store of zarr-python would remove a directory of that name.
        if not self.exists(key):
            return
        if not self.traits.supports_erasing:
            raise StoreCapabilityError("the store does not support erasing", self, key)
        with self._readers.invalidating(key):
            self._call(key, lambda: self.store.delete(name), StoreError)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        try:
            names = self._collect(prefix, lambda: self.store.list_prefix(self._prefix + prefix))
        except StoreCapabilityError:
            keys, prefixes = self.list_dir(prefix)
            return chain(keys, *map(self.list_prefix, prefixes))
        cut = len(self._prefix)
        return (
            name[cut:]
            for name in names
            if name.startswith(self._prefix + prefix) and _is_key(name[cut:])
        )

    def list_dir(self, prefix: str) -> Listing:
        """List keys and prefixes directly below a prefix.

        Stores of zarr-python do not tell keys from prefixes, so the existence of each is checked.
        """
        check_prefix(prefix)
        start = self._prefix + prefix
        try:
            names = self._collect(prefix, lambda: self.store.list_dir(start.rstrip("/")))
        except StoreCapabilityError:
            keys = self._collect(prefix, lambda: self.store.list_prefix(start))
            names = [key[len(start) :].partition("/")[0] for key in keys if key.startswith(start)]
        # Some stores list a name twice, or prefixes with slashes.
        below = dict.fromkeys(prefix + name.strip("/") for name in names)

        async def look(key: str) -> tuple[str, bool, bool]:
            name = self._prefix + key
            is_key = await self._exists(name)
            return key, is_key, not is_key or not await self._is_empty(f"{name}/")

        requests = [(key,) for key in below if _is_key(key)]
        kinds = self._call(prefix, lambda: self._gather(look, requests))
        keys = [key for key, is_key, _ in kinds if is_key]
        return keys, [f"{key}/" for key, _, is_prefix in kinds if is_prefix]

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AsyncStore):
            return NotImplemented
        if self._prefix != other._prefix or type(self.store) is not type(other.store):
            return False
        return bool(self.store == other.store)

    def __hash__(self) -> int:
        return hash((type(self.store), self._prefix))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self  # copies refer to the same location

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.store, self._prefix, self.read_only, self.max_concurrency)

    # --- helpers ---

    def _name(self, key: str) -> str:
        return self._prefix + check_key(key)

    def _require_writable(self, key: str) -> None:
        if self.read_only or self.store.read_only:
            raise StoreReadOnlyError("the store is read-only", store=self, key=key)

    def _call(
        self,
        key: str,
        work: Callable[[], Coroutine[Any, Any, Any]],
        kind: type[StoreError] = StoreReadError,
    ) -> Any:
        """Return the result of a method of the store; errors contain the store and the key."""
        try:
            return sync(work())
        except ZarrError:
            raise
        except Exception as error:  # a store may raise anything
            if kind is StoreReadError and self._is_missing(error):
                return None
            if isinstance(error, UnicodeError):
                raise StoreKeyError(
                    f"the store does not support the key: {error}", self, ascii(key)
                ) from error
            if isinstance(error, NotImplementedError):
                raise StoreCapabilityError(
                    f"the store does not implement it: {error}", self, key
                ) from error
            verb = "read from" if kind is StoreReadError else "change"
            text = f"cannot {verb} the store: {type(error).__name__}: {error}"
            raise kind(text, store=self, key=key) from error

    async def _gather(
        self, function: Callable[..., Coroutine[Any, Any, Any]], requests: Iterable[tuple[Any, ...]]
    ) -> list[Any]:
        """Call a coroutine function with each tuple of arguments, concurrently."""
        import asyncio  # slow to import

        free = asyncio.Semaphore(self.max_concurrency or 1)

        async def call(arguments: tuple[Any, ...]) -> Any:
            async with free:
                return await function(*arguments)

        return await asyncio.gather(*map(call, requests))

    async def _read(self, key: str, part: Any) -> Buffer | None:
        """Read a value, or a byte range of it."""
        name = self._name(key)
        buffer = await self.store.get(name, PROTOTYPE, byte_range=part)
        return None if buffer is None else _bytes_of(buffer)

    async def _exists(self, name: str) -> bool:
        try:
            return bool(await self.store.exists(name))
        except NotImplementedError:  # zarr-python reads arrays and groups without this method
            try:
                return await self.store.get(name, PROTOTYPE) is not None
            except (LookupError, ValueError):  # the name is a prefix, not a key
                return False
        except Exception as error:  # a store may raise anything
            if not self._is_missing(error):
                raise
            return False

    async def _is_empty(self, prefix: str) -> bool:
        try:
            if type(self.store).is_empty is not Store.is_empty:
                return bool(await self.store.is_empty(prefix))
            async for _ in listed(self.store.list_prefix(prefix)):
                return False
        except NotImplementedError:
            pass
        return True

    def _is_missing(self, error: Exception) -> bool:
        """Return whether an error means that the key is missing."""
        return False

    def _collect(self, prefix: str, listing: Callable[[], Any]) -> list[str]:
        async def work() -> list[str]:
            return [name async for name in listed(listing())]

        names: list[str] = self._call(prefix, work)
        return names


def _is_key(name: str) -> bool:
    try:
        return bool(check_key(name))
    except StoreKeyError:
        return False


def _bytes_of(buffer: Any) -> memoryview:
    """Return a buffer of zarr-python as bytes, without a copy if it is contiguous."""
    array = np.ascontiguousarray(buffer.as_numpy_array())
    return array.reshape(-1).view(np.uint8).data.toreadonly()


class _RangeReader(ByteReader):
    """Reader of byte ranges of a value, which fails after the value is replaced.

    Stores of zarr-python have no generations.
    """

    def __init__(self, store: AsyncStore, key: str, size: int) -> None:
        self._store = store
        self._key = key
        self.size = size
        self.max_concurrency = store.max_concurrency
        self.replaced = False
        """Whether the store has written to the key since the reader was opened."""

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        ranges = [(self._key, start, start + len(buffer)) for start, buffer in parts]
        values = self._store.get_ranges(ranges)
        for (start, buffer), value in zip(parts, values, strict=True):
            if self.replaced or value is None:
                raise ValueReplacedError(
                    "the value was replaced while it was read", self._store, self._key
                )
            if len(value) != len(buffer):
                raise StoreReadError(
                    f"read {len(value)} of {len(buffer)} bytes at offset {start}",
                    self._store,
                    self._key,
                )
            buffer[:] = memoryview(value)


class _Readers:
    """Open readers of a store, which are invalidated when their value is written."""

    def __init__(self) -> None:
        self._open: defaultdict[str, weakref.WeakSet[_RangeReader]] = defaultdict(weakref.WeakSet)
        self._guard = threading.Lock()

    def add(self, key: str, reader: _RangeReader) -> None:
        """Add a new reader of a key."""
        with self._guard:
            self._open[key].add(reader)

    @contextmanager
    def invalidating(self, key: str) -> Iterator[None]:
        """Invalidate all readers of a key that are opened before or during a write."""
        self._invalidate(key)
        try:
            yield
        finally:
            self._invalidate(key)

    def _invalidate(self, key: str) -> None:
        with self._guard:
            for reader in self._open.pop(key, ()):
                reader.replaced = True
