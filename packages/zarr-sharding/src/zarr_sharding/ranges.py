"""Reading many inner chunks with few reads."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zarr_core.extension import BufferReader, StoreReadError, ValueReader, scratch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BATCH_BYTES = 1 << 20
"""Encoded bytes that are in memory at once, for each thread."""

GAP_BYTES = 1 << 14
"""Unneeded bytes that are read rather than skipped; a second read costs about as much."""


@dataclass(slots=True)
class Batch:
    """Inner chunks that are read together.

    Parameters
    ----------
    extents : list of [int, int]
        Start and stop of what is read.
    items : list of (int, int, int, int)
        Offset in the value, position in what is read, length, and the number that
        the caller gave.
    nbytes : int
        How much is read.
    """

    extents: list[list[int]] = field(default_factory=list)
    items: list[tuple[int, int, int, int]] = field(default_factory=list)
    nbytes: int = 0

    def is_dense(self, length: int) -> bool:
        """Whether it is inner chunks of this length, one behind the other."""
        return self.nbytes == length * len(self.items) and all(
            item[1] == place * length and item[2] == length for place, item in enumerate(self.items)
        )


def batches(
    found: Sequence[tuple[int, int, int]],
    most_items: int,
    gap_bytes: int = GAP_BYTES,
    apart: bool = False,
) -> list[Batch]:
    """Put inner chunks together that lie together.

    Parameters
    ----------
    found : sequence of (int, int, int)
        Offset, length and a number, in the order of the offsets.
    most_items : int
        Inner chunks in a batch.
    gap_bytes : int
        Unneeded bytes between two that are read rather than skipped.
    apart : bool
        Whether each batch is one piece of the value: a request of its own.

    Returns
    -------
    list of Batch
        None of them is larger than :data:`BATCH_BYTES`, unless one inner chunk is.
    """
    made: list[Batch] = []
    batch = Batch()
    extent = [0, 0]
    for offset, nbytes, number in found:
        stop = offset + nbytes
        if batch.items:
            near = offset - extent[1] <= gap_bytes
            more = max(0, stop - extent[1]) if near else nbytes
            full = batch.nbytes + more > BATCH_BYTES or len(batch.items) >= most_items
            if full or (apart and not near):
                made.append(batch)
                batch = Batch()
            elif near:
                position = batch.nbytes + offset - extent[1]
                batch.items.append((offset, position, nbytes, number))
                batch.nbytes += more
                extent[1] += more
                continue
        extent = [offset, stop]
        batch.extents.append(extent)
        batch.items.append((offset, batch.nbytes, nbytes, number))
        batch.nbytes += nbytes
    if batch.items:
        made.append(batch)
    return made


@contextmanager
def memory_of(reader: ValueReader, batch: Batch) -> Iterator[memoryview]:
    """Read a batch; what was read is valid within the block."""
    (start, stop), *others = batch.extents
    if isinstance(reader, BufferReader) and not others:
        yield reader.read(start, stop - start)
        return
    with scratch(batch.nbytes) as memory:
        _read(reader, batch, memory)
        yield memory


def _read(reader: ValueReader, batch: Batch, memory: memoryview) -> None:
    parts = []
    position = 0
    for start, stop in batch.extents:
        parts.append((start, memory[position : position + stop - start]))
        position += stop - start
    reader.read_into(parts)


def pieces(reader: ValueReader, batch: Batch) -> Iterator[tuple[memoryview, int]]:
    """Read a batch, then cut it up.

    Yields
    ------
    tuple of (memoryview, int)
        The encoded bytes of an inner chunk, valid until the next one is asked
        for, with its number.
    """
    if isinstance(reader, BufferReader):
        for offset, _, nbytes, number in batch.items:
            yield reader.read(offset, nbytes), number
        return
    with memory_of(reader, batch) as memory:
        for _, position, nbytes, number in batch.items:
            yield memory[position : position + nbytes], number


def lasting_pieces(reader: ValueReader, batch: Batch) -> Iterator[tuple[memoryview, int]]:
    """The same, of bytes that stay valid: parts of them become parts of a new value."""
    if isinstance(reader, BufferReader):
        yield from pieces(reader, batch)
        return
    memory = memoryview(bytearray(batch.nbytes))
    _read(reader, batch, memory)
    for _, position, nbytes, number in batch.items:
        yield memory[position : position + nbytes], number


class SubrangeReader(ValueReader):
    """A part of a value, as a value of its own: a shard within a shard.

    Parameters
    ----------
    reader : ValueReader
        The whole value.
    start, size : int
        The part, which lies within the value.
    """

    def __init__(self, reader: ValueReader, start: int, size: int) -> None:
        self._reader = reader
        self._start = start
        self._size = size
        self.requests = reader.requests
        self.gap_bytes = reader.gap_bytes

    @property
    def size(self) -> int:
        """Length of the part, in bytes."""
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        """Read several parts of the part."""
        for start, buffer in parts:
            self._check(start, len(buffer))
        self._reader.read_into([(self._start + start, buffer) for start, buffer in parts])

    def read(self, start: int, length: int) -> memoryview:
        """Read one part of the part."""
        self._check(start, length)
        return self._reader.read(self._start + start, length)

    def _check(self, start: int, length: int) -> None:
        if start < 0 or start + length > self._size:
            raise StoreReadError(
                f"bytes {start} to {start + length} of a part of {self._size} bytes"
            )


def subrange(reader: ValueReader, start: int, size: int) -> ValueReader:
    """Make a reader of ``size`` bytes from ``start`` on."""
    if isinstance(reader, BufferReader):
        return BufferReader(reader.read(start, size))
    return SubrangeReader(reader, start, size)
