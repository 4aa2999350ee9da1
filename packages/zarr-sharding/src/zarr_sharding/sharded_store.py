"""A store whose chunks lie in the shards of another store.

Specification: sharding storage transformer 1.0 (draft of December 2022), "API
implementation", whose operations these are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    BufferReader,
    ByteRange,
    ChunkDecodeError,
    CodecChain,
    ExtensionDefinition,
    Store,
    StoreCapabilityError,
    check_prefix,
)

from zarr_sharding.assembly import Kept, as_list, assemble
from zarr_sharding.changing import change_chunks, patch
from zarr_sharding.layout import Layout
from zarr_sharding.listing import list_dir, list_prefix, located, read_indices
from zarr_sharding.partial_values import get_partial_values
from zarr_sharding.ranges import SubrangeReader
from zarr_sharding.shard import check_count, index_format

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.extension import Buffer, Change, Pieces, ValueReader

    from zarr_sharding.index import IndexFormat
    from zarr_sharding.layout import Place

    # Named here, because within the class ``list`` is the operation of that name.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]


def plain_index(grid: tuple[int, ...]) -> IndexFormat:
    """The index that shards of the transformer have: at the end, without a checksum.

    Raises
    ------
    ValueError
        If these are too many chunks for one index.
    """
    check_count(grid)
    codecs = CodecChain.of(ExtensionDefinition("bytes", {"endian": "little"}))
    return index_format(grid, codecs, at_start=False)


class ShardedStore(Store):
    """What an array with shards sees: every chunk under a key of its own.

    Keys that are no chunk's are those of the store behind.

    Parameters
    ----------
    store : Store
        Where the shards are.
    layout : Layout
        Which chunk lies in which shard.

    Notes
    -----
    A change of a chunk makes its shard anew, under the lock that the store behind
    has for the shard: those who change different chunks of it lose nothing, and
    who reads sees the shard before or after.  What no chunk refers to any more is
    left out.
    """

    def __init__(self, store: Store, layout: Layout) -> None:
        self.store = store
        self.layout = layout
        self.read_only = store.read_only
        self.supports_listing = store.supports_listing
        self.supports_erasing = store.supports_erasing
        self.in_memory = store.in_memory
        self.requests = store.requests

    @property
    def url(self) -> str:
        """The URL of the store behind."""
        return self.store.url

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        """The value of a key: of a chunk, the part of its shard."""
        place = self.layout.place(key)
        if place is None:
            return self.store.get(key)
        reader = self._open(place)
        if reader is None:
            return None
        with reader:
            return reader.read(0, reader.size)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        """Parts of values; the indices are read together, then the chunks together."""
        return get_partial_values(self.store, self.layout, list(key_ranges))

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        """Read a value into memory that the caller has."""
        place = self.layout.place(key)
        if place is None:
            return self.store.get_into(key, buffer)
        reader = self._open(place)
        if reader is None:
            return None
        with reader:
            size = reader.size
            if count := min(size, len(buffer)):
                reader.read_into([(0, buffer[:count])])
        return size

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        """Open a value; of a chunk, the part of its shard.

        Raises
        ------
        ChunkDecodeError
            If the index of the shard is damaged; names the shard.
        """
        place = self.layout.place(key)
        return self.store.open_value(key, first) if place is None else self._open(place)

    def _open(self, place: Place) -> ValueReader | None:
        index = self.layout.index
        start = 0 if index.at_start else -index.size
        shard = self.store.open_value(place.shard, ByteRange(start, index.size))
        if shard is None:
            return None
        found = None
        try:
            found = index.read_one(shard, place.number)
        except ChunkDecodeError as error:
            raise located(error, self.store, place.shard) from error
        finally:
            if found is None:
                shard.close()
        if found is None:
            return None
        offset, nbytes = found
        if isinstance(shard, BufferReader):
            return BufferReader(shard.read(offset, nbytes))
        return _ChunkReader(shard, offset, nbytes)

    def exists(self, key: str) -> bool:
        """Whether there is a value at a key; of a shard only its index is read."""
        place = self.layout.place(key)
        return self.store.exists(key) if place is None else self._size(place) is not None

    def getsize(self, key: str) -> int | None:
        """Length of a value in bytes, or None for a missing key."""
        place = self.layout.place(key)
        return self.store.getsize(key) if place is None else self._size(place)

    def _size(self, place: Place) -> int | None:
        reader = self._open(place)
        if reader is None:
            return None
        with reader:
            return reader.size

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        """Store a value; of a chunk, by making its shard anew."""
        place = self.layout.place(key)
        if place is None:
            self.store.set(key, value)
            return
        self._require_writable(key)
        pieces = as_list(value)
        if self.layout.index.count > 1:
            change_chunks(self.store, self.layout, place.shard, {place.number: pieces}, {})
            return
        # All chunks that the shard can have: nobody need look at what was there.
        shard = assemble(self.layout.index, Kept.nothing(), [place.number], [pieces])
        assert shard is not None, "there is a chunk in it"
        self.store.set(place.shard, shard)

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        """Store parts of values; each shard is made anew once."""
        others = []
        shards: dict[str, dict[int, list[tuple[int, Buffer]]]] = {}
        for key, start, value in key_start_values:
            place = self.layout.place(key)
            if place is None:
                others.append((key, start, value))
            else:
                chunks = shards.setdefault(place.shard, {})
                chunks.setdefault(place.number, []).append((start, value))
        if others:
            self.store.set_partial_values(others)
        for shard, parts in shards.items():
            self._require_writable(shard)
            change_chunks(
                self.store,
                self.layout,
                shard,
                {},
                {number: patch(some) for number, some in parts.items()},
            )

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding every other change of its shard."""
        place = self.layout.place(key)
        if place is None:
            self.store.update(key, change)
            return
        self._require_writable(key)
        change_chunks(self.store, self.layout, place.shard, {}, {place.number: change})

    def erase(self, key: str) -> None:
        """Remove a key; with its last chunk a shard is removed."""
        self.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys; each shard is made anew once."""
        others = []
        shards: dict[str, dict[int, None]] = {}
        for key in keys:
            place = self.layout.place(key)
            if place is None:
                others.append(key)
            else:
                shards.setdefault(place.shard, {})[place.number] = None
        if others:
            self.store.erase_values(others)
        if not shards:
            return
        key = next(iter(shards))
        self._require_writable(key)
        if not self.supports_erasing:
            raise StoreCapabilityError("chunks cannot be erased here", store=self, key=key)
        whole = [shard for shard, some in shards.items() if len(some) == self.layout.index.count]
        for shard in whole:
            # Not erase(): who changes one chunk meanwhile would bring the others back.
            self.store.update(shard, lambda reader: None)
            del shards[shard]
        for shard, index in read_indices(self.store, self.layout, list(shards)):
            if index.has_any(shards[shard]):
                change_chunks(self.store, self.layout, shard, shards[shard], {})

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix, also one that ends within the numbers of chunks."""
        corner = self.layout.corner(check_prefix(prefix))
        if corner is None or all(
            count == 1
            for count, _ in zip(self.layout.chunks_per_shard, corner.numbers, strict=False)
        ):
            self.store.erase_prefix(prefix)
            return
        self._require_writable(prefix)
        self.erase_values(list(self.list_prefix(prefix)))

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        """All keys below a prefix; reads the indices of the shards."""
        return list_prefix(self.store, self.layout, check_prefix(prefix))

    def list_dir(self, prefix: str) -> Listing:
        """Keys and prefixes directly below a prefix.

        Notes
        -----
        Prefixes that end within the numbers of chunks are those of all chunks that
        can be in a shard, also of missing ones: below some there may be nothing.
        Keys are always there.
        """
        return list_dir(self.store, self.layout, check_prefix(prefix))

    # --- the object ---

    def close(self) -> None:
        """Close the store behind."""
        self.store.close()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShardedStore):
            return NotImplemented
        return self._place() == other._place()

    def __hash__(self) -> int:
        return hash(self._place())

    def __repr__(self) -> str:
        return f"ShardedStore{self._place()!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return sharded, self._place()

    def _place(self) -> tuple[Store, str, tuple[int, ...]]:
        return self.store, self.layout.prefix, self.layout.chunks_per_shard


def sharded(store: Store, prefix: str, chunks_per_shard: Sequence[int]) -> ShardedStore:
    """Put shards before a store.

    Parameters
    ----------
    store : Store
        Where the shards are.
    prefix : str
        What stands before the name of every chunk: empty or ending in ``/``.
    chunks_per_shard : sequence of int
        In each dimension.

    Raises
    ------
    ValueError
        If these are too many chunks for one index.
    """
    grid = tuple(chunks_per_shard)
    return ShardedStore(store, Layout(check_prefix(prefix), grid, plain_index(grid)))


class _ChunkReader(SubrangeReader):
    """A chunk in a shard that was opened for it."""

    def close(self) -> None:
        self._reader.close()
