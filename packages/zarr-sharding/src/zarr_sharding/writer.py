"""Making a shard, anew or out of an older one."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import (
    BufferReader,
    ChunkDecodeError,
    project,
    put,
    run_in_threads,
    scratch,
)

from zarr_sharding.assembly import Kept, as_list, assemble
from zarr_sharding.inner import in_batches, inside
from zarr_sharding.ranges import Batch, lasting_pieces, pieces
from zarr_sharding.shard import WINDOW, Shard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer, Part, Selection, ValueReader

    from zarr_sharding.assembly import Encoded
    from zarr_sharding.index import Numbers, ShardIndex

    Array = np.ndarray[Any, Any]


def encode_shard(shard: Shard, array: Array) -> list[Buffer] | None:
    """Encode a whole shard.

    Parameters
    ----------
    shard : Shard
        Shape and codecs.
    array : ndarray
        All elements of the shard.

    Returns
    -------
    list of Buffer or None
        Inner chunks in C order with the index before or behind them; None if all
        inner chunks are empty.
    """
    encoded: list[list[Buffer] | None]
    if not shard.grid:
        encoded = [_encode(shard, array)]
    else:
        blocks = shard.blocks(array)
        count = shard.count
        encoded = [None] * count

        def work(numbers: range) -> None:
            for number, place in zip(numbers, shard.coordinates(numbers), strict=True):
                encoded[number] = _encode(shard, blocks[place])

        step = shard.most_items(count)
        tasks = [range(first, min(first + step, count)) for first in range(0, count, step)]
        run_in_threads(tasks, work, shard.parallel(count), pieces=step)
    return assemble(shard.index, Kept.nothing(), range(len(encoded)), encoded)


def change_shard(
    shard: Shard, reader: ValueReader | None, selection: Selection, value: Array
) -> list[Buffer] | None:
    """Encode a shard of which a part is new.

    Inner chunks that the selection does not touch are kept as they are stored,
    without decoding them; what no inner chunk refers to is left out.

    Parameters
    ----------
    shard : Shard
        Shape and codecs.
    reader : ValueReader or None
        The shard as it is stored; None if it is not.
    selection : Selection
        The part, within the shard.
    value : ndarray
        Its new elements; has the shape of the selection.

    Returns
    -------
    list of Buffer or None
        As :func:`encode_shard`.

    Raises
    ------
    ChunkDecodeError
        If the index is damaged, or an inner chunk that must be changed is, or one
        to be kept lies out of the shard.
    """
    index = None if reader is None else shard.index.read(reader)
    untouched = np.ones(shard.count, np.bool_)
    touched: list[int] = []
    encoded: list[list[Buffer] | None] = []
    parts = project(selection, shard.axes)
    while window := list(islice(parts, WINDOW)):
        numbers = shard.numbers([part.chunk for part in window])
        untouched[numbers] = False
        touched += numbers.tolist()
        encoded += _encode_parts(shard, reader, index, window, numbers, value)
    kept = Kept.nothing()
    if reader is not None and index is not None:
        kept = Kept.read(reader, index, np.flatnonzero(untouched))
    return assemble(shard.index, kept, touched, encoded)


def _encode_parts(
    shard: Shard,
    reader: ValueReader | None,
    index: ShardIndex | None,
    parts: Sequence[Part],
    numbers: Numbers,
    value: Array,
) -> list[list[Buffer] | None]:
    """Encode inner chunks of which these parts are new."""
    inner = shard.inner
    encoded: list[list[Buffer] | None] = [None] * len(parts)
    fresh: Sequence[int] = range(len(parts))  # positions of those that are made from nothing

    def source(position: int) -> Array:
        target = parts[position].target
        return value[target] if target else value

    if reader is not None and index is not None:
        partial = np.asarray([p for p, part in enumerate(parts) if not part.covers], np.intp)
        found, _ = index.locate(numbers[partial])
        old = [(offset, nbytes, int(partial[place])) for offset, nbytes, place in found]
        changed = {position for _, _, position in old}
        fresh = [position for position in fresh if position not in changed]

        def change(batch: Batch) -> None:
            position = 0
            try:
                if shard.nested:
                    # Whole, as all that stays in it has to be read: few reads, not many.
                    for piece, position in lasting_pieces(reader, batch):
                        part = BufferReader(piece)
                        encoded[position] = as_list(
                            inner.encode_part(part, parts[position].within, source(position))
                        )
                    return
                for piece, position in pieces(reader, batch):
                    array = np.empty(shard.inner_shape, inner.dtype)
                    inner.decode_into(piece, array)
                    put(array, parts[position].within, source(position))
                    encoded[position] = _encode(shard, array)
            except ChunkDecodeError as error:
                raise inside(error, shard.grid, int(numbers[position])) from error

        in_batches(shard, reader, old, change)

    def make(positions: Sequence[int]) -> None:
        for position in positions:
            encoded[position] = _make(shard, parts[position], source(position))

    step = shard.most_items(len(fresh))
    tasks = [fresh[first : first + step] for first in range(0, len(fresh), step)]
    run_in_threads(tasks, make, shard.parallel(len(fresh)), pieces=step)
    return encoded


def _make(shard: Shard, part: Part, value: Array) -> Encoded:
    """Encode an inner chunk that held nothing before, or is new altogether."""
    inner = shard.inner
    if part.whole:
        return _encode(shard, value)
    if shard.nested and not part.covers:
        return as_list(inner.encode_part(None, part.within, value))
    array = np.empty(shard.inner_shape, inner.dtype)
    if not part.covers:
        array[...] = shard.fill_value
    put(array, part.within, value)
    return _encode(shard, array)


def _encode(shard: Shard, array: Array) -> Encoded:
    """Encode an inner chunk; None if it is empty."""
    inner = shard.inner
    nbytes = inner.decoded.nbytes
    fixed = inner.encoded_size is not None
    if fixed or nbytes is None or shard.nested or array.flags.c_contiguous:
        return as_list(inner.encode(array))
    # What compressors return is memory of its own, so a copy in C order for them
    # can lie in memory that is used again.
    with scratch(nbytes) as memory:
        encoded = as_list(inner.encode(array, memory))
        if encoded is None:
            return None
        return [bytes(it) if isinstance(it, memoryview) else it for it in encoded]
