"""Decoding of a shard, or of a selection of it."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.engine.scratch import Scratch
from zarr_core.extension import BasicIndexer, BufferByteReader, ChunkDecodeError
from zarr_core.selection.projection import project
from zarr_core.threads import parallel_for

from zarr_sharding.index import EMPTY, ShardIndex
from zarr_sharding.inner_chunks import (
    BATCH_BYTES,
    GAP_BYTES,
    INNER_ERRORS,
    Batch,
    check_size,
    decode,
    for_each_batch,
    iter_inner_chunks,
    read_batch,
    read_inner_chunks,
    subrange,
    with_coordinates,
)
from zarr_sharding.shard import WINDOW, Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core.extension import ByteReader, Selection
    from zarr_core.selection.projection import ChunkProjection

    Array = np.ndarray[Any, Any]

_SMALL_BYTES = 1 << 14  # decoded bytes; smaller inner chunks are copied many at once
_TOGETHER_BYTES = 1 << 17  # decoded bytes that fit in the processor cache
_SUBRANGE_PAYS = 1 << 15  # encoded bytes; smaller inner chunks are read as a whole


def read_part(shard: Shard, reader: ByteReader, selection: Selection, out: Array) -> None:
    """Read a selection of a stored shard: the index, then only the selected inner chunks.

    Raises ChunkDecodeError if the index or a selected inner chunk is damaged.
    """
    if not out.size:
        return
    # A small shard, or one of which half is needed, is read at once: one request instead of two.
    size = reader.size
    # Not isinstance, which takes a third of a microsecond for an abstract class.
    if type(reader) is not BufferByteReader and (
        size <= GAP_BYTES or (size <= BATCH_BYTES and 2 * out.size >= shard.size)
    ):
        with Scratch(size) as memory:
            reader.read_into([(0, memory)])
            _read(shard, BufferByteReader(memory), selection, out)
        return
    _read(shard, reader, selection, out)


def _read(shard: Shard, reader: ByteReader, selection: Selection, out: Array) -> None:
    # The inner chunks of a shard are selected as the chunks of an array are.
    projections = project(selection, shard.axes, complete=False)
    if isinstance(projections, tuple):
        _read_one(shard, reader, projections[0], out)
    elif isinstance(selection, BasicIndexer) and selection.shape == shard.shape:
        read_all(shard, reader, out)
    else:
        _read_some(shard, reader, projections, out)


def _read_one(shard: Shard, reader: ByteReader, projection: ChunkProjection, out: Array) -> None:
    """Read a selection of one inner chunk."""
    chunk_coords, chunk_selection, _, _, is_whole = projection
    number = shard.number(chunk_coords)
    selection = None if is_whole else chunk_selection
    extent = shard.index.read_one(reader, number)
    if extent is None:
        shard.fill(out, number)
        return
    offset, nbytes = extent
    try:
        if type(reader) is BufferByteReader:
            decode(shard, reader.read(offset, nbytes), selection, out)
        elif not is_whole and _prefers_partial_decode(shard, nbytes):
            shard.inner.partial_decode(subrange(reader, offset, nbytes), chunk_selection, out)
        else:
            shard.inner.check_size(nbytes)
            with Scratch(nbytes) as memory:
                reader.read_into([(offset, memory)])
                decode(shard, memory, selection, out)
    except INNER_ERRORS as error:
        raise with_coordinates(error, shard.grid, number) from error


def _read_some(
    shard: Shard, reader: ByteReader, projections: Iterator[ChunkProjection], out: Array
) -> None:
    """Read a selection of several inner chunks: one read for the index, then neighbours together."""
    index = shard.index.read(reader)
    while window := list(islice(projections, WINDOW)):
        _read_window(shard, reader, index, window, out)


def _read_window(
    shard: Shard,
    reader: ByteReader,
    index: ShardIndex,
    projections: Sequence[ChunkProjection],
    out: Array,
) -> None:
    numbers = shard.numbers([projection.chunk_coords for projection in projections])
    ranges, empty = index.locate(numbers)
    for position in empty:
        if shard.missing_is_error:
            shard.fill(out, int(numbers[position]))
        out[projections[position].out_selection] = shard.fill_value

    def read_into(
        projection: ChunkProjection, read: Callable[[Selection | None, Array], None]
    ) -> None:
        _, selection, out_selection, _, is_whole = projection
        if type(selection) is BasicIndexer:
            read(None if is_whole else selection, out[out_selection])
        else:
            values = np.empty(selection.shape, out.dtype)
            read(selection, values)
            out[out_selection] = values

    def put(position: int, data: memoryview) -> None:
        read_into(
            projections[position],
            lambda selection, values: decode(shard, data, selection, values),
        )

    if shard.inner.prefers_partial_decode:
        # Large inner chunks with a small selection are decoded partially.
        partial = [
            item
            for item in ranges
            if not projections[item[2]].is_whole_encoded_chunk
            and _prefers_partial_decode(shard, item[1])
        ]
        chosen = {position for _, _, position in partial}
        ranges = [item for item in ranges if item[2] not in chosen]

        def work(item: tuple[int, int, int]) -> None:
            offset, nbytes, position = item
            source = subrange(reader, offset, nbytes)
            projection = projections[position]
            selection = projection.chunk_selection
            try:
                read_into(
                    projection,
                    lambda _, values: shard.inner.partial_decode(source, selection, values),
                )
            except INNER_ERRORS as error:
                raise with_coordinates(error, shard.grid, int(numbers[position])) from error

        parallel = reader.max_concurrency is not None or shard.parallel(len(partial))
        parallel_for(partial, work, parallel, reader.max_concurrency)
    read_inner_chunks(shard, reader, numbers, ranges, put)


def _prefers_partial_decode(shard: Shard, nbytes: int) -> bool:
    return shard.inner.prefers_partial_decode and nbytes > _SUBRANGE_PAYS


def read_all(shard: Shard, reader: ByteReader, out: Array) -> None:
    """Read all inner chunks."""
    if shard.flat is not None and isinstance(reader, BufferByteReader):
        # Reading the index of every nested shard at once takes a fraction of the time.  An error is
        # found again below, together with the coordinates in each shard.
        with suppress(ChunkDecodeError):
            data = reader.read(0, reader.size)
            _read_indexed(shard.flat, reader, read_flat_index(shard, shard.flat.grid, data), out)
            return
    _read_indexed(shard, reader, shard.index.read(reader), out)


def _read_indexed(shard: Shard, reader: ByteReader, index: ShardIndex, out: Array) -> None:
    blocks = shard.blocks(out)
    for first in range(0, shard.count, WINDOW):
        numbers = range(first, min(first + WINDOW, shard.count))
        _read_blocks(shard, reader, index, numbers, blocks, out)


def read_flat_index(shard: Shard, grid: tuple[int, ...], data: memoryview) -> ShardIndex:
    """Return the positions of the innermost chunks of nested shards in the outermost one.

    ``grid`` is the number of innermost chunks in each dimension, ``data`` the stored shard.
    Raises ChunkDecodeError if an index or an entry is damaged.
    """
    # Bytes and grid coordinates of the stored shards of one level.
    starts, stops = np.array([0]), np.array([len(data)])
    indices = [np.array([0]) for _ in grid]
    level: Shard | None = shard
    while level is not None:
        offsets, sizes, stored = level.index.read_several(data, starts, stops)
        inner = np.indices(level.grid).reshape(len(grid), -1)
        indices = [
            (index[:, None] * length + numbers)[stored]
            for index, length, numbers in zip(indices, level.grid, inner, strict=True)
        ]
        starts, stops = offsets, offsets + sizes
        level = level.inner_shard
    entries = np.full((prod(grid), 2), EMPTY, np.uint64)
    numbers = np.ravel_multi_index(indices, grid)
    entries[numbers, 0], entries[numbers, 1] = starts, stops - starts
    return ShardIndex(entries, 0, len(data), grid)


def _read_blocks(
    shard: Shard,
    reader: ByteReader,
    index: ShardIndex,
    numbers: range,
    blocks: Array,
    out: Array,
) -> None:
    """Read successive inner chunks; ``blocks`` is a view of ``out`` as inner chunks."""
    inner = shard.inner
    ranges, empty = index.locate(np.arange(numbers.start, numbers.stop))
    if not ranges and len(numbers) == shard.count:
        shard.fill(out, 0)
        return
    coordinates = shard.coordinates(numbers)
    for position in empty:
        shard.fill(blocks[coordinates[position]], numbers[position])
    if inner.is_raw and out.flags.c_contiguous and blocks[coordinates[0]].flags.c_contiguous:
        _read_memory(shard, reader, numbers, ranges, out)
        return
    small = inner.decoded.nbytes is not None and inner.decoded.nbytes <= _SMALL_BYTES
    if small and (inner.is_raw or inner.encoded_size is None):
        _read_small(shard, reader, numbers, ranges, blocks)
        return
    if shard.nested:

        def put(position: int, data: memoryview) -> None:
            inner.partial_decode(
                BufferByteReader(data), inner.full_selection, blocks[coordinates[position]]
            )
    else:

        def put(position: int, data: memoryview) -> None:
            inner.decode_into(data, blocks[coordinates[position]])

    read_inner_chunks(shard, reader, numbers, ranges, put)


def _read_small(
    shard: Shard,
    reader: ByteReader,
    numbers: range,
    ranges: Sequence[tuple[int, int, int]],
    blocks: Array,
) -> None:
    """Decode small inner chunks to contiguous memory, then copy many at once to ``out``."""
    inner = shard.inner
    nbytes = inner.decoded.nbytes or 1
    most = _TOGETHER_BYTES // nbytes
    decode_bytes_into = (
        inner.decode_bytes_into if inner.has_memory_layout and inner.bytes_to_bytes else None
    )
    dtype = inner.memory_dtype if decode_bytes_into else inner.dtype
    table = np.unravel_index(np.arange(numbers.start, numbers.stop), shard.grid)

    def put_rows(positions: list[int], data: memoryview) -> None:
        rows = np.frombuffer(data, dtype).reshape(-1, *shard.inner_shape)
        blocks[tuple(axis[positions] for axis in table)] = rows[: len(positions)]

    def work(batch: Batch) -> None:
        if inner.is_raw and batch.is_dense(nbytes):
            with read_batch(reader, batch) as memory:
                put_rows([item[3] for item in batch.items], memory)
            return
        count = min(most, len(batch.items))
        with Scratch(count * nbytes) as memory:
            rows = np.frombuffer(memory, dtype).reshape(count, *shard.inner_shape)
            positions: list[int] = []
            position = batch.items[0][3]
            try:
                check_size(shard, batch)
                for data, position in iter_inner_chunks(reader, batch):
                    row = len(positions)
                    if decode_bytes_into is None:
                        decode(shard, data, None, rows[row])
                    else:
                        decode_bytes_into(data, memory[row * nbytes : (row + 1) * nbytes])
                    positions.append(position)
                    if len(positions) == count:
                        put_rows(positions, memory)
                        positions = []
            except ChunkDecodeError as error:
                raise with_coordinates(error, shard.grid, numbers[position]) from error
            put_rows(positions, memory)

    for_each_batch(shard, reader, ranges, work)


def _read_memory(
    shard: Shard,
    reader: ByteReader,
    numbers: range,
    ranges: Sequence[tuple[int, int, int]],
    out: Array,
) -> None:
    """Read uncompressed inner chunks that are contiguous in ``out`` directly."""
    octets = out.reshape(-1).view(np.uint8).data
    expected = len(octets) // shard.count
    runs: list[list[int]] = []  # offset, first byte in out, length
    for offset, nbytes, position in ranges:
        if nbytes != expected:
            error = ChunkDecodeError(f"has {nbytes} bytes instead of {expected}")
            raise with_coordinates(error, shard.grid, numbers[position])
        target = numbers[position] * expected
        if runs:
            start, first, length = runs[-1]
            if (offset, target) == (
                start + length,
                first + length,
            ) and length + expected <= BATCH_BYTES:
                runs[-1][2] += expected
                continue
        runs.append([offset, target, expected])

    def work(some: Sequence[Sequence[int]]) -> None:
        reader.read_into([(offset, octets[at : at + length]) for offset, at, length in some])

    contiguous = reader.max_concurrency is not None
    step = 1 if contiguous else max(1, -(-len(runs) // 8))
    tasks = [runs[first : first + step] for first in range(0, len(runs), step)]
    parallel = contiguous or shard.parallel(len(ranges))
    parallel_for(tasks, work, parallel, reader.max_concurrency, -(-len(ranges) // 8))
