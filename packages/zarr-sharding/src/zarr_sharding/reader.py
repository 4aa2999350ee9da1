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

from zarr_sharding.inner import decode, inside, read_found
from zarr_sharding.ranges import BATCH_BYTES, GAP_BYTES, subrange
from zarr_sharding.shard import WINDOW, Shard
from zarr_sharding.whole import read_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core.extension import Part, Selection, ValueReader

    from zarr_sharding.index import ShardIndex

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
            chunk, within, complete, _ = single
            _read_one(shard, reader, shard.number(chunk), within, complete, out)
            return
        if selection.shape == shard.shape:
            read_all(shard, reader, out)
            return
    _read_some(shard, reader, selection, out)


def _read_one(
    shard: Shard, reader: ValueReader, number: int, within: Box, whole: bool, out: Array
) -> None:
    """Read a part of one inner chunk."""
    place = shard.index.read_one(reader, number)
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
        raise inside(error, shard.grid, number) from error


def _read_some(shard: Shard, reader: ValueReader, selection: Selection, out: Array) -> None:
    """Read parts of several inner chunks."""
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
                raise inside(error, shard.grid, int(numbers[position])) from error

        parallel = reader.requests is not None or shard.parallel(len(by_parts))
        run_in_threads(by_parts, work, parallel, reader.requests)
    read_found(shard, reader, numbers, found, place)


def _by_parts(shard: Shard, nbytes: int, whole: bool) -> bool:
    return shard.inner.reads_parts and not whole and nbytes > _SUBRANGE_PAYS
