"""Reading a part of a shard."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import (
    Box,
    BufferReader,
    ChunkDecodeError,
    project,
    run_in_threads,
    scratch,
    single_chunk,
)

from zarr_sharding.ranges import BATCH_BYTES, GAP_BYTES, Batch, batches, pieces, subrange
from zarr_sharding.shard import WINDOW, Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core.extension import Part, Selection, ValueReader

    from zarr_sharding.index import Numbers, ShardIndex

    Array = np.ndarray[Any, Any]

_SUBRANGE_PAYS = 1 << 15  # encoded bytes; a smaller inner chunk is read in one piece


def read_part(shard: Shard, reader: ValueReader, selection: Selection, out: Array) -> None:
    """Read a selection out of a stored shard.

    Reads the index, then only those inner chunks that are needed.

    Parameters
    ----------
    shard : Shard
        Shape and codecs.
    reader : ValueReader
        The stored shard.
    selection : Selection
        What to read, within the shard.
    out : ndarray
        Receives the elements; has the shape of the selection.

    Raises
    ------
    ChunkDecodeError
        If the index, or an inner chunk that is needed, is damaged.
    """
    if not out.size:
        return
    size = reader.size
    if not isinstance(reader, BufferReader) and (
        size <= GAP_BYTES or (size <= BATCH_BYTES and 2 * out.size >= shard.size)
    ):
        # Index and inner chunks with one read.
        with scratch(size) as memory:
            reader.read_into([(0, memory)])
            _read(shard, BufferReader(memory), selection, out)
        return
    _read(shard, reader, selection, out)


def _read(shard: Shard, reader: ValueReader, selection: Selection, out: Array) -> None:
    if type(selection) is Box:
        single = single_chunk(selection, shard.axes)
        if single is not None:
            chunk, within, whole, _ = single
            _read_one(shard, reader, shard.number(chunk), within, whole, out)
            return
        if selection.shape == shard.shape:
            _read_all(shard, reader, out)
            return
    _read_some(shard, reader, selection, out)


def _read_one(
    shard: Shard, reader: ValueReader, number: int, within: Box, whole: bool, out: Array
) -> None:
    """A part of one inner chunk."""
    index = shard.index.read(reader)
    place = index.locate_one(number)
    if place is None:
        out[...] = shard.fill_value
        return
    offset, nbytes = place
    try:
        if isinstance(reader, BufferReader):
            decode(shard, reader.read(offset, nbytes), None if whole else within, out)
        elif _by_parts(shard, nbytes, whole):
            shard.inner.read_part(subrange(reader, offset, nbytes), within, out)
        else:
            with scratch(nbytes) as memory:
                reader.read_into([(offset, memory)])
                decode(shard, memory, None if whole else within, out)
    except ChunkDecodeError as error:
        raise inside(error, index, number) from error


def _read_all(shard: Shard, reader: ValueReader, out: Array) -> None:
    """Every inner chunk."""
    index = shard.index.read(reader)
    blocks = shard.blocks(out)
    for first in range(0, shard.count, WINDOW):
        numbers = range(first, min(first + WINDOW, shard.count))
        _read_blocks(shard, reader, index, numbers, blocks, out)


def _read_blocks(
    shard: Shard,
    reader: ValueReader,
    index: ShardIndex,
    numbers: range,
    blocks: Array,
    out: Array,
) -> None:
    """Inner chunks one after the other in the grid; ``blocks`` is ``out`` seen as such."""
    inner = shard.inner
    found, empty = index.locate(np.arange(numbers.start, numbers.stop))
    if not found and len(numbers) == shard.count:
        out[...] = shard.fill_value
        return
    coordinates = shard.coordinates(numbers)
    for position in empty:
        blocks[coordinates[position]][...] = shard.fill_value
    if inner.is_memory and out.flags.c_contiguous and blocks[coordinates[0]].flags.c_contiguous:
        _read_memory(shard, reader, index, numbers, found, out)
        return
    if shard.nested:

        def place(position: int, piece: memoryview) -> None:
            inner.read_part(BufferReader(piece), shard.whole, blocks[coordinates[position]])
    else:

        def place(position: int, piece: memoryview) -> None:
            inner.decode_into(piece, blocks[coordinates[position]])

    _read_found(shard, reader, index, numbers, found, place)


def _read_memory(
    shard: Shard,
    reader: ValueReader,
    index: ShardIndex,
    numbers: range,
    found: Sequence[tuple[int, int, int]],
    out: Array,
) -> None:
    """Inner chunks that lie one after the other in ``out`` just as they are stored."""
    octets = out.reshape(-1).view(np.uint8).data
    expected = len(octets) // shard.count
    runs: list[list[int]] = []  # offset, first byte in out, length
    for offset, nbytes, position in found:
        if nbytes != expected:
            error = ChunkDecodeError(f"{nbytes} bytes instead of {expected}")
            raise inside(error, index, numbers[position])
        place = numbers[position] * expected
        if runs:
            start, first, length = runs[-1]
            if (offset, place) == (
                start + length,
                first + length,
            ) and length + expected <= BATCH_BYTES:
                runs[-1][2] += expected
                continue
        runs.append([offset, place, expected])

    def work(some: Sequence[Sequence[int]]) -> None:
        reader.read_into([(offset, octets[at : at + length]) for offset, at, length in some])

    step = max(1, -(-len(runs) // 8))
    tasks = [runs[first : first + step] for first in range(0, len(runs), step)]
    run_in_threads(tasks, work, shard.parallel(len(found)))


def _read_some(shard: Shard, reader: ValueReader, selection: Selection, out: Array) -> None:
    """Parts of several inner chunks."""
    index = shard.index.read(reader)
    parts = project(selection, shard.axes)
    while window := list(islice(parts, WINDOW)):
        _read_parts(shard, reader, index, window, out)


def _read_parts(
    shard: Shard, reader: ValueReader, index: ShardIndex, parts: Sequence[Part], out: Array
) -> None:
    numbers = shard.numbers([part.chunk for part in parts])
    found, empty = index.locate(numbers)
    for position in empty:
        out[parts[position].target] = shard.fill_value

    def into_target(position: int, move: Callable[[Array], None]) -> None:
        _, within, target, _, _ = parts[position]
        if type(within) is Box:
            move(out[target])
        else:
            values = np.empty(within.shape, out.dtype)
            move(values)
            out[target] = values

    def place(position: int, piece: memoryview) -> None:
        part = parts[position]
        within = None if part.whole else part.within
        into_target(position, lambda values: decode(shard, piece, within, values))

    if shard.inner.reads_parts:
        # Inner chunks of which so little is wanted that they are not read whole.
        by_parts = [item for item in found if _by_parts(shard, item[1], parts[item[2]].whole)]
        chosen = {position for _, _, position in by_parts}
        found = [item for item in found if item[2] not in chosen]

        def work(item: tuple[int, int, int]) -> None:
            offset, nbytes, position = item
            source = subrange(reader, offset, nbytes)
            within = parts[position].within
            try:
                into_target(position, lambda values: shard.inner.read_part(source, within, values))
            except ChunkDecodeError as error:
                raise inside(error, index, int(numbers[position])) from error

        run_in_threads(by_parts, work, shard.parallel(len(by_parts)))
    _read_found(shard, reader, index, numbers, found, place)


def _read_found(
    shard: Shard,
    reader: ValueReader,
    index: ShardIndex,
    numbers: Numbers | range,
    found: Sequence[tuple[int, int, int]],
    place: Callable[[int, memoryview], None],
) -> None:
    """Read inner chunks in batches; each is handed to ``place`` with its position."""

    def work(batch: Batch) -> None:
        position = 0
        try:
            for piece, position in pieces(reader, batch):
                place(position, piece)
        except ChunkDecodeError as error:
            raise inside(error, index, int(numbers[position])) from error

    count = len(found)
    run_in_threads(batches(found, shard.most_items(count)), work, shard.parallel(count))


def decode(shard: Shard, piece: memoryview, within: Selection | None, out: Array) -> None:
    """Decode one inner chunk that is in memory, or the part ``within`` it."""
    inner = shard.inner
    if within is None:
        if shard.nested:
            inner.read_part(BufferReader(piece), shard.whole, out)
        else:
            inner.decode_into(piece, out)
    elif inner.supports_parts:
        inner.read_part(BufferReader(piece), within, out)
    else:
        inner.decode_part_of(piece, within, out)


def inside(error: ChunkDecodeError, index: ShardIndex, number: int) -> ChunkDecodeError:
    """The error of an inner chunk, saying which one it is."""
    reason = f"inner chunk {index.coordinates(number)}: {error.reason}"
    return type(error)(reason, error.codec, error.where)


def _by_parts(shard: Shard, nbytes: int, whole: bool) -> bool:
    return shard.inner.reads_parts and not whole and nbytes > _SUBRANGE_PAYS
