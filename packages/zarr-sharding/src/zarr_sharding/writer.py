"""Encoding of a shard, partial encoding into a stored one, and assembly from inner chunks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from zarr_core.engine.scratch import Scratch
from zarr_core.extension import BufferByteReader, ChunkDecodeError
from zarr_core.selection.projection import project, put
from zarr_core.threads import parallel_for

from zarr_sharding.index import EMPTY
from zarr_sharding.inner_chunks import (
    BATCH_BYTES,
    Batch,
    for_each_batch,
    iter_inner_chunks,
    with_coordinates,
)
from zarr_sharding.shard import WINDOW, Shard

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core.extension import Buffer, Buffers, ByteReader, Selection
    from zarr_core.selection.projection import ChunkProjection

    from zarr_sharding.index import Entries, IndexFormat, Numbers, ShardIndex

    Array = np.ndarray[Any, Any]
    Encoded: TypeAlias = Buffers | None

_MANY_BUFFERS = 1024  # that a system call writes
_REFERENCE_BYTES = 1 << 16  # mean length of parts that the store copies
_SMALL_BYTES = 1 << 10  # mean length of buffers that are joined


def encode_shard(shard: Shard, array: Array) -> list[Buffer] | None:
    """Encode a whole shard: inner chunks in C order, with the index before or after them.

    Returns None if all inner chunks are empty.
    """
    if not shard.grid:
        return assemble(shard.index, [EncodedChunks.of([0], [_encode(shard, array)])])
    blocks = shard.blocks(array)
    count = shard.count
    step = min(shard.batch_size(count), WINDOW)
    tasks = shard.slabs(step)
    parts: list[EncodedChunks] = [EncodedChunks.of((), ())] * len(tasks)

    def work(task: int) -> None:
        numbers, index = tasks[task]
        if shard.is_memory:
            parts[task] = _encode_memory(shard, numbers, blocks[index])
        else:
            encoded = [_encode(shard, blocks[coords]) for coords in shard.coordinates(numbers)]
            parts[task] = EncodedChunks.of(numbers, encoded)

    parallel_for(range(len(tasks)), work, shard.parallel(count), shard.inner.max_concurrency, step)
    return assemble(shard.index, parts)


def change_shard(
    shard: Shard, reader: ByteReader | None, selection: Selection, value: Array
) -> list[Buffer] | None:
    """Encode a shard with a new selection of elements; return the same as :func:`encode_shard`.

    Inner chunks outside the selection keep their stored bytes and are not decoded.  Bytes that no
    inner chunk refers to are dropped.  ``reader`` is None if the shard is missing.

    Raises
    ------
    ChunkDecodeError
        If the index or a partially selected inner chunk is damaged, or an inner chunk to
        keep is beyond the shard.
    """
    index = None if reader is None else shard.index.read(reader)
    # Encode the inner chunks with new elements, ...
    untouched = np.ones(shard.count, np.bool_)
    parts: list[EncodedChunks] = []
    projections = iter(project(selection, shard.axes))
    while window := list(islice(projections, WINDOW)):
        numbers = shard.numbers([projection.chunk_coords for projection in window])
        untouched[numbers] = False
        encoded = _encode_window(shard, reader, index, window, numbers, value)
        parts.append(EncodedChunks.of(numbers, encoded))
    # ... read the stored bytes of all others, and put everything together under a new index.
    if reader is not None and index is not None:
        parts.insert(0, EncodedChunks.read(reader, index, np.flatnonzero(untouched)))
    return assemble(shard.index, parts)


def _encode_window(
    shard: Shard,
    reader: ByteReader | None,
    index: ShardIndex | None,
    projections: Sequence[ChunkProjection],
    numbers: Numbers,
    value: Array,
) -> list[Encoded]:
    """Encode the inner chunks of these projections with new elements."""
    inner = shard.inner
    encoded: list[Encoded] = [None] * len(projections)
    created: Sequence[int] = range(len(projections))  # positions; nothing stored is needed

    if reader is not None and index is not None:
        # Inner chunks that keep some of their elements are read first, neighbours together.
        is_partial = [not projection.is_complete_chunk for projection in projections]
        partial = np.flatnonzero(is_partial)
        ranges, _ = index.locate(numbers[partial])
        changed = [(offset, nbytes, int(partial[i])) for offset, nbytes, i in ranges]
        changed_positions = {position for _, _, position in changed}
        created = [position for position in created if position not in changed_positions]

        def change(batch: Batch) -> None:
            position = 0
            try:
                # Nested shards remain in memory: the bytes that do not change are copied from it.
                for data, position in iter_inner_chunks(reader, batch, persistent=shard.nested):
                    selection, elements = _part(projections[position], value)
                    if shard.nested:
                        source = BufferByteReader(data)
                        encoded[position] = inner.partial_encode(source, selection, elements)
                        continue
                    array = np.empty(shard.inner_shape, inner.dtype)
                    inner.decode_into(data, array)
                    put(array, selection, elements)
                    encoded[position] = _encode(shard, array)
            except ChunkDecodeError as error:
                raise with_coordinates(error, shard.grid, int(numbers[position])) from error

        for_each_batch(shard, reader, changed, change)

    def create(positions: Sequence[int]) -> None:
        for position in positions:
            encoded[position] = _encode_new(shard, projections[position], value)

    step = shard.batch_size(len(created))
    tasks = [created[first : first + step] for first in range(0, len(created), step)]
    parallel_for(tasks, create, shard.parallel(len(created)), shard.inner.max_concurrency, step)
    return encoded


def _part(projection: ChunkProjection, value: Array) -> tuple[Selection, Array]:
    """The selection in an inner chunk, and its new elements."""
    return projection.chunk_selection, value[projection.out_selection]


def _encode_new(shard: Shard, projection: ChunkProjection, value: Array) -> Encoded:
    """Encode an inner chunk that was empty, or is overwritten completely."""
    inner = shard.inner
    selection, elements = _part(projection, value)
    if projection.is_whole_encoded_chunk:
        return _encode(shard, elements)
    is_complete = projection.is_complete_chunk  # but by indices in another order
    if shard.nested and not is_complete:
        return inner.partial_encode(None, selection, elements)
    array = np.empty(shard.inner_shape, inner.dtype)
    if not is_complete:
        array[...] = shard.fill_value
    put(array, selection, elements)
    return _encode(shard, array)


def _encode(shard: Shard, array: Array) -> Encoded:
    """Encode an inner chunk; return None if it is empty."""
    inner = shard.inner
    nbytes = inner.decoded.nbytes
    fixed = inner.encoded_size is not None
    if fixed or nbytes is None or shard.nested or array.flags.c_contiguous:
        return inner.encode(array)
    # Compressors return their own memory, so the C-order copy of their input can be in
    # reused memory.
    with Scratch(nbytes) as memory:
        encoded = inner.encode(array, memory)
        if encoded is None or isinstance(encoded, bytes | bytearray):
            return encoded
        if isinstance(encoded, memoryview):
            return bytes(encoded)
        return [bytes(part) if isinstance(part, memoryview) else part for part in encoded]


def _encode_memory(shard: Shard, numbers: range, blocks: Array) -> EncodedChunks:
    """Encode successive inner chunks that are stored as their memory, all at once.

    ``blocks`` has the shape ``(..., *inner_shape)``.
    """
    inner = shard.inner
    array = np.ascontiguousarray(blocks, inner.memory_dtype)
    rows = array.reshape(-1).view(np.uint8).reshape(len(numbers), -1)
    stored = np.arange(numbers.start, numbers.stop)
    if not inner.decoded.write_empty_chunks:
        empty = _equal_rows(rows, np.asarray(shard.fill_value, inner.memory_dtype))
        if empty.any():
            rows, stored = rows[~empty], stored[~empty]
    count, nbytes = rows.shape
    entries = np.empty((count, 2), np.uint64)
    entries[:, 0] = np.arange(0, count * nbytes, nbytes)
    entries[:, 1] = nbytes
    return EncodedChunks([rows.reshape(-1).data], rows.size, stored, entries)


def _equal_rows(rows: Array, element: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which rows of bytes consist of one element, bit for bit."""
    nbytes = rows.shape[1]
    pattern = np.frombuffer(element.tobytes() * (nbytes // element.itemsize), np.uint8)
    word = next(size for size in (8, 4, 2, 1) if nbytes % size == 0)
    words, expected = rows.view(f"u{word}"), pattern.view(f"u{word}")
    # Most rows differ in the middle or at the start.
    middle = len(expected) // 2
    equal: np.ndarray[Any, np.dtype[np.bool_]]
    equal = (words[:, middle] == expected[middle]) & (words[:, 0] == expected[0])
    step = max(1, BATCH_BYTES // nbytes)
    candidates = np.flatnonzero(equal)
    for first in range(0, len(candidates), step):
        some = candidates[first : first + step]
        equal[some] = (words[some] == expected).all(axis=1)
    return equal


@dataclass(frozen=True, slots=True)
class EncodedChunks:
    """Encoded inner chunks, new ones or those of an old shard.

    Parameters
    ----------
    buffers : sequence of Buffer
        Bytes of the inner chunks; inner chunks that overlap in an old shard still overlap.
    nbytes : int
        Total length of the buffers, in bytes.
    numbers : ndarray of int
        Linear indices of the inner chunks in C order.
    entries : ndarray of uint64, shape (inner chunks, 2)
        Offset in the buffers and length of each inner chunk, in bytes.
    """

    buffers: Sequence[Buffer]
    nbytes: int
    numbers: Numbers
    entries: Entries

    @classmethod
    def of(cls, numbers: Iterable[int], encoded: Iterable[Encoded]) -> EncodedChunks:
        """Return new inner chunks; an encoded one is None if it is empty."""
        stored = []
        lengths = []
        buffers: list[Buffer] = []
        for number, data in zip(numbers, encoded, strict=True):
            if data is None:
                continue
            if isinstance(data, bytes | bytearray | memoryview):
                buffers.append(data)
                lengths.append(len(data))
            else:
                buffers += data
                lengths.append(sum(map(len, data)))
            stored.append(number)
        entries = np.empty((len(stored), 2), np.uint64)
        entries[:, 1] = lengths
        entries[:, 0] = entries[:, 1].cumsum() - entries[:, 1]
        nbytes = sum(lengths)
        if len(buffers) > _MANY_BUFFERS and nbytes <= _SMALL_BYTES * len(buffers):
            buffers = [b"".join(buffers)]  # the objects are larger than the copy
        return cls(buffers, nbytes, np.asarray(stored, np.intp), entries)

    @classmethod
    def read(cls, reader: ByteReader, index: ShardIndex, numbers: Numbers) -> EncodedChunks:
        """Read inner chunks from a stored shard, each byte once."""
        order, _ = index.order(numbers)
        numbers = numbers[order]
        entries = index.entries[numbers]
        if not len(entries):
            return cls((), 0, numbers, entries)
        # Inner chunks that overlap or are adjacent form an extent.
        offsets = entries[:, 0].astype(np.int64)
        stops = offsets + entries[:, 1].astype(np.int64)
        np.maximum.accumulate(stops, out=stops)
        firsts = np.flatnonzero(np.append(True, offsets[1:] > stops[:-1]))
        starts = offsets[firsts]
        sizes = stops[np.append(firsts[1:], len(stops)) - 1] - starts
        positions = sizes.cumsum() - sizes
        moved = np.repeat(starts - positions, np.diff(firsts, append=len(offsets)))
        entries[:, 0] = offsets - moved
        nbytes = int(sizes.sum())
        extents = [*zip(starts.tolist(), positions.tolist(), sizes.tolist(), strict=True)]
        if isinstance(reader, BufferByteReader):
            return cls([reader.read(at, size) for at, _, size in extents], nbytes, numbers, entries)
        if nbytes >= _REFERENCE_BYTES * len(extents):
            references = [reader.reference(at, size) for at, _, size in extents]
            buffers = [buffer for buffer in references if buffer is not None]
            if len(buffers) == len(extents):
                return cls(buffers, nbytes, numbers, entries)
        memory = np.empty(nbytes, np.uint8).data
        reader.read_into([(at, memory[first : first + size]) for at, first, size in extents])
        return cls([memory], nbytes, numbers, entries)


def assemble(index: IndexFormat, parts: Sequence[EncodedChunks]) -> list[Buffer] | None:
    """Return a shard: the index and the inner chunks of all parts; None if all are empty."""
    offset = index.size if index.at_start else 0
    buffers: list[Buffer] = []
    entries = np.full((index.count, 2), EMPTY, np.uint64)
    is_empty = True
    for part in parts:
        if len(part.numbers):
            is_empty = False
            entries[part.numbers] = part.entries + np.array((offset, 0), np.uint64)
            buffers += part.buffers
            offset += part.nbytes
    if is_empty:
        return None
    last = index.encode(entries)
    return last + buffers if index.at_start else buffers + last
