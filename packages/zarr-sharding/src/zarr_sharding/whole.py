"""Reading every inner chunk of a shard, by the shortest way to its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import BufferReader, ChunkDecodeError, run_in_threads, scratch

from zarr_sharding.inner import decode, in_batches, inside, read_found
from zarr_sharding.ranges import BATCH_BYTES, Batch, memory_of, pieces
from zarr_sharding.shard import WINDOW, Shard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import ValueReader

    from zarr_sharding.index import ShardIndex

    Array = np.ndarray[Any, Any]

_SMALL_BYTES = 1 << 14  # decoded bytes of an inner chunk; the copy to its place costs as much
_TOGETHER_BYTES = 1 << 17  # decoded bytes that stay in the processor's cache


def read_all(shard: Shard, reader: ValueReader, out: Array) -> None:
    """Read every inner chunk."""
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
    """Read successive inner chunks; ``blocks`` is ``out``, seen as inner chunks."""
    inner = shard.inner
    found, empty = index.locate(np.arange(numbers.start, numbers.stop))
    if not found and len(numbers) == shard.count:
        out[...] = shard.fill_value
        return
    coordinates = shard.coordinates(numbers)
    for position in empty:
        blocks[coordinates[position]][...] = shard.fill_value
    if inner.is_memory and out.flags.c_contiguous and blocks[coordinates[0]].flags.c_contiguous:
        _read_memory(shard, reader, numbers, found, out)
        return
    small = inner.decoded.nbytes is not None and inner.decoded.nbytes <= _SMALL_BYTES
    if small and (inner.is_memory or inner.encoded_size is None):
        _read_small(shard, reader, numbers, found, blocks)
        return
    if shard.nested:

        def place(position: int, piece: memoryview) -> None:
            inner.read_part(BufferReader(piece), shard.whole, blocks[coordinates[position]])
    else:

        def place(position: int, piece: memoryview) -> None:
            inner.decode_into(piece, blocks[coordinates[position]])

    read_found(shard, reader, numbers, found, place)


def _read_small(
    shard: Shard,
    reader: ValueReader,
    numbers: range,
    found: Sequence[tuple[int, int, int]],
    blocks: Array,
) -> None:
    """Read small inner chunks one behind the other, then move many at once to their places."""
    inner = shard.inner
    nbytes = inner.decoded.nbytes or 1
    most = _TOGETHER_BYTES // nbytes
    unpack = inner.unpack if inner.is_plain and inner.bytes_to_bytes else None
    dtype = inner.memory_dtype if unpack else inner.dtype
    table = np.unravel_index(np.arange(numbers.start, numbers.stop), shard.grid)

    def put_rows(positions: list[int], data: memoryview) -> None:
        rows = np.frombuffer(data, dtype).reshape(-1, *shard.inner_shape)
        blocks[tuple(axis[positions] for axis in table)] = rows[: len(positions)]

    def work(batch: Batch) -> None:
        if inner.is_memory and batch.is_dense(nbytes):
            with memory_of(reader, batch) as memory:
                put_rows([item[3] for item in batch.items], memory)
            return
        room = min(most, len(batch.items))
        with scratch(room * nbytes) as memory:
            rows = np.frombuffer(memory, dtype).reshape(room, *shard.inner_shape)
            places: list[int] = []
            position = 0
            try:
                for piece, position in pieces(reader, batch):
                    row = len(places)
                    if unpack is None:
                        decode(shard, piece, None, rows[row])
                    else:
                        unpack(piece, memory[row * nbytes : (row + 1) * nbytes])
                    places.append(position)
                    if len(places) == room:
                        put_rows(places, memory)
                        places = []
            except ChunkDecodeError as error:
                raise inside(error, shard.grid, numbers[position]) from error
            put_rows(places, memory)

    in_batches(shard, reader, found, work)


def _read_memory(
    shard: Shard,
    reader: ValueReader,
    numbers: range,
    found: Sequence[tuple[int, int, int]],
    out: Array,
) -> None:
    """Read inner chunks that lie one behind the other in ``out`` just as they are stored."""
    octets = out.reshape(-1).view(np.uint8).data
    expected = len(octets) // shard.count
    runs: list[list[int]] = []  # offset, first byte in out, length
    for offset, nbytes, position in found:
        if nbytes != expected:
            error = ChunkDecodeError(f"{nbytes} bytes instead of {expected}")
            raise inside(error, shard.grid, numbers[position])
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

    apart = reader.requests is not None
    step = 1 if apart else max(1, -(-len(runs) // 8))
    tasks = [runs[first : first + step] for first in range(0, len(runs), step)]
    parallel = apart or shard.parallel(len(found))
    run_in_threads(tasks, work, parallel, reader.requests, -(-len(found) // 8))
