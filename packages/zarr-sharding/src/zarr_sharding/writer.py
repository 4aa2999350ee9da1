"""Making a shard, anew or out of an older one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from zarr_core.extension import (
    BufferReader,
    ChunkDecodeError,
    project,
    put,
    run_in_threads,
    scratch,
)

from zarr_sharding.index import EMPTY
from zarr_sharding.inner import inside
from zarr_sharding.ranges import Batch, batches, pieces, subrange
from zarr_sharding.shard import WINDOW, Shard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer, Part, Pieces, Selection, ValueReader

    from zarr_sharding.index import Numbers, ShardIndex

    Array = np.ndarray[Any, Any]
    Encoded: TypeAlias = list[Buffer] | None


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
    return _assemble(shard, Kept.nothing(), range(len(encoded)), encoded)


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
    return _assemble(shard, kept, touched, encoded)


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
                    for offset, _, nbytes, position in batch.items:
                        part = subrange(reader, offset, nbytes)
                        encoded[position] = _pieces(
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

        most = shard.most_items(len(old))
        run_in_threads(batches(old, most), change, shard.parallel(len(old)), pieces=most)

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
        return _pieces(inner.encode_part(None, part.within, value))
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
        return _pieces(inner.encode(array))
    # What compressors return is memory of its own, so a copy in C order for them
    # can lie in memory that is used again.
    with scratch(nbytes) as memory:
        encoded = _pieces(inner.encode(array, memory))
        if encoded is None:
            return None
        return [bytes(it) if isinstance(it, memoryview) else it for it in encoded]


def _pieces(encoded: Pieces | None) -> Encoded:
    if encoded is None:
        return None
    return [encoded] if isinstance(encoded, bytes | bytearray | memoryview) else list(encoded)


@dataclass(frozen=True, slots=True)
class Kept:
    """Inner chunks that go from the old shard into the new one as they are.

    Parameters
    ----------
    pieces : list of Buffer
        Their bytes; what overlapped in the old shard still does.
    nbytes : int
        Length of all pieces.
    numbers : list of int
        The inner chunks.
    entries : list of (int, int)
        Offset within the pieces, and length, of each.
    """

    pieces: list[Buffer]
    nbytes: int
    numbers: list[int]
    entries: list[tuple[int, int]]

    @classmethod
    def nothing(cls) -> Kept:
        """No inner chunk."""
        return cls([], 0, [], [])

    @classmethod
    def read(cls, reader: ValueReader, index: ShardIndex, numbers: Numbers) -> Kept:
        """Read inner chunks, each byte once."""
        found, _ = index.locate(numbers)
        extents: list[list[int]] = []
        entries = []
        total = 0  # length of all extents, the present one included
        for offset, nbytes, _ in found:
            stop = offset + nbytes
            if not extents or offset > extents[-1][1]:
                extents.append([offset, offset])
            extent = extents[-1]
            entries.append((total - (extent[1] - offset), nbytes))
            if stop > extent[1]:
                total += stop - extent[1]
                extent[1] = stop
        pieces: list[Buffer]
        if isinstance(reader, BufferReader):
            pieces = [reader.read(start, stop - start) for start, stop in extents]
        else:
            memory = np.empty(total, np.uint8).data
            parts = []
            position = 0
            for start, stop in extents:
                parts.append((start, memory[position : position + stop - start]))
                position += stop - start
            if parts:
                reader.read_into(parts)
            pieces = [memory]
        return cls(pieces, total, [int(numbers[place]) for _, _, place in found], entries)


def _assemble(
    shard: Shard, kept: Kept, numbers: Sequence[int] | Numbers, encoded: Sequence[Encoded]
) -> list[Buffer] | None:
    """Put together the index and everything that it points to."""
    pieces = list(kept.pieces)
    start = shard.index.size if shard.index.at_start else 0
    stored = list(kept.numbers)
    places = [(start + offset, nbytes) for offset, nbytes in kept.entries]
    offset = start + kept.nbytes
    for number, data in zip(numbers, encoded, strict=True):
        if data is None:
            continue
        nbytes = len(data[0]) if len(data) == 1 else sum(map(len, data))
        stored.append(int(number))
        places.append((offset, nbytes))
        pieces += data
        offset += nbytes
    if not stored:
        return None
    entries = np.full((shard.count, 2), EMPTY, np.uint64)
    entries[stored] = places
    index = shard.index.encode(entries)
    return index + pieces if shard.index.at_start else pieces + index
