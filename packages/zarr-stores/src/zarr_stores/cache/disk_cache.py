"""A store that caches the values of another store on disk."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from zarr_core.extension import (
    ByteRange,
    Store,
    StoreError,
    ValueReplacedError,
    WrapperStore,
    check_key,
)

from zarr_stores.cache.caching_store import InvalidatingStore
from zarr_stores.cache.disk_directory import Directory
from zarr_stores.cache.disk_reader import CachedReader
from zarr_stores.cache.pool import validate_check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.extension import Buffer, ByteReader

    from zarr_stores.cache.disk_entry import Entry
    from zarr_stores.result_types import Values

__all__ = ["DiskCacheInfo", "DiskCacheStore"]

T = TypeVar("T")

_ATTEMPTS = 5
_WHOLE = ByteRange(0)


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


class Lookup(NamedTuple):
    """Result of looking up a key in the cache."""

    path: str
    """Path of the cache file, whether or not it exists."""
    changes: int
    """Change counter of the path before the lookup."""
    entry: Entry | None
    """The cache file, if it has the current generation."""
    size: int | None
    """Size of the value; None if the key is missing or the size is unknown."""


class DiskCacheStore(InvalidatingStore):
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
        are removed first.
    check : {"generation", "never"} or float
        When to compare the generation of a cached value with ``inner.generation``: at every open,
        which costs a small request; never, for data that does not change; or if the last
        comparison, by any process, is older than this number of seconds.
    block_bytes : int
        Length of the blocks in which values are read and cached.
    keep_missing : bool
        Whether to cache that a key is missing; it is checked as values are.
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
        keep_missing: bool = False,
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
        self._keep_missing = keep_missing
        self._name = name
        self._store_name = inner.url if name is None else name
        self._directory = Directory(self.path, max_bytes)
        self._compares_generations = False

    # --- the cache ---

    def cache_info(self) -> DiskCacheInfo:
        """Return the hits, misses, errors, size and maximum size of the cache."""
        it = self._directory
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
            self._directory.clear()
        except OSError as error:
            raise StoreError(f"the cache cannot be cleared: {error.strerror}", self.path) from error

    def _invalidate(self, key: str) -> None:
        try:
            self._directory.drop(self._directory.path_of(self._store_name, key))
        except NotADirectoryError:
            return
        except OSError as error:
            raise StoreError(
                f"cannot be removed from the cache in {self.path}: {error.strerror}", self, key
            ) from error

    def _path(self, key: str) -> str:
        return self._directory.path_of(self._store_name, check_key(key))

    def _entry(self, path: str) -> tuple[Entry | None, bool]:
        """Return the cache file at a path, and whether it can be used without a check."""
        directory = self._directory
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
        generation = self.inner.generation(key)
        if generation != (None if entry.size is None else entry.generation):
            self._invalidate(key)
            return None
        try:
            entry.used(now, validated=now)
        except OSError:
            self._directory.count(errors=1)
        return entry

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        value: Any = self.get_limited(key, sys.maxsize)
        return value if value is None else value.toreadonly()

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        found = self._look(key)
        size = found.size
        if size is not None:
            if size > limit:
                return size
            value = memoryview(bytearray(size)) if out is None else out[:size]
            if self._fill(found, 0, value):
                return value
        part = ByteRange(0, limit) if out is None and limit < sys.maxsize else _WHOLE
        return self._whole(key, found, lambda reader: reader.read_limited(limit, out), part)

    def _whole(
        self, key: str, found: Lookup, work: Callable[[ByteReader], T], first: ByteRange = _WHOLE
    ) -> T | None:
        """Read a value that is not completely cached; retry if it is replaced meanwhile."""
        for attempt in range(1, _ATTEMPTS + 1):
            reader = self._open(key, first, found)
            if reader is None:
                return None
            try:
                with reader:
                    return work(reader)
            except ValueReplacedError:
                if attempt == _ATTEMPTS:
                    raise
            found = self._look(key)
        raise AssertionError("the last attempt raises")

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        requested = list(key_ranges)
        for _ in range(_ATTEMPTS - 1):
            try:
                return Store.get_partial_values(self, requested)
            except ValueReplacedError:
                continue
        return Store.get_partial_values(self, requested)

    def _part(self, key: str, part: ByteRange) -> Buffer | None:
        found = self._look(key)
        if found.size is not None:
            start, stop = part.within(found.size)
            value = memoryview(bytearray(stop - start))
            if self._fill(found, start, value):
                return value.toreadonly()
        reader = self._open(key, part, found)
        if reader is None:
            return None
        with reader:
            start, stop = part.within(reader.size)
            return reader.read(start, stop - start)

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return self._open(key, first, self._look(key))

    def _look(self, key: str) -> Lookup:
        path = self._path(key)
        changes = self._directory.changes(path)
        entry = self._cached(key, path)
        return Lookup(path, changes, entry, None if entry is None else entry.size)

    def _fill(self, found: Lookup, start: int, buffer: memoryview) -> bool:
        """Fill a buffer with a part of a value; return whether it was completely cached."""
        assert found.entry is not None
        try:
            held = not found.entry.read(start, buffer)
        except OSError:
            self._directory.count(errors=1)
            return False
        if held:
            self._directory.count(hits=1)
        return held

    def _open(self, key: str, first: ByteRange | None, found: Lookup) -> ByteReader | None:
        directory = self._directory
        path, changes, entry, size = found
        inner: ByteReader | None = None
        started = time.time()
        if entry is None:
            changes = directory.changes(path)  # an outdated file was removed
            inner, generation = self._open_inner(key, self._in_blocks(first))
            size = None if inner is None else inner.size
            keeps = self._keep_missing if inner is None else generation is not None
            if keeps:
                try:
                    entry = directory.create(
                        path, generation or "", size, self._block_bytes, changes
                    )
                except OSError:
                    directory.count(errors=1)
            if entry is None or inner is None:
                directory.count(misses=1)
                return inner
        elif size is None:
            directory.count(hits=1)
            return None
        return CachedReader(self, directory, key, entry, (path, changes), inner, started)

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
        raise ValueReplacedError("the value was replaced while it was read", self, key)

    def exists(self, key: str) -> bool:
        entry, fresh = self._entry(self._path(key))
        return entry.size is not None if entry is not None and fresh else self.inner.exists(key)

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
        options = (self._check, self._block_bytes, self._keep_missing, self._name)
        return (self.inner, self.path, self._max_bytes, *options)
