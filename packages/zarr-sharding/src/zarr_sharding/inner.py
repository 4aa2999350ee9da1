"""Inner chunks that the index has found: reading them, naming those that are damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import BufferReader, ChunkDecodeError, run_in_threads

from zarr_sharding.index import coordinates
from zarr_sharding.ranges import Batch, batches, pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from zarr_core.extension import Selection, ValueReader

    from zarr_sharding.index import Numbers
    from zarr_sharding.shard import Shard

    Array = np.ndarray[Any, Any]


def in_batches(
    shard: Shard,
    reader: ValueReader,
    found: Sequence[tuple[int, int, int]],
    work: Callable[[Batch], None],
) -> None:
    """Have ``work`` done on inner chunks that lie together.

    Parameters
    ----------
    shard : Shard
        Shape and codecs.
    reader : ValueReader
        The stored shard; if it has latency, each batch is one request, many of which
        are in flight.
    found : sequence of (int, int, int)
        Offset, length and a number, in the order of the offsets.
    work : callable
        Reads a batch, does what is to be done with it.
    """
    count, apart = len(found), reader.requests is not None
    most = shard.most_items(count)
    run_in_threads(
        batches(found, most, reader.gap_bytes, apart),
        work,
        apart or shard.parallel(count),
        reader.requests,
        most,
    )


def read_found(
    shard: Shard,
    reader: ValueReader,
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
            raise inside(error, shard.grid, int(numbers[position])) from error

    in_batches(shard, reader, found, work)


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


def inside(error: ChunkDecodeError, grid: tuple[int, ...], number: int) -> ChunkDecodeError:
    """Make the error of an inner chunk say which one it is."""
    reason = f"inner chunk {coordinates(grid, number)}: {error.reason}"
    return type(error)(reason, error.codec, error.where)
