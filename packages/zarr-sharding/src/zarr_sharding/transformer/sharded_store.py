"""A store of chunks that are stored in the shards of another store.

Specification: sharding storage transformer 1.0 (draft of December 2022), "API implementation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.engine.chain import CodecChain
from zarr_core.extension import (
    BufferByteReader,
    ByteRange,
    ChunkDecodeError,
    ExtensionDefinition,
    StoreCapabilityError,
    WrapperStore,
    check_prefix,
)
from zarr_core.interfaces.byte_reader import SubrangeReader

from zarr_sharding.shard import check_count, index_format
from zarr_sharding.transformer.layout import Layout
from zarr_sharding.transformer.list_keys import list_dir, list_prefix, read_indices, with_shard
from zarr_sharding.transformer.partial_values import get_partial_values
from zarr_sharding.transformer.update_shard import change_chunks, patch
from zarr_sharding.writer import EncodedChunks, assemble

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from zarr_core.extension import Buffer, Buffers, ByteReader, Change, Store

    from zarr_sharding.index import IndexFormat
    from zarr_sharding.transformer.layout import ChunkPosition

    # Defined here, because ``list`` is a method within the class.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]


def plain_index(grid: tuple[int, ...]) -> IndexFormat:
    """Return the index format of the transformer: at the end, without a checksum.

    Raises ValueError if an index does not support this number of chunks.
    """
    check_count(grid)
    codecs = CodecChain.of(ExtensionDefinition("bytes", {"endian": "little"}))
    return index_format(grid, codecs, at_start=False)


class ShardedStore(WrapperStore):
    """Store in which every chunk of a sharded array has its own key.

    Other keys are those of the underlying store.  A change of a chunk rewrites its shard, under the
    lock of the underlying store for the shard: concurrent changes of different chunks are all kept,
    and readers see the shard before or after a change.  Bytes that no chunk refers to are dropped.
    """

    def __init__(self, store: Store, layout: Layout) -> None:
        super().__init__(store)
        self.layout = layout
        self.traits = self.traits._replace(batch_nbytes=0)

    def get(self, key: str) -> Buffer | None:
        """Return the value of a key; for a chunk, a byte range of its shard."""
        chunk = self.layout.locate(key)
        if chunk is None:
            return self.inner.get(key)
        reader = self._open(chunk)
        if reader is None:
            return None
        with reader:
            return reader.read(0, reader.size)

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        """Return a value, or its length if that exceeds ``limit`` bytes."""
        chunk = self.layout.locate(key)
        if chunk is None:
            return self.inner.get_limited(key, limit, out)
        reader = self._open(chunk)
        if reader is None:
            return None
        with reader:
            return reader.read_limited(limit, out)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        """Return byte ranges of values; reads all indices first, then all chunks."""
        return get_partial_values(self.inner, self.layout, list(key_ranges))

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        """Open a value; for a chunk, a byte range of its shard.

        Raises ChunkDecodeError with the key of the shard if its index is damaged.
        """
        chunk = self.layout.locate(key)
        return self.inner.open_value(key, first) if chunk is None else self._open(chunk)

    def _open(self, chunk: ChunkPosition) -> ByteReader | None:
        index = self.layout.index
        start = 0 if index.at_start else -index.size
        shard = self.inner.open_value(chunk.shard, ByteRange(start, index.size))
        if shard is None:
            return None
        extent = None
        try:
            extent = index.read_one(shard, chunk.number)
        except ChunkDecodeError as error:
            raise with_shard(error, self.inner, chunk.shard) from error
        finally:
            if extent is None:
                shard.close()
        if extent is None:
            return None
        offset, nbytes = extent
        if isinstance(shard, BufferByteReader):
            return BufferByteReader(shard.read(offset, nbytes))
        return SubrangeReader(shard, offset, nbytes)

    def exists(self, key: str) -> bool:
        """Return whether a key exists; for a chunk, reads the index of its shard."""
        chunk = self.layout.locate(key)
        return self.inner.exists(key) if chunk is None else self._size(chunk) is not None

    def getsize(self, key: str) -> int | None:
        """Return the length of a value in bytes, or None for a missing key."""
        chunk = self.layout.locate(key)
        return self.inner.getsize(key) if chunk is None else self._size(chunk)

    def _size(self, chunk: ChunkPosition) -> int | None:
        reader = self._open(chunk)
        if reader is None:
            return None
        with reader:
            return reader.size

    def generation(self, key: str) -> str | None:
        """Return the generation of a value; for a chunk, a digest of its bytes."""
        if self.layout.locate(key) is None:
            return self.inner.generation(key)
        return super(WrapperStore, self).generation(key)

    def discard_cached(self, key: str) -> None:
        """Remove copies of a value from caches; for a chunk, of its shard."""
        chunk = self.layout.locate(key)
        super().discard_cached(key if chunk is None else chunk.shard)

    def set(self, key: str, value: Buffers) -> None:
        """Store a value; for a chunk, rewrite its shard."""
        chunk = self.layout.locate(key)
        if chunk is None:
            self.inner.set(key, value)
            return
        self._require_writable(key)
        if self.layout.index.count > 1:
            change_chunks(self.inner, self.layout, chunk.shard, {chunk.number: value}, {})
            return
        # The chunk is the whole shard, so the old shard is not read.
        shard = assemble(self.layout.index, [EncodedChunks.of([chunk.number], [value])])
        assert shard is not None, "the shard contains a chunk"
        self.inner.set(chunk.shard, shard)

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        """Store byte ranges of values; each shard is rewritten once."""
        others = []
        shards: dict[str, dict[int, list[tuple[int, Buffer]]]] = {}
        for key, start, value in key_start_values:
            chunk = self.layout.locate(key)
            if chunk is None:
                others.append((key, start, value))
            else:
                chunks = shards.setdefault(chunk.shard, {})
                chunks.setdefault(chunk.number, []).append((start, value))
        if others:
            self.inner.set_partial_values(others)
        for shard, parts in shards.items():
            self._require_writable(shard)
            change_chunks(
                self.inner,
                self.layout,
                shard,
                {},
                {number: patch(some) for number, some in parts.items()},
            )

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding every other change of its shard."""
        chunk = self.layout.locate(key)
        if chunk is None:
            self.inner.update(key, change)
            return
        self._require_writable(key)
        change_chunks(self.inner, self.layout, chunk.shard, {}, {chunk.number: change})

    def erase(self, key: str) -> None:
        """Remove a key; a shard is removed with its last chunk."""
        self.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys; each shard is rewritten once."""
        others = []
        shards: dict[str, dict[int, None]] = {}
        for key in keys:
            chunk = self.layout.locate(key)
            if chunk is None:
                others.append(key)
            else:
                shards.setdefault(chunk.shard, {})[chunk.number] = None
        if others:
            self.inner.erase_values(others)
        if not shards:
            return
        key = next(iter(shards))
        self._require_writable(key)
        if not self.traits.supports_erasing:
            raise StoreCapabilityError("the store does not support erasing", store=self, key=key)
        whole = [shard for shard, some in shards.items() if len(some) == self.layout.index.count]
        for shard in whole:
            # Not erase(): a concurrent change of one chunk would restore the others.
            self.inner.update(shard, lambda reader: None)
            del shards[shard]
        for shard, index in read_indices(self.inner, self.layout, list(shards)):
            if index.has_any(shards[shard]):
                change_chunks(self.inner, self.layout, shard, shards[shard], {})

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix, which may end between chunk coordinates."""
        corner = self.layout.partial_prefix(check_prefix(prefix))
        if corner is None or all(
            count == 1
            for count, _ in zip(self.layout.chunks_per_shard, corner.numbers, strict=False)
        ):
            self.inner.erase_prefix(prefix)
            return
        self._require_writable(prefix)
        self.erase_values(list(self.list_prefix(prefix)))

    def list_prefix(self, prefix: str) -> Iterator[str]:
        """List all keys below a prefix; reads the indices of the shards."""
        return list_prefix(self.inner, self.layout, check_prefix(prefix))

    def list_dir(self, prefix: str) -> Listing:
        """List keys and prefixes directly below a prefix.

        Prefixes that end between chunk coordinates are listed for all possible chunks of a shard,
        so some have no keys.  Keys always exist.
        """
        return list_dir(self.inner, self.layout, check_prefix(prefix))

    @property
    def identity(self) -> Hashable:
        """Location for comparisons: chunks have other keys than in the underlying store."""
        return super().identity, self.layout.prefix, self.layout.chunks_per_shard

    def __reduce__(self) -> tuple[Any, ...]:
        return sharded, self._arguments()

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self.layout.prefix, self.layout.chunks_per_shard


def sharded(store: Store, prefix: str, chunks_per_shard: Sequence[int]) -> ShardedStore:
    """Return a store of chunks in the shards of another store; arguments as for :class:`Layout`.

    Raises ValueError if an index does not support this number of chunks.
    """
    grid = tuple(chunks_per_shard)
    return ShardedStore(store, Layout(check_prefix(prefix), grid, plain_index(grid)))
