"""Reading a selection: from chunks in a store into an array in memory."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.scratch import scratch
from zarr_core.errors import ChunkDecodeError, MissingChunkError, ValueReplacedError
from zarr_core.interfaces.value import ByteRange
from zarr_core.selection.normalised import Box
from zarr_core.selection.projection import chunk_count, project, single_chunk
from zarr_core.threads import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core.engine.bound import BoundChain
    from zarr_core.engine.chunks import ChunkBox, Chunks
    from zarr_core.interfaces.codec import Buffer
    from zarr_core.interfaces.value import ValueReader
    from zarr_core.selection.normalised import Selection
    from zarr_core.selection.projection import Part

    Array = np.ndarray[Any, Any]

_TOGETHER = 16  # small chunks that a thread takes at a time
_ATTEMPTS = 5  # to read a value that others keep replacing
_LARGE = 1 << 24  # bytes; so much memory is not kept from one chunk to the next anyhow


def read(chunks: Chunks, selection: Selection, out: Array) -> None:
    """Read a selection.

    Parameters
    ----------
    chunks : Chunks
        The array.
    selection : Selection
        What to read.
    out : ndarray
        Receives the elements; shape of the selection, dtype of the data type.

    Raises
    ------
    ChunkDecodeError
        If a chunk is damaged; names it.
    MissingChunkError
        If a chunk is not stored and that is not to be taken for the fill value.
    StoreError
        If the store fails.
    """
    if not out.size:
        return
    if type(selection) is Box:
        single = single_chunk(selection, chunks.axes)
        if single is not None:
            chunk, within, whole, _ = single
            read_chunk(chunks, chunk, within, out, whole)
            return

    bound = chunks.binding.bound((0,) * len(chunks.axes))
    parallel = chunks.parallel(_at_once(chunks, bound, selection, out))
    # Large chunks of which parts are read are not small, however little is wanted.
    small = bound.is_plain and not bound.reads_parts and chunks.binding.is_uniform
    if small and not parallel and type(selection) is Box and selection.index:
        boxes = chunks.boxes(selection)
        batches = iter(lambda: list(islice(boxes, _TOGETHER)), [])
        run(batches, lambda some: _read_small(chunks, bound, some, out), None, pieces=_TOGETHER)
        return

    def work(part: Part) -> None:
        chunk, within, target, whole, _ = part
        if type(within) is Box:
            read_chunk(chunks, chunk, within, out[target], whole)
        else:
            values = np.empty(within.shape, out.dtype)
            read_chunk(chunks, chunk, within, values, False)
            out[target] = values

    run(project(selection, chunks.axes), work, parallel, chunks.threads, bound.pieces)


def _at_once(chunks: Chunks, bound: BoundChain, selection: Selection, out: Array) -> int | None:
    """Bytes that are handled at once for a chunk: how much work there is, in which threads may help."""
    if not bound.reads_parts or bound.inner is not None:
        return bound.grain
    # Of a chunk without compression only what is wanted is read.
    return out.nbytes // chunk_count(selection, chunks.axes) if type(selection) is Box else 0


def _read_small(chunks: Chunks, bound: BoundChain, boxes: Sequence[ChunkBox], out: Array) -> None:
    """Read many small chunks of one shape, with as few steps each as there can be.

    What a step costs here is paid for every chunk: the memory for all of them is
    borrowed once, and the array that stands for a decoded chunk is made once.
    """
    store = chunks.store
    in_memory, get, get_into = store.in_memory, store.get, store.get_into
    unpack = bound.unpack if bound.bytes_to_bytes else None
    shape, dtype = bound.decoded.shape, bound.memory_dtype
    nbytes = bound.decoded.nbytes or 0
    room = bound.room
    data: Buffer | None
    with scratch(room) as buffer, scratch(nbytes) as memory:
        array = np.ndarray(shape, dtype, buffer if unpack is None else memory)
        key = ""
        try:
            for key, within, target, whole in boxes:
                if in_memory:
                    data = get(key)
                else:
                    size = get_into(key, buffer)
                    data = None if size is None else buffer[:size]
                    if size is not None and size > room:
                        data = _all_of(chunks, bound, key, size)
                if data is None:
                    _fill_missing(chunks, key, out[target])
                    continue
                if unpack is not None:
                    unpack(data, memory)
                elif len(data) != nbytes:
                    raise ChunkDecodeError(f"{len(data)} bytes instead of {nbytes}")
                elif in_memory:
                    array = np.ndarray(shape, dtype, data)
                out[target] = array if whole else array[within]
        except ChunkDecodeError as error:
            raise error.located(chunks.where(key)) from error


def read_chunk(
    chunks: Chunks, chunk: tuple[int, ...], within: Selection, out: Array, whole: bool
) -> None:
    """Read a part of one chunk.

    Parameters
    ----------
    chunks : Chunks
        The array.
    chunk : tuple of int
        Grid coordinates.
    within : Selection
        The part.
    out : ndarray
        Receives its elements; has the shape of the part.
    whole : bool
        Whether the part is the chunk, in order.
    """
    bound = chunks.binding.bound(chunk)
    key = chunks.key(chunk)
    store = chunks.store
    data: Buffer | None
    try:
        if whole and bound.is_memory and out.flags.c_contiguous:
            octets = out.reshape(-1).view(np.uint8).data
            size = store.get_into(key, octets)
            if size is not None and size != len(octets):
                raise ChunkDecodeError(f"{size} bytes instead of {len(octets)}")
        elif bound.reads_parts and not (whole and bound.is_memory):
            size = _opened(
                chunks, key, bound.first, lambda reader: bound.read_part(reader, within, out)
            )
        elif store.in_memory or bound.decoded.nbytes is None:  # for which no room can be kept
            data = store.get(key)
            size = None if data is None else len(data)
            if data is not None:
                _decode(bound, data, within, out, whole)
        elif bound.room > _LARGE:
            size = _read_large(chunks, bound, key, within, out, whole)
        else:
            with scratch(bound.room) as buffer:
                size = store.get_into(key, buffer)
                if size is not None:
                    data = buffer[:size]
                    if size > len(buffer):
                        data = _all_of(chunks, bound, key, size)
                    _decode(bound, data, within, out, whole)
    except ChunkDecodeError as error:
        raise error.located(chunks.where(key)) from error
    except MemoryError as error:
        raise ChunkDecodeError(
            f"a chunk of shape {bound.decoded.shape} does not fit into memory",
            where=chunks.where(key),
        ) from error
    if size is None:
        _fill_missing(chunks, key, out)


def _fill_missing(chunks: Chunks, key: str, out: Array) -> None:
    if chunks.missing_is_error:
        raise MissingChunkError(chunks.where(key))
    out[...] = chunks.binding.fill_value


def _read_large(
    chunks: Chunks, bound: BoundChain, key: str, within: Selection, out: Array, whole: bool
) -> int | None:
    """Read a chunk for which memory is asked for only once it is known to be needed."""

    def work(reader: ValueReader) -> None:
        bound.check_size(reader.size)
        with scratch(reader.size) as buffer:
            reader.read_into([(0, buffer)])
            _decode(bound, buffer, within, out, whole)

    return _opened(chunks, key, ByteRange(0), work)


def _opened(
    chunks: Chunks, key: str, first: ByteRange | None, work: Callable[[ValueReader], None]
) -> int | None:
    """Do something with an open value, anew if it is replaced meanwhile; return its length."""
    for attempt in range(_ATTEMPTS):
        reader = chunks.store.open_value(key, first)
        if reader is None:
            return None
        try:
            with reader:
                work(reader)
                return reader.size
        except ValueReplacedError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt raises")


def _decode(bound: BoundChain, data: Buffer, within: Selection, out: Array, whole: bool) -> None:
    if whole:
        bound.decode_into(data, out)
    else:
        bound.decode_part_of(data, within, out)


def _all_of(chunks: Chunks, bound: BoundChain, key: str, size: int) -> Buffer:
    """A value that is longer than was to be expected."""
    bound.check_size(size)
    data = chunks.store.get(key)
    return b"" if data is None else data
