"""Encoding of a shard, partial encoding into a stored one, and assembly from inner chunks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from zarr_core.extension import BufferByteReader, ChunkDecodeError
from zarr_core.tools import parallel_for, project, put, scratch

from zarr_sharding.index import EMPTY
from zarr_sharding.inner_chunks import (
    Batch,
    for_each_batch,
    iter_inner_chunks,
    iter_persistent,
    with_coordinates,
)
from zarr_sharding.shard import WINDOW, Shard

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core.extension import Buffer, Buffers, ByteReader, Selection
    from zarr_core.tools import ChunkProjection

    from zarr_sharding.index import IndexFormat, Numbers, ShardIndex

    Array = np.ndarray[Any, Any]
    Encoded: TypeAlias = list[Buffer] | None


def encode_shard(shard: Shard, array: Array) -> list[Buffer] | None:
    """Encode a whole shard.

    Parameters
    ----------
    shard : Shard
        Shape and codecs of the shard.
    array : ndarray
        All elements of the shard.

    Returns
    -------
    list of Buffer or None
        Inner chunks in C order, with the index before or after them; None if all
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

        step = shard.batch_size(count)
        tasks = [range(first, min(first + step, count)) for first in range(0, count, step)]
        parallel_for(tasks, work, shard.parallel(count), pieces=step)
    return assemble(shard.index, RetainedChunks.empty(), range(len(encoded)), encoded)


def change_shard(
    shard: Shard, reader: ByteReader | None, selection: Selection, value: Array
) -> list[Buffer] | None:
    """Encode a shard with a new selection of elements.

    Inner chunks outside the selection keep their stored bytes and are not decoded.
    Bytes that no inner chunk refers to are dropped.

    Parameters
    ----------
    shard : Shard
        Shape and codecs of the shard.
    reader : ByteReader or None
        The stored shard; None if it is missing.
    selection : Selection
        Selection within the shard.
    value : ndarray
        New elements, with the shape of the selection.

    Returns
    -------
    list of Buffer or None
        As :func:`encode_shard`.

    Raises
    ------
    ChunkDecodeError
        If the index or a partially selected inner chunk is damaged, or an inner chunk to
        keep is beyond the shard.
    """
    index = None if reader is None else shard.index.read(reader)
    untouched = np.ones(shard.count, np.bool_)
    touched: list[int] = []
    encoded: list[list[Buffer] | None] = []
    projections = iter(project(selection, shard.axes))
    while window := list(islice(projections, WINDOW)):
        numbers = shard.numbers([projection.chunk_coords for projection in window])
        untouched[numbers] = False
        touched += numbers.tolist()
        encoded += _encode_window(shard, reader, index, window, numbers, value)
    kept = RetainedChunks.empty()
    if reader is not None and index is not None:
        kept = RetainedChunks.read(reader, index, np.flatnonzero(untouched))
    return assemble(shard.index, kept, touched, encoded)


def _encode_window(
    shard: Shard,
    reader: ByteReader | None,
    index: ShardIndex | None,
    projections: Sequence[ChunkProjection],
    numbers: Numbers,
    value: Array,
) -> list[list[Buffer] | None]:
    """Encode inner chunks with new elements in these projections."""
    inner = shard.inner
    encoded: list[list[Buffer] | None] = [None] * len(projections)
    new: Sequence[int] = range(len(projections))  # positions of inner chunks without stored bytes

    def source(position: int) -> Array:
        new: Array = value[projections[position].out_selection]
        return new

    if reader is not None and index is not None:
        partial = np.asarray(
            [p for p, it in enumerate(projections) if not it.is_complete_chunk], np.intp
        )
        found, _ = index.locate(numbers[partial])
        old = [(offset, nbytes, int(partial[place])) for offset, nbytes, place in found]
        changed = {position for _, _, position in old}
        new = [position for position in new if position not in changed]

        def change(batch: Batch) -> None:
            position = 0
            try:
                if shard.nested:
                    # Read nested shards as a whole: unchanged bytes are copied too.
                    for data, position in iter_persistent(reader, batch):
                        selection = projections[position].chunk_selection
                        encoded[position] = to_buffers(
                            inner.partial_encode(
                                BufferByteReader(data), selection, source(position)
                            )
                        )
                    return
                for data, position in iter_inner_chunks(reader, batch):
                    array = np.empty(shard.inner_shape, inner.dtype)
                    inner.decode_into(data, array)
                    put(array, projections[position].chunk_selection, source(position))
                    encoded[position] = _encode(shard, array)
            except ChunkDecodeError as error:
                raise with_coordinates(error, shard.grid, int(numbers[position])) from error

        for_each_batch(shard, reader, old, change)

    def make(positions: Sequence[int]) -> None:
        for position in positions:
            encoded[position] = _encode_new(shard, projections[position], source(position))

    step = shard.batch_size(len(new))
    tasks = [new[first : first + step] for first in range(0, len(new), step)]
    parallel_for(tasks, make, shard.parallel(len(new)), pieces=step)
    return encoded


