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

    count = len(found)
    most = shard.most_items(count)
    run_in_threads(batches(found, most), work, shard.parallel(count), pieces=most)


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
