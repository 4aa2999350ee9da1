"""A store that caches the values of another store on disk."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from zarr_core.extension import (
    ByteRange,
    ByteReader,
    StoreError,
    WrapperStore,
    check_key,
)

from zarr_stores._reader_store import ReaderStore, replaced
from zarr_stores.cache.caching_store import InvalidatingStore
from zarr_stores.cache.disk_files import Directory
from zarr_stores.cache.pool import validate_check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.extension import Store

    from zarr_stores.cache.disk_files import Entry

__all__ = ["DiskCacheInfo", "DiskCacheStore"]

_ATTEMPTS = 5


class DiskCacheInfo(NamedTuple):
    """Statistics of a cache on disk."""

    hits: int
    """Number of reads answered from the cache."""
    misses: int
    """Number of reads that required the inner store."""
    errors: int
    """Number of failed cache operations: full disk, missing permission."""
    nbytes: int
    """Size of all files of the cache in bytes, including those of other processes."""
    max_bytes: int | None
    """Maximum size of the files in bytes; None for no limit."""


class DiskCacheStore(ReaderStore, InvalidatingStore):
    """A persistent cache of values, and of blocks of values, in a directory.

    Parameters
    ----------
    inner : Store
        The store.
    path : str or os.PathLike
        Directory of the cache, which must not be used for anything else.  Several processes
        and caches of several stores can share it.
    max_bytes : int or None
        Maximum size of the files in bytes; None for no limit.  The least recently used files
        are removed first.  Each further process may exceed it by a 32nd.
    check : {"generation", "never"} or float
        When to compare the generation of a cached value with ``inner.generation``: at every open,
        which costs a small request; never, for data that does not change; or if the last
        comparison, by any process, is older than this number of seconds.
    block_bytes : int
        Length of the blocks in which values are read and cached.
    name : str, optional
        Name of the store in the cache; by default its URL.  Pass a name if the URL is
        ambiguous, for example if it does not contain the server.

    Notes
    -----
    Changes made through this object are visible immediately.  Changes made by others are
    visible after the next comparison of generations.  Blocks have checksums: blocks damaged by
    a crash or a disk error are read again from the inner store.  If the cache cannot be read
    or written, values are read from the inner store and no error is raised.  File names are
    digests and do not reveal keys or URLs.  Only the user has access to the files.  Listings
    are not cached.

    With ``check="generation"`` the inner store should return generations without reading values.
    If it does not, as stores in memory, each value is read twice.

    Raises
    ------
    StoreError
        If an argument is not valid.
    """

    def __init__(
        self,
        inner: Store,
        path: str | os.PathLike[str],
        max_bytes: int | None,
        check: Literal["generation", "never"] | float = "generation",
        block_bytes: int = 1 << 16,
        name: str | None = None,
    ) -> None:
        super().__init__(inner)
        if max_bytes is not None and max_bytes < 0:
            raise StoreError(f"max_bytes must not be negative: {max_bytes}", store=inner)
        if block_bytes < 1 or block_bytes >= 1 << 32:
            raise StoreError(
                f"block_bytes must be from 1 to 2**32 - 1, not {block_bytes}", store=inner
            )
        validate_check(check, inner)
        self.in_memory = False
        self.path = os.path.abspath(os.fspath(path))
        """Absolute path of the directory."""
        self._max_bytes = max_bytes
        self._check = check
        self._block_bytes = block_bytes
        self._name = name
        self._store_name = inner.url if name is None else name
        self.directory = Directory(self.path, max_bytes)
        self._compares_generations = False

    # --- the cache ---

    def cache_info(self) -> DiskCacheInfo:
        """Return the hits, misses, errors, size and maximum size of the cache."""
        it = self.directory
        try:
            nbytes = it.nbytes()
        except OSError:
            nbytes = 0
        return DiskCacheInfo(it.hits, it.misses, it.errors, nbytes, self._max_bytes)

    def clear(self) -> None:
        """Remove all values of all stores from the cache.

        Raises
        ------
        StoreError
            If a file cannot be removed.
        """
        try:
            self.directory.clear()
        except OSError as error:
            raise StoreError(f"the cache cannot be cleared: {error.strerror}", self.path) from error

    def _invalidate(self, key: str) -> None:
        try:
            self.directory.drop(self.directory.path_of(self._store_name, key))
        except NotADirectoryError:
            return
        except OSError as error:
            raise StoreError(
                f"cannot be removed from the cache in {self.path}: {error.strerror}", self, key
            ) from error

    def _path(self, key: str) -> str:
        return self.directory.path_of(self._store_name, check_key(key))

    def _entry(self, path: str) -> tuple[Entry | None, bool]:
        """Return the cache file at a path, and whether it can be used without a check."""
        directory = self.directory
        try:
            entry = directory.find(path)
            if entry is None:
                return None, False
            now = time.time()
            fresh = self._check == "never" or (
                not isinstance(self._check, str) and 0 <= now - entry.validated < self._check
            )
            if fresh:
                entry.used(now)
        except OSError:
            directory.count(errors=1)
            return None, False
        return entry, fresh

    def _cached(self, key: str, path: str) -> Entry | None:
        """Return the cache file of a key if it has the current generation."""
        entry, fresh = self._entry(path)
        if entry is None or fresh:
            return entry
        now = time.time()
        if self.inner.generation(key) != entry.generation:
            self._invalidate(key)
            return None
        try:
            entry.used(now, validated=now)
        except OSError:
            self.directory.count(errors=1)
        return entry

    # --- readable ---

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        directory, path = self.directory, self._path(key)
        changes = directory.changes(path)
        entry = self._cached(key, path)
        inner: ByteReader | None = None
        started = 0.0
        if entry is None:
            started = time.time()
            changes = directory.changes(path)  # an outdated file was removed
            inner, generation = self._open_inner(key, self._in_blocks(first))
            if inner is not None and generation is not None:
                try:
                    entry = directory.create(
                        path, generation, inner.size, self._block_bytes, changes
                    )
                except OSError:
                    directory.count(errors=1)
            if entry is None:
                directory.count(misses=1)
                return inner
        return _CachedReader(self, key, entry, (path, changes), inner, started)

    def _in_blocks(self, first: ByteRange | None) -> ByteRange | None:
        """Return the range of whole blocks that contains a range of the value."""
        if first is None:
            return None
        step = self._block_bytes
        start, length = first
        if start < 0:
            return ByteRange(start - step, None if length is None else length + 2 * step)
        begin = start // step * step
        return ByteRange(
            begin, None if length is None else -(-(start + length) // step) * step - begin
        )

    def _open_inner(
        self, key: str, first: ByteRange | None
    ) -> tuple[ByteReader | None, str | None]:
        """Open a value of the inner store; return the reader and its generation.

        The generation is None if the value changes at every attempt.
        """
        for _ in range(_ATTEMPTS):
            before = self.inner.generation(key) if self._compares_generations else None
            reader = self.inner.open_value(key, first)
            if reader is None:
                return None, None
            if reader.generation is not None or self._check == "never":
                return reader, reader.generation or ""
            if before is not None and before == self.inner.generation(key):
                return reader, before
            # The readers have no generation: use it if it is the same before and after opening.
            self._compares_generations = True
            reader.close()
        return self.inner.open_value(key, first), None

    def reopen(self, key: str, entry: Entry, first: ByteRange) -> ByteReader:
        """Open a value of the inner store to read blocks that are not cached.

        Raises
        ------
        ValueReplacedError
            If the value no longer has the generation of the cached blocks.
        """
        reader = self.inner.open_value(key, first)
        if reader is not None:
            generation = reader.generation
            if generation is None and self._check != "never":
                generation = self.inner.generation(key)
            unknown = self._check == "never" and (generation is None or not entry.generation)
            if reader.size == entry.size and (unknown or generation == entry.generation):
                return reader
            reader.close()
        self._invalidate(key)
        raise replaced(self, key)

    def exists(self, key: str) -> bool:
        entry, fresh = self._entry(self._path(key))
        return (entry is not None and fresh) or self.inner.exists(key)

    def getsize(self, key: str) -> int | None:
        entry, fresh = self._entry(self._path(key))
        return entry.size if entry is not None and fresh else self.inner.getsize(key)

    list_sizes = WrapperStore.list_sizes  # not cached

    # --- changes ---

    @contextmanager
    def _invalidate_below(self, prefix: str) -> Iterator[None]:
        """Invalidate the keys below a prefix, before and after a change.

        The keys are listed from the inner store, because file names do not reveal them.  If
        generations are compared at every open, nothing needs to be done.
        """
        requested = self._check != "generation"
        below = list(self._below(prefix)) if requested else []
        try:
            yield
        finally:
            if requested and not self.supports_listing:
                self.clear()
            for key in chain(below, self._below(prefix) if requested else ()):
                self._invalidate(key)

    def _below(self, prefix: str) -> Iterator[str]:
        return iter(self.inner.list_prefix(prefix) if self.supports_listing else ())

    # --- the object ---

    def _arguments(self) -> tuple[Any, ...]:
        options = (self._check, self._block_bytes, self._name)
        return (self.inner, self.path, self._max_bytes, *options)


class _CachedReader(ByteReader):
    """Reader of one generation of a value, some blocks of which are cached.

    The value is opened in the inner store only if a block is not cached.
    """

    def __init__(
        self,
        store: DiskCacheStore,
        key: str,
        entry: Entry,
        state: tuple[str, int],
        inner: ByteReader | None,
        opened: float,
    ) -> None:
        self._store = store
        self._key = key
        self._inner = inner
        self._guard = threading.Lock()
        self._entry = entry
        self.size = entry.size
        self._state = state
        self._validated = opened
        self.generation = entry.generation or None
        self.max_concurrency = store.max_concurrency
        self._directory = store.directory
        if inner is not None:
            self._directory.gap_nbytes = inner.gap_nbytes
        self.gap_nbytes = self._directory.gap_nbytes

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        missing = [
            (start, buffer, run) for start, buffer in parts for run in self._read(start, buffer)
        ]
        if not missing:
            self._directory.count(hits=len(parts))
            return
        incomplete = len({id(buffer) for _, buffer, _ in missing})
        self._directory.count(hits=len(parts) - incomplete, misses=incomplete)
        self._fetch(missing)

    def _read(self, start: int, buffer: memoryview) -> list[tuple[int, int]]:
        try:
            return self._entry.read(start, buffer)
        except OSError:
            self._directory.count(errors=1)
            step = self._entry.block_bytes
            return [(start // step, -(-(start + len(buffer)) // step))]

    def _fetch(self, missing: Sequence[tuple[int, memoryview, tuple[int, int]]]) -> None:
        """Read runs of blocks from the inner store and cache them."""
        begin, end = self._entry.bounds(*missing[0][2])
        with self._guard:
            if self._inner is None:
                self._inner = self._reopen(ByteRange(begin, end - begin))
            inner = self._inner
        fetched = []
        for start, buffer, run in missing:
            begin, end = self._entry.bounds(*run)
            inside = start <= begin and end <= start + len(buffer)
            memory = (
                buffer[begin - start : end - start]
                if inside
                else memoryview(bytearray(end - begin))
            )
            fetched.append((begin, memory))
        inner.read_into(fetched)
        for (start, buffer, run), (begin, memory) in zip(missing, fetched, strict=True):
            low, high = max(start, begin), min(start + len(buffer), begin + len(memory))
            if high - low != len(memory):
                buffer[low - start : high - start] = memory[low - begin : high - begin]
            self._keep(run[0], memory)

    def _keep(self, first: int, memory: memoryview) -> None:
        try:
            # Counted before the write, so that old files are removed first.
            self._directory.add(len(memory))
            self._entry.write(first, memory)
            self._entry.used(time.time(), validated=self._validated)
        except OSError:
            self._directory.count(errors=1)

    def _reopen(self, first: ByteRange) -> ByteReader:
        path, changes = self._state
        if self._directory.changes(path) != changes:
            raise replaced(self._store, self._key)
        self._validated = time.time()
        inner: ByteReader = self._store.reopen(self._key, self._entry, first)
        self.gap_nbytes = self._directory.gap_nbytes = inner.gap_nbytes
        return inner

    def close(self) -> None:
        with self._guard:
            inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()