def _encode_new(shard: Shard, projection: ChunkProjection, value: Array) -> Encoded:
    """Encode an inner chunk that was empty, or is overwritten completely."""
    inner = shard.inner
    _, selection, _, is_complete, is_whole = projection
    if is_whole:
        return _encode(shard, value)
    if shard.nested and not is_complete:
        return to_buffers(inner.partial_encode(None, selection, value))
    array = np.empty(shard.inner_shape, inner.dtype)
    if not is_complete:
        array[...] = shard.fill_value
    put(array, selection, value)
    return _encode(shard, array)


def _encode(shard: Shard, array: Array) -> Encoded:
    """Encode an inner chunk; return None if it is empty."""
    inner = shard.inner
    nbytes = inner.decoded.nbytes
    fixed = inner.encoded_size is not None
    if fixed or nbytes is None or shard.nested or array.flags.c_contiguous:
        return to_buffers(inner.encode(array))
    # Compressors return their own memory, so the C-order copy of their input can be in
    # reused memory.
    with scratch(nbytes) as memory:
        encoded = to_buffers(inner.encode(array, memory))
        if encoded is None:
            return None
        return [bytes(it) if isinstance(it, memoryview) else it for it in encoded]


# --- assembly ---


@dataclass(frozen=True, slots=True)
class RetainedChunks:
    """Encoded inner chunks that are copied from the old shard to the new one.

    Parameters
    ----------
    buffers : list of Buffer
        Bytes of the inner chunks; inner chunks that overlap in the old shard still overlap.
    nbytes : int
        Total length of the buffers, in bytes.
    numbers : list of int
        Linear indices of the inner chunks in C order.
    entries : list of (int, int)
        Offset in the buffers and length of each inner chunk, in bytes.
    """

    buffers: list[Buffer]
    nbytes: int
    numbers: list[int]
    entries: list[tuple[int, int]]

    @classmethod
    def empty(cls) -> RetainedChunks:
        """Return an instance without inner chunks."""
        return cls([], 0, [], [])

    @classmethod
    def read(cls, reader: ByteReader, index: ShardIndex, numbers: Numbers) -> RetainedChunks:
        """Read inner chunks from a stored shard, each byte once."""
        found, _ = index.locate(numbers)
        extents: list[list[int]] = []
        entries = []
        total = 0  # length of all extents, including the current one
        for offset, nbytes, _ in found:
            stop = offset + nbytes
            if not extents or offset > extents[-1][1]:
                extents.append([offset, offset])
            extent = extents[-1]
            entries.append((total - (extent[1] - offset), nbytes))
            if stop > extent[1]:
                total += stop - extent[1]
                extent[1] = stop
        buffers: list[Buffer]
        if isinstance(reader, BufferByteReader):
            buffers = [reader.read(start, stop - start) for start, stop in extents]
        else:
            memory = np.empty(total, np.uint8).data
            parts = []
            position = 0
            for start, stop in extents:
                parts.append((start, memory[position : position + stop - start]))
                position += stop - start
            if parts:
                reader.read_into(parts)
            buffers = [memory]
        return cls(buffers, total, [int(numbers[place]) for _, _, place in found], entries)


def assemble(
    index: IndexFormat, kept: RetainedChunks, numbers: Iterable[int], encoded: Iterable[Encoded]
) -> list[Buffer] | None:
    """Assemble a shard: the index and all inner chunks.

    Parameters
    ----------
    index : IndexFormat
        Format of the index.
    kept : RetainedChunks
        Inner chunks from the old shard.
    numbers : iterable of int
        Linear indices of the new inner chunks.
    encoded : iterable of (list of Buffer or None)
        Encoded new inner chunks; None for an empty one.

    Returns
    -------
    list of Buffer or None
        None if all inner chunks are empty.
    """
    buffers = list(kept.buffers)
    start = index.size if index.at_start else 0
    stored = list(kept.numbers)
    places = [(start + offset, nbytes) for offset, nbytes in kept.entries]
    offset = start + kept.nbytes
    for number, data in zip(numbers, encoded, strict=True):
        if data is None:
            continue
        nbytes = len(data[0]) if len(data) == 1 else sum(map(len, data))
        stored.append(int(number))
        places.append((offset, nbytes))
        buffers += data
        offset += nbytes
    if not stored:
        return None
    entries = np.full((index.count, 2), EMPTY, np.uint64)
    entries[stored] = places
    last = index.encode(entries)
    return last + buffers if index.at_start else buffers + last


def to_buffers(encoded: Buffers | None) -> Encoded:
    """Return a value as a list of buffers."""
    if encoded is None:
        return None
    return [encoded] if isinstance(encoded, bytes | bytearray | memoryview) else list(encoded)
