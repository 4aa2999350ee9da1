"""A store that keeps on disk what was read from a slower one."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from zarr_core.extension import ByteRange, Store, StoreError, ValueReplacedError, check_key

from zarr_stores.changing import ChangeWatchingStore
from zarr_stores.disk_cache_directory import Directory
from zarr_stores.disk_cache_reader import CachedReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.extension import Buffer, ValueReader

    from zarr_stores.disk_cache_entry import Entry
    from zarr_stores.wrapper import Values

__all__ = ["DiskCacheInfo", "DiskCacheStore"]

T = TypeVar("T")

_ATTEMPTS = 5
_WHOLE = ByteRange(0)


class DiskCacheInfo(NamedTuple):
    """What a cache has done through this object, and what it holds."""

    hits: int
    """Reads that needed no value of the other store."""
    misses: int
    """Reads that did."""
    errors: int
    """How often something could not be kept: a full disk, missing permission."""
    nbytes: int
    """Bytes that the files of the cache take, whoever made them."""
    max_bytes: int | None
    """Bytes that they may take; None for any number."""


class Found(NamedTuple):
    """What is cached of a key."""

    path: str
    """Of the file that there is, or would be."""
    changes: int
    """Those of the path, before it was looked at."""
    entry: Entry | None
    """The file, if it is of the present version."""
    size: int | None
    """Of the value; None if there is none, or that is not known."""


class DiskCacheStore(ChangeWatchingStore):
    """Keeps values, and blocks of values, in a directory that outlives the process.

    Parameters
    ----------
    inner : Store
        The store.
    path : str or os.PathLike
        The directory, for the cache alone; several processes, and caches of several
        stores, may share it.
    max_bytes : int or None
        Bytes that the files may take; None for any number.  What was used last stays.
    check : {"version", "never"} or float
        When to ask whether a value is still the same: whenever it is opened, by
        ``inner.version`` (a request, but a small one); never, for what does not change;
        or if it was not asked for so many seconds, by anybody.
    block_bytes : int
        Parts of values are kept, therefore read, in blocks of this length.
    keep_missing : bool
        Whether to keep that a key has no value, too, which is compared as values are.
    name : str, optional
        What the store is called in the cache; its URL if not given.  Give one if the
        URL does not say everything, such as which server it leads to.

    Notes
    -----
    What is written through this object is seen at once.  Where nobody asks, what others
    write is not.  Blocks have checksums: what a crash or a bad disk has left is read
    anew.  A cache that cannot be written to, or read, keeps nothing and is no error.
    File names are digests: neither keys nor URLs stand in them.  Only the user has access.
    Listings are always the inner store's.

    With ``check="version"`` the inner store should know versions without reading values;
    one that does not, such as one in memory, has each value read twice.

    Raises
    ------
    StoreError
        If an argument makes no sense.
    """

    def __init__(
        self,
        inner: Store,
        path: str | os.PathLike[str],
        max_bytes: int | None,
        check: Literal["version", "never"] | float = "version",
        block_bytes: int = 1 << 16,
        keep_missing: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(inner)
        if max_bytes is not None and max_bytes < 0:
            raise StoreError(f"max_bytes must not be negative: {max_bytes}", store=inner)
        if block_bytes < 1 or block_bytes >= 1 << 32:
            raise StoreError(f"no length of a block: {block_bytes}", store=inner)
        if check not in ("version", "never") and (isinstance(check, str) or not check >= 0):
            raise StoreError(
                f'check must be "version", "never" or a number of seconds, not {check!r}', inner
            )
        self.in_memory = False
        self.path = os.path.abspath(os.fspath(path))
        """Absolute path of the directory."""
        self._max_bytes = max_bytes
        self._check = check
        self._block_bytes = block_bytes
        self._keep_missing = keep_missing
        self._name = name
        self._place = inner.url if name is None else name
        self._directory = Directory(self.path, max_bytes)
        self._asks_first = False

    # --- the cache ---

    def cache_info(self) -> DiskCacheInfo:
        """Hits, misses, failures, bytes held, most bytes to hold."""
        it = self._directory
        try:
            nbytes = it.nbytes()
        except OSError:
            nbytes = 0
        return DiskCacheInfo(it.hits, it.misses, it.errors, nbytes, self._max_bytes)

    def clear(self) -> None:
        """Remove everything that is in the cache, of whatever store.

        Raises
        ------
        StoreError
            If something cannot be removed.
        """
        try:
            self._directory.clear()
        except OSError as error:
            raise StoreError(f"the cache cannot be cleared: {error.strerror}", self.path) from error

    def _changed(self, key: str) -> None:
        try:
            self._directory.drop(self._directory.path_of(self._place, key))
        except NotADirectoryError:
            return
        except OSError as error:
            raise StoreError(
                f"cannot be removed from the cache in {self.path}: {error.strerror}", self, key
            ) from error

    def _path(self, key: str) -> str:
        return self._directory.path_of(self._place, check_key(key))

    def _entry(self, path: str) -> tuple[Entry | None, bool]:
        """What is cached at a path, and whether it may be used unasked."""
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
        """What is cached of a key, if it is of the present version."""
        entry, fresh = self._entry(path)
        if entry is None or fresh:
            return entry
        now = time.time()
        version = self.inner.version(key)
        if version != (None if entry.size is None else entry.version):
            self._changed(key)
            return None
        try:
            entry.used(now, validated=now)
        except OSError:
            self._directory.count(errors=1)
        return entry

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        found = self._look(key)
        size = found.size
        if size is not None:
            value = memoryview(bytearray(size))
            if self._fill(found, 0, value):
                return value.toreadonly()
        return self._whole(key, found, lambda reader: reader.read(0, reader.size).toreadonly())

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        found = self._look(key)
        size = found.size
        if size is not None and self._fill(found, 0, buffer[:size]):
            return size

        def work(reader: ValueReader) -> int:
            reader.read_into([(0, buffer[: reader.size])])
            return reader.size

        return self._whole(key, found, work)

    def _whole(self, key: str, found: Found, work: Callable[[ValueReader], T]) -> T | None:
        """Read a value of which something is not held, anew if it is replaced meanwhile."""
        for attempt in range(1, _ATTEMPTS + 1):
            reader = self._open(key, _WHOLE, found)
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
        asked = list(key_ranges)
        for _ in range(_ATTEMPTS - 1):
            try:
                return Store.get_partial_values(self, asked)
            except ValueReplacedError:
                continue
        return Store.get_partial_values(self, asked)

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

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        return self._open(key, first, self._look(key))

    def _look(self, key: str) -> Found:
        path = self._path(key)
        changes = self._directory.changes(path)
        entry = self._cached(key, path)
        return Found(path, changes, entry, None if entry is None else entry.size)

    def _fill(self, found: Found, start: int, buffer: memoryview) -> bool:
        """Fill a buffer with a part of a value, if all of that is held."""
        assert found.entry is not None
        try:
            held = not found.entry.read(start, buffer)
        except OSError:
            self._directory.count(errors=1)
            return False
        if held:
            self._directory.count(hits=1)
        return held

    def _open(self, key: str, first: ByteRange | None, found: Found) -> ValueReader | None:
        directory = self._directory
        path, changes, entry, size = found
        inner: ValueReader | None = None
        begun = time.time()
        if entry is None:
            changes = directory.changes(path)  # what was not the present version was dropped
            inner, version = self._open_inner(key, self._in_blocks(first))
            size = None if inner is None else inner.size
            keeps = self._keep_missing if inner is None else version is not None
            if keeps:
                try:
                    entry = directory.make(path, version or "", size, self._block_bytes, changes)
                except OSError:
                    directory.count(errors=1)
            if entry is None or inner is None:
                directory.count(misses=1)
                return inner
        elif size is None:
            directory.count(hits=1)
            return None
        return CachedReader(self, directory, key, entry, (path, changes), inner, begun)

    def _in_blocks(self, first: ByteRange | None) -> ByteRange | None:
        """What will be read of the inner value when this is what will be read of ours."""
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
    ) -> tuple[ValueReader | None, str | None]:
        """A reader of the inner store with its version; None for one that keeps changing."""
        for _ in range(_ATTEMPTS):
            before = self.inner.version(key) if self._asks_first else None
            reader = self.inner.open_value(key, first)
            if reader is None:
                return None, None
            if reader.version is not None or self._check == "never":
                return reader, reader.version or ""
            if before is not None and before == self.inner.version(key):
                return reader, before
            self._asks_first = True  # its readers do not know: it was the same before and after
            reader.close()
        return self.inner.open_value(key, first), None

    def open_same(self, key: str, entry: Entry, first: ByteRange) -> ValueReader:
        """Open a value of which blocks are missing in the cache.

        Raises
        ------
        ValueReplacedError
            If it is no more the value of which there are blocks.
        """
        reader = self.inner.open_value(key, first)
        if reader is not None:
            version = reader.version
            if version is None and self._check != "never":
                version = self.inner.version(key)
            unknown = self._check == "never" and (version is None or not entry.version)
            if reader.size == entry.size and (unknown or version == entry.version):
                return reader
            reader.close()
        self._changed(key)
        raise ValueReplacedError("the value was replaced while parts of it were read", self, key)

    def exists(self, key: str) -> bool:
        entry, fresh = self._entry(self._path(key))
        return entry.size is not None if entry is not None and fresh else self.inner.exists(key)

    def getsize(self, key: str) -> int | None:
        entry, fresh = self._entry(self._path(key))
        return entry.size if entry is not None and fresh else self.inner.getsize(key)

    # --- changes ---

    @contextmanager
    def _changing_below(self, *prefixes: str) -> Iterator[None]:
        """Forget what was below some prefixes, or is there afterwards.

        Names of files do not tell it.  Where versions are compared, nothing need be done.
        """
        asked = self._check != "version"
        below = list(self._below(prefixes)) if asked else []
        try:
            yield
        finally:
            if asked and not self.supports_listing:
                self.clear()
            for key in chain(below, self._below(prefixes) if asked else ()):
                self._changed(key)

    def _below(self, prefixes: Iterable[str]) -> Iterator[str]:
        if self.supports_listing:
            for prefix in prefixes:
                yield from self.inner.list_prefix(prefix)

    # --- the object ---

    def _arguments(self) -> tuple[Any, ...]:
        options = (self._check, self._block_bytes, self._keep_missing, self._name)
        return (self.inner, self.path, self._max_bytes, *options)
