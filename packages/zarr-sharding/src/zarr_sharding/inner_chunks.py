"""Reading and decoding of located inner chunks, in batches."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr_core.engine.scratch import Scratch, remote_memory
from zarr_core.errors import MissingChunkError
from zarr_core.extension import BufferByteReader, ChunkDecodeError
from zarr_core.interfaces.byte_reader import WrapperReader
from zarr_core.threads import parallel_for

from zarr_sharding.index import coordinates

INNER_ERRORS = (ChunkDecodeError, MissingChunkError)
"""Errors of an inner chunk that get its coordinates."""

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from zarr_core.extension import ByteReader, Selection

    from zarr_sharding.index import Numbers
    from zarr_sharding.shard import Shard

    Array = np.ndarray[Any, Any]

BATCH_BYTES = 1 << 20
"""Encoded bytes in memory at once, for each thread."""

GAP_BYTES = 1 << 14
"""Largest gap that is read rather than skipped; a second read takes about as long."""


@dataclass(slots=True)
class Batch:
    """Inner chunks that are read together.

    Parameters
    ----------
    extents : list of [int, int]
        Start and stop of the byte ranges to read.
    items : list of (int, int, int, int)
        For each inner chunk: offset in the value, offset in the batch, length, and the
        position that the caller passed.
    nbytes : int
        Number of bytes to read.
    """

    extents: list[list[int]] = field(default_factory=list)
    items: list[tuple[int, int, int, int]] = field(default_factory=list)
    nbytes: int = 0

    def is_dense(self, length: int) -> bool:
        """Whether the batch consists of adjacent inner chunks of this length."""
        return self.nbytes == length * len(self.items) and all(
            item[1] == index * length and item[2] == length for index, item in enumerate(self.items)
        )


def batches(
    ranges: Sequence[tuple[int, int, int]],
    max_items: int,
    gap_nbytes: int = GAP_BYTES,
    contiguous: bool = False,
) -> list[Batch]:
    """Group neighbouring inner chunks into batches of :data:`BATCH_BYTES`, or one larger chunk.

    Parameters
    ----------
    ranges : sequence of (int, int, int)
        Offset, length and position, sorted by offset.
    max_items : int
        Maximum number of inner chunks in a batch.
    gap_nbytes : int
        Largest gap between two inner chunks that is read rather than skipped, in bytes.
    contiguous : bool
        Whether each batch is one contiguous byte range, for a separate request.
    """
    result: list[Batch] = []
    batch = Batch()
    extent = [0, 0]
    for offset, nbytes, position in ranges:
        stop = offset + nbytes
        if batch.items:
            near = offset - extent[1] <= gap_nbytes
            more = max(0, stop - extent[1]) if near else nbytes
            full = batch.nbytes + more > BATCH_BYTES or len(batch.items) >= max_items
            if full or (contiguous and not near):
                result.append(batch)
                batch = Batch()
            elif near:
                start = batch.nbytes + offset - extent[1]
                batch.items.append((offset, start, nbytes, position))
                batch.nbytes += more
                extent[1] += more
                continue
        extent = [offset, stop]
        batch.extents.append(extent)
        batch.items.append((offset, batch.nbytes, nbytes, position))
        batch.nbytes += nbytes
    if batch.items:
        result.append(batch)
    return result


@contextmanager
def read_batch(reader: ByteReader, batch: Batch) -> Iterator[memoryview]:
    """Read a batch; the memory is valid within the ``with`` block."""
    (start, stop), *others = batch.extents
    if isinstance(reader, BufferByteReader) and not others:
        yield reader.read(start, stop - start)
        return
    with Scratch(batch.nbytes) as memory:
        _read(reader, batch, memory)
        yield memory


def _read(reader: ByteReader, batch: Batch, memory: memoryview) -> None:
    parts = []
    position = 0
    for start, stop in batch.extents:
        parts.append((start, memory[position : position + stop - start]))
        position += stop - start
    reader.read_into(parts)


def iter_inner_chunks(
    reader: ByteReader, batch: Batch, persistent: bool = False
) -> Iterator[tuple[memoryview, int]]:
    """Read a batch and yield encoded bytes and position of each inner chunk.

    The bytes are valid until the next iteration, unless they are ``persistent``.
    """
    if isinstance(reader, BufferByteReader):
        for offset, _, nbytes, position in batch.items:
            yield reader.read(offset, nbytes), position
        return
    memory: AbstractContextManager[memoryview] = Scratch(batch.nbytes)
    if persistent:
        memory = nullcontext(memoryview(bytearray(batch.nbytes)))
    with memory as buffer:
        _read(reader, batch, buffer)
        for _, start, nbytes, position in batch.items:
            yield buffer[start : start + nbytes], position


def subrange(reader: ByteReader, start: int, size: int) -> ByteReader:
    """Return a reader of ``size`` bytes from ``start`` on."""
    if isinstance(reader, BufferByteReader):
        return BufferByteReader(reader.read(start, size))
    return WrapperReader(reader, start, size)


def for_each_batch(
    shard: Shard,
    reader: ByteReader,
    ranges: Sequence[tuple[int, int, int]],
    work: Callable[[Batch], None],
) -> None:
    """Call ``work`` for batches of neighbouring inner chunks.

    ``ranges`` has offset, length and position of each, sorted by offset.  If the store is remote,
    each batch is one request, and several requests are concurrent.
    """
    count, contiguous = len(ranges), reader.max_concurrency is not None
    most = shard.batch_size(count)

    def limited(batch: Batch) -> None:
        with remote_memory.reserve(lambda: batch.nbytes):
            work(batch)

    parallel_for(
        batches(ranges, most, reader.gap_nbytes, contiguous),
        limited if contiguous else work,
        contiguous or shard.parallel(count),
        reader.max_concurrency or shard.inner.max_concurrency,
        most,
    )


def check_size(shard: Shard, batch: Batch) -> None:
    """Raise a ChunkDecodeError if a batch is an inner chunk that is too large."""
    if batch.nbytes > BATCH_BYTES:
        shard.inner.check_size(batch.items[0][2])


def read_inner_chunks(
    shard: Shard,
    reader: ByteReader,
    numbers: Numbers | range,
    ranges: Sequence[tuple[int, int, int]],
    receive: Callable[[int, memoryview], None],
) -> None:
    """Read inner chunks in batches, and call ``receive`` with position and bytes of each."""

    def work(batch: Batch) -> None:
        position = batch.items[0][3]
        try:
            check_size(shard, batch)
            for data, position in iter_inner_chunks(reader, batch):
                receive(position, data)
        except INNER_ERRORS as error:
            raise with_coordinates(error, shard.grid, int(numbers[position])) from error

    for_each_batch(shard, reader, ranges, work)


def decode(shard: Shard, data: memoryview, selection: Selection | None, out: Array) -> None:
    """Decode one inner chunk in memory, or a selection of it."""
    inner = shard.inner
    if shard.nested if selection is None else inner.supports_partial_encode:
        inner.partial_decode(
            BufferByteReader(data), inner.full_selection if selection is None else selection, out
        )
    else:
        inner.decode_into(data, out, selection)


def with_coordinates(
    error: ChunkDecodeError | MissingChunkError, grid: tuple[int, ...], number: int
) -> ChunkDecodeError | MissingChunkError:
    """Return the error with the coordinates of its inner chunk."""
    inner = f"inner chunk {coordinates(grid, number)}"
    if isinstance(error, MissingChunkError):  # in a nested shard
        return MissingChunkError(error.location, f"{error.chunk} of {inner}")
    reason = f"{inner}: {error.reason}"
    return type(error)(reason, error.codec, error.location)
