"""Reading of byte ranges of many chunks with two operations on the store of the shards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ByteRange, ChunkDecodeError

from zarr_sharding.transformer.list_keys import with_shard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer, Store

    from zarr_sharding.transformer.layout import ChunkPosition, Layout

    KeyRanges = Sequence[tuple[str, ByteRange]]


def get_partial_values(store: Store, layout: Layout, key_ranges: KeyRanges) -> list[Buffer | None]:
    """Read byte ranges of chunks and other values, in the requested order; None for a missing key.

    "Two get_partial_values operations on the underlying store, one for retrieving the indices and
    one for retrieving existing chunks."  The indices are read again together with the chunks.  If
    an index has changed, the chunks of its shard are read again, because the bytes may belong to
    other chunks.

    Raises ChunkDecodeError with the key of the shard if an index is damaged.
    """
    values: list[Buffer | None] = [None] * len(key_ranges)
    others: list[int] = []
    waiting: dict[str, dict[int, ChunkPosition]] = {}
    for position, (key, _) in enumerate(key_ranges):
        chunk = layout.locate(key)
        if chunk is None:
            others.append(position)
        else:
            waiting.setdefault(chunk.shard, {})[position] = chunk
    tail = ByteRange(-layout.index.size)
    while waiting or others:
        request = [(shard, tail) for shard in waiting] + [
            key_ranges[position] for position in others
        ]
        answer = store.get_partial_values(request)
        indices = dict(zip(waiting, answer, strict=False))
        for position, value in zip(others, answer[len(waiting) :], strict=True):
            values[position] = value
        others = []
        requests = [
            item
            for shard, stored in indices.items()
            if stored is not None
            for item in _parts(store, layout, shard, stored, waiting[shard], key_ranges)
        ]
        if not requests:
            break
        shards = list(dict.fromkeys(shard for _, shard, _ in requests))
        request = [(shard, part) for _, shard, part in requests] + [(name, tail) for name in shards]
        answer = store.get_partial_values(request)
        now = dict(zip(shards, answer[len(requests) :], strict=True))
        changed = {shard for shard in shards if now[shard] != indices[shard]}
        for (position, shard, part), value in zip(requests, answer, strict=False):
            if shard not in changed:
                values[position] = _complete(store, shard, part, value)
        waiting = {shard: waiting[shard] for shard in shards if shard in changed}
    return values


def _parts(
    store: Store,
    layout: Layout,
    shard: str,
    stored: Buffer,
    chunks: dict[int, ChunkPosition],
    key_ranges: KeyRanges,
) -> list[tuple[int, str, ByteRange]]:
    """Return position in the request, shard and byte range of the chunks in a shard."""
    parts = []
    try:
        index = layout.index.decode(stored)
        for position, chunk in chunks.items():
            extent = index.locate_one(chunk.number)
            if extent is not None:
                parts.append((position, shard, _within(extent, key_ranges[position][1])))
    except ChunkDecodeError as error:
        raise with_shard(error, store, shard) from error
    return parts


def _within(extent: tuple[int, int], part: ByteRange) -> ByteRange:
    """Convert a byte range of a chunk to one of its shard, clipped to the chunk."""
    offset, size = extent
    start, length = part
    first = min(size, max(0, size + start) if start < 0 else start)
    last = size if length is None else min(size, first + length)
    return ByteRange(offset + first, last - first)


def _complete(store: Store, shard: str, part: ByteRange, value: Buffer | None) -> Buffer:
    if value is not None and len(value) == part.length:
        return value
    reason = f"shard index: a chunk at byte {part.start} extends beyond the end of the shard"
    raise with_shard(ChunkDecodeError(reason), store, shard)
