"""A store that caches the values of another store on disk.

Each value has a directory.  The file ``head`` has the size and the generation of the value, the time
of their last comparison, and the beginning of the names of the other files, which are blocks of the
value.  Another generation has other names, so that blocks of two are never combined.
"""

from __future__ import annotations

import os
import struct
import threading
import time
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import (
    ByteRange,
    ByteReader,
    StoreError,
    WrapperStore,
    check_key,
    key_lock,
)

from zarr_stores._reader_store import ReaderStore, replaced
from zarr_stores.cache.caching_store import InvalidatingStore
from zarr_stores.cache.disk_files import Directory
from zarr_stores.cache.pool import CacheInfo, validate_check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.extension import Store

__all__ = ["DiskCacheStore"]

_HEAD = struct.Struct("<dQ16s")  # time of the last comparison, size, name of the blocks
_MAX_HEAD_BYTES = 4096
_MAX_BLOCK_BYTES = 1 << 30
_STRIPES = 1024


class DiskCacheStore(ReaderStore, InvalidatingStore):
    """A persistent cache of values, and of blocks of values, in a directory.

    Parameters
    ----------
    inner : Store
        The store.
    path : str or os.PathLike
        Directory of the cache.  Several processes and caches of several stores can share it.
    max_bytes : int or None
        Maximum size of the files in bytes; None for no limit.  The least recently used files
        are removed first.  Each further thread or process may exceed it by a 32nd.
    check : {"generation", "never"} or float
        When to compare the generation of a cached value with ``inner.generation``: at every open,
        which costs a small request; never, for data that does not change; or if the last
        comparison, by any process, is older than this number of seconds.
    block_bytes : int
        Length of the blocks in which values are read and cached.

    Notes
    -----
    Changes made through this object are visible immediately.  Changes made by others are
    visible after the next comparison of generations.  Files have checksums: what was damaged by
    a crash or a disk error is read again from the inner store.  If the cache cannot be read
    or written, values are read from the inner store and no error is raised; the logger
    ``zarr_core.caches`` has the reason.  File names are digests and do not reveal keys or URLs.
    Only the user has access to the files.  Listings, ``exists`` and ``getsize`` are not cached.

    The inner store should return generations without reading values.  If it does not, as stores in
    memory and most file systems of fsspec, each value is read several times, whatever ``check`` is.

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
    ) -> None:
        super().__init__(inner)
        if max_bytes is not None and max_bytes < 0:
            raise StoreError(f"max_bytes must not be negative: {max_bytes}", store=inner)
        if not 1 <= block_bytes <= _MAX_BLOCK_BYTES:
            raise StoreError(f"block_bytes must be from 1 to 2**30, not {block_bytes}", store=inner)
        validate_check(check, inner)
        self.in_memory = False
        self.path = os.path.abspath(os.fspath(path))
        """Absolute path of the directory."""
        self.block_bytes = block_bytes
        self.files = Directory(self.path, max_bytes)
        self.hits = self.misses = 0
        self._check = check
        self._reads_generations = False
        self._changes = [0] * _STRIPES

    # --- the cache ---

    def cache_info(self) -> CacheInfo:
        """Return the hits, misses, size and maximum size of the cache.

        Hits and misses are those of this object, approximately if several threads read.  The size
        is that of all files, including those of other processes.
        """
        return CacheInfo(self.hits, self.misses, self.files.nbytes(), self.files.max_bytes)

    def clear(self) -> None:
        """Remove all values of all stores from the cache.

        Raises
        ------
        StoreError
            If a file cannot be removed.
        """
        self._changes = [number + 1 for number in self._changes]
        try:
            self.files.clear()
        except OSError as error:
            raise StoreError(f"the cache cannot be cleared: {error.strerror}", self.path) from error

    def _invalidate(self, key: str) -> None:
        folder = self._folder(key)
        with key_lock(self.path, folder):
            self._changes[hash(key) % _STRIPES] += 1
            try:
                self.files.remove(folder)
            except OSError as error:  # a file that remains would be used later
                reason = f"cannot be removed from the cache in {self.path}: {error.strerror}"
                raise StoreError(reason, self, key) from error

    @contextmanager
    def _changing_below(self, prefix: str) -> Iterator[None]:
        # File names do not reveal keys, so these are listed, unless each open compares generations.
        lists, is_checked = self.supports_listing, self._check == "generation"
        keys = [*self.inner.list_prefix(prefix)] if lists and not is_checked else []
        try:
            yield
        finally:
            for key in keys:
                self._invalidate(key)
            if not (lists or is_checked):
                self.clear()

    def changes(self, key: str) -> int:
        """Return a counter that changes if the value of a key is invalidated."""
        return self._changes[hash(key) % _STRIPES]

    def _folder(self, key: str) -> str:
        """Return the directory for a key of the store, whose name reveals neither of them."""
        words = f"{self.inner}\0{check_key(key)}\0{self.block_bytes}"
        name = blake2b(words.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return f"{self.files.root}/{name[:2]}/{name[2:]}"

    # --- readable ---

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        folder = self._folder(key)
        changes = self.changes(key)
        head = self._current_head(key, folder)
        if head is not None:
            return _CachedReader(self, key, folder, head, changes)
        changes, now = self.changes(key), time.time()
        reader, generation = self.open_inner(key, self._block_range(first))
        if reader is not None and generation is not None:
            words = f"{reader.size} ".encode() + generation
            name = blake2b(words, digest_size=16).digest()
            head = _HEAD.pack(now, reader.size, name) + generation
            with key_lock(self.path, folder):
                if changes == self.changes(key):  # not changed since it was opened
                    self.files.write(f"{folder}/head", head)
                    return _CachedReader(self, key, folder, head, changes, reader)
        self.misses += 1
        return reader

    def _current_head(self, key: str, folder: str) -> bytes | None:
        """Return the head of a cached value, if it is that of the current generation."""
        memory = memoryview(bytearray(_MAX_HEAD_BYTES))
        length = self.files.read(f"{folder}/head", memory)
        if length is None or length < _HEAD.size:
            return None
        head = bytes(memory[:length])
        now, (checked, *described) = time.time(), _HEAD.unpack_from(head)
        is_recent = not isinstance(self._check, str) and 0 <= now - checked < self._check
        if is_recent or self._check == "never":
            return head
        if _encode(self.inner.generation(key)) != head[_HEAD.size :]:
            self._invalidate(key)
            return None
        if self._check != "generation":
            head = _HEAD.pack(now, *described) + head[_HEAD.size :]
            self.files.write(f"{folder}/head", head)
        return head

    def _block_range(self, first: ByteRange | None) -> ByteRange | None:
        """Return a range that contains all blocks of a range."""
        if first is None:
            return None
        start, length = first
        before = self.block_bytes if start < 0 else start % self.block_bytes
        return ByteRange(
            start - before, None if length is None else before + length + self.block_bytes
        )

    def open_inner(
        self, key: str, first: ByteRange | None
    ) -> tuple[ByteReader | None, bytes | None]:
        """Open a value of the inner store; return the reader and the generation of the value.

        The generation is None if it changes at the same time.
        """
        before = self.inner.generation(key) if self._reads_generations else None
        reader = self.inner.open_value(key, first)
        if reader is None or reader.generation is not None:
            return reader, _encode(None if reader is None else reader.generation)
        if self._reads_generations:
            is_same = before == self.inner.generation(key)
            return reader, _encode(before) if is_same else None
        # The readers have no generation: use it if it is the same before and after opening.
        self._reads_generations = True
        reader.close()
        return self.open_inner(key, first)

    # Not cached.
    exists = WrapperStore.exists
    getsize = WrapperStore.getsize
    list_sizes = WrapperStore.list_sizes

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self.path, self.files.max_bytes, self._check, self.block_bytes


def _encode(generation: str | None) -> bytes:
    return (generation or "").encode("utf-8", "surrogatepass")


class _CachedReader(ByteReader):
    """Reader of one generation of a value, some blocks of which are cached.

    The value is opened in the inner store only if a block is not cached.
    """

    def __init__(
        self,
        store: DiskCacheStore,
        key: str,
        folder: str,
        head: bytes,
        changes: int,
        inner: ByteReader | None = None,
    ) -> None:
        self._store = store
        self._key = key
        self._inner = inner
        self._guard = threading.Lock()
        _, self.size, name = _HEAD.unpack_from(head)
        self._state = self.size, head[_HEAD.size :], changes
        self._prefix = f"{folder}/{name.hex()}-"
        self.generation = head[_HEAD.size :].decode("utf-8", "replace")
        self.max_concurrency = store.max_concurrency
        self.gap_nbytes = store.traits.gap_nbytes

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        blocks = []
        missing: list[tuple[int, memoryview]] = []
        for start, buffer in parts:
            self.check_part(start, len(buffer))
            begin, memory = self._block_memory(start, buffer)
            blocks.append((begin, memory))
            missing += self._read_cached(begin, memory)
        if missing:
            self._fetch(missing)
            self._store.misses += 1
        else:
            self._store.hits += 1
        for (start, buffer), (begin, memory) in zip(parts, blocks, strict=True):
            if memory is not buffer:
                buffer[:] = memory[start - begin :][: len(buffer)]

    def _block_memory(self, start: int, buffer: memoryview) -> tuple[int, memoryview]:
        """Return the offset of the first block of a part, and memory for all its blocks."""
        step, stop = self._store.block_bytes, start + len(buffer)
        begin = start // step * step
        end = min(-(-stop // step) * step, self.size)
        is_whole = (begin, end) == (start, stop) or not buffer
        return (start, buffer) if is_whole else (begin, memoryview(bytearray(end - begin)))

    def _read_cached(self, begin: int, memory: memoryview) -> list[tuple[int, memoryview]]:
        """Fill memory with the blocks that are cached; return the others, joined if adjacent."""
        step = self._store.block_bytes
        missing: list[tuple[int, int]] = []
        for offset in range(0, len(memory), step):
            block = memory[offset : offset + step]
            if self._store.files.read(f"{self._prefix}{begin + offset}", block) == len(block):
                continue
            is_adjacent = bool(missing) and missing[-1][1] == offset
            first = missing.pop()[0] if is_adjacent else offset
            missing.append((first, offset + len(block)))
        return [(begin + first, memory[first:stop]) for first, stop in missing]

    def _fetch(self, missing: Sequence[tuple[int, memoryview]]) -> None:
        """Read blocks from the inner store, and cache them."""
        files, step = self._store.files, self._store.block_bytes
        self._opened(ByteRange(missing[0][0], len(missing[0][1]))).read_into(missing)
        for begin, memory in missing:
            for offset in range(0, len(memory), step):
                files.write(f"{self._prefix}{begin + offset}", memory[offset : offset + step])

    def _opened(self, first: ByteRange) -> ByteReader:
        """Return the reader of the inner store, whose value must have this generation."""
        store, key = self._store, self._key
        with self._guard:
            if self._inner is None:
                reader, generation = store.open_inner(key, first)
                size = None if reader is None else reader.size
                if (size, generation, store.changes(key)) != self._state:
                    if reader is not None:
                        reader.close()
                    store.discard_cached(key)
                    raise replaced(store, key)
                self._inner = reader
            return self._inner

    def close(self) -> None:
        with self._guard:
            inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()
