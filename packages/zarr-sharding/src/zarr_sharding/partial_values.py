"""Reading parts of many chunks with two operations on the store that has the shards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ByteRange, ChunkDecodeError

from zarr_sharding.listing import located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer, Store

    from zarr_sharding.layout import Layout, Place

    Asked = Sequence[tuple[str, ByteRange]]


def get_partial_values(store: Store, layout: Layout, asked: Asked) -> list[Buffer | None]:
    """Read parts of values, in the order asked for; None for a missing key.

    Parameters
    ----------
    store : Store
        Where the shards are.
    layout : Layout
        Which chunk lies in which shard.
    asked : sequence of (str, ByteRange)
        Keys as the array sees them, and parts of their values.

    Raises
    ------
    ChunkDecodeError
        If an index is damaged; names the shard.

    Notes
    -----
    "Two get_partial_values operations on the underlying store, one for retrieving
    the indices and one for retrieving existing chunks."  Behind the chunks the
    indices are read once more: where one has changed, what was read may be of
    another chunk, and is read again.
    """
    values: list[Buffer | None] = [None] * len(asked)
    others: list[int] = []
    waiting: dict[str, dict[int, Place]] = {}
    for position, (key, _) in enumerate(asked):
        place = layout.place(key)
        if place is None:
            others.append(position)
        else:
            waiting.setdefault(place.shard, {})[position] = place
    tail = ByteRange(-layout.index.size)
    while waiting or others:
        # The indices, and with them what is no chunk.
        request = [(shard, tail) for shard in waiting] + [asked[position] for position in others]
        answer = store.get_partial_values(request)
        indices = dict(zip(waiting, answer, strict=False))
        for position, value in zip(others, answer[len(waiting) :], strict=True):
            values[position] = value
        others = []
        # The chunks.
        found = [
            item
            for shard, stored in indices.items()
            if stored is not None
            for item in _parts(store, layout, shard, stored, waiting[shard], asked)
        ]
        if not found:
            break
        shards = list(dict.fromkeys(shard for _, shard, _ in found))
        request = [(shard, part) for _, shard, part in found] + [(it, tail) for it in shards]
        answer = store.get_partial_values(request)
        now = dict(zip(shards, answer[len(found) :], strict=True))
        changed = {shard for shard in shards if now[shard] != indices[shard]}
        for (position, shard, part), value in zip(found, answer, strict=False):
            if shard not in changed:
                values[position] = _complete(store, shard, part, value)
        waiting = {shard: waiting[shard] for shard in shards if shard in changed}
    return values


def _parts(
    store: Store,
    layout: Layout,
    shard: str,
    stored: Buffer,
    places: dict[int, Place],
    asked: Asked,
) -> list[tuple[int, str, ByteRange]]:
    """Find chunks in a shard: position in the request, shard, what to read of it."""
    parts = []
    try:
        index = layout.index.of_unknown_shard(stored)
        for position, place in places.items():
            found = index.locate_one(place.number)
            if found is not None:
                parts.append((position, shard, _within(found, asked[position][1])))
    except ChunkDecodeError as error:
        raise located(error, store, shard) from error
    return parts


def _within(found: tuple[int, int], part: ByteRange) -> ByteRange:
    """Turn a part of a chunk into a part of its shard; beyond the chunk's end it is cut."""
    offset, size = found
    start, length = part
    first = min(size, max(0, size + start) if start < 0 else start)
    last = size if length is None else min(size, first + length)
    return ByteRange(offset + first, last - first)


def _complete(store: Store, shard: str, part: ByteRange, value: Buffer | None) -> Buffer:
    if value is not None and len(value) == part.length:
        return value
    reason = f"by its index, a chunk reaches beyond byte {part.start}, where the shard ends before"
    raise located(ChunkDecodeError(reason), store, shard)
