"""Writing a selection: from an array in memory into chunks in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.scratch import scratch
from zarr_core.errors import ChunkDecodeError, CodecError
from zarr_core.selection.projection import project, put
from zarr_core.threads import run

if TYPE_CHECKING:
    from zarr_core.engine.bound import BoundChain
    from zarr_core.engine.chunks import Chunks
    from zarr_core.interfaces.store import Pieces
    from zarr_core.interfaces.value import ValueReader
    from zarr_core.selection.normalised import Selection
    from zarr_core.selection.projection import Part

    Array = np.ndarray[Any, Any]

# Seconds.  A file system makes the small files of a directory one after the other:
# only where encoding takes longer than that do threads pay.
_PAYS = 150e-6
_SHAPES = 16  # of chunks that are kept encoded where all elements are the same


def write(chunks: Chunks, selection: Selection, value: Array) -> None:
    """Write a selection.

    Parameters
    ----------
    chunks : Chunks
        The array.
    selection : Selection
        Where to.
    value : ndarray
        The elements; shape of the selection.  Cast to the data type as NumPy casts.

    Raises
    ------
    CodecError
        If a codec cannot encode a chunk, or a chunk of which a part is kept is damaged.
    StoreError
        If the store fails.

    Notes
    -----
    A chunk of which every element is new is stored without looking at what was
    there.  Any other is read, changed and stored under the lock of its key, so
    that writers of different elements of one chunk lose nothing.
    """
    if not value.size:
        return

    dtype = chunks.binding.dtype
    same: dict[BoundChain, Pieces | None] | None = None
    if value.size > 1 and not any(value.strides):
        # One value everywhere: chunks of one shape are encoded once.
        # A view without dimensions: an element by itself may be a Python object.
        one = value[(slice(0, 1),) * value.ndim].reshape(())
        value = np.broadcast_to(one.astype(dtype), value.shape)
        same = {}

    def work(part: Part) -> None:
        chunk, within, target, whole, covers = part
        try:
            new = value[target]
            if whole and same is not None:
                bound = chunks.binding.bound(chunk)
                pieces = same[bound] if bound in same else bound.encode(new)
                if len(same) < _SHAPES:
                    same[bound] = pieces
                _store(chunks, bound, chunks.key(chunk), pieces)
                return
            if new.dtype != dtype:  # by the chunk: all at once would take as much memory again
                new = new.astype(dtype)
            write_chunk(chunks, chunk, within, new, whole, covers)
        except (CodecError, MemoryError) as error:
            raise _located(chunks, chunk, error) from error

    bound = chunks.binding.bound((0,) * len(chunks.axes))
    parallel = chunks.parallel(bound.grain)
    parts = project(selection, chunks.axes)
    run(parts, work, parallel, chunks.threads, bound.pieces, _PAYS)


def write_fields(
    chunks: Chunks, selection: Selection, value: Array, fields: str | list[str]
) -> None:
    """Write some fields of the elements of a selection; the others keep their values.

    Parameters
    ----------
    chunks : Chunks
        The array, of a structured data type.
    selection : Selection
        Where to.
    value : ndarray
        The fields; shape of the selection.
    fields : str or list of str
        Their names.

    Raises
    ------
    CodecError, StoreError
        As for :func:`write`.
    """
    if not value.size:
        return

    def work(part: Part) -> None:
        bound = chunks.binding.bound(part.chunk)
        new = value[part.target]

        def change(reader: ValueReader | None) -> Pieces | None:
            array = bound.writable(reader)
            put(array[fields], part.within, new)
            return bound.encode(array)

        try:
            chunks.store.update(chunks.key(part.chunk), change)
        except (CodecError, MemoryError) as error:
            raise _located(chunks, part.chunk, error) from error

    run(project(selection, chunks.axes), work, threads=chunks.threads)


def write_chunk(
    chunks: Chunks,
    chunk: tuple[int, ...],
    within: Selection,
    value: Array,
    whole: bool,
    covers: bool,
) -> None:
    """Write a part of one chunk.

    Parameters
    ----------
    chunks : Chunks
        The array.
    chunk : tuple of int
        Grid coordinates.
    within : Selection
        The part.
    value : ndarray
        Its new elements; has the shape of the part.
    whole : bool
        Whether the part is the chunk, in order.
    covers : bool
        Whether the part holds every element of the chunk that lies in the array.
    """
    bound = chunks.binding.bound(chunk)
    key = chunks.key(chunk)
    if not covers:

        def change(reader: ValueReader | None) -> Pieces | None:
            if bound.supports_parts:
                pieces = bound.encode_part(reader, within, value)
            else:
                array = bound.writable(reader)
                put(array, within, value)
                pieces = bound.encode(array)
            if pieces is None and reader is not None and not chunks.store.supports_erasing:
                return _instead_of_nothing(bound)
            return pieces

        chunks.store.update(key, change)
        return
    if not whole and bound.supports_parts and bound.inner is not None:
        # Of a shard that reaches beyond the array not more is made than the array has.
        _store(chunks, bound, key, bound.encode_part(None, within, value))
        return
    nbytes = bound.decoded.nbytes
    if nbytes is None:
        array = value if whole else bound.writable(None)
        if not whole:
            put(array, within, value)
        _store(chunks, bound, key, bound.encode(array))
        return
    if whole and chunks.store.in_memory and not bound.bytes_to_bytes:
        # Into the bytes that the store keeps, which scratch memory cannot be.
        _store(chunks, bound, key, bound.encode(value))
        return
    with scratch(nbytes) as memory:
        if whole:
            _store(chunks, bound, key, bound.encode(value, memory))
            return
        with scratch(nbytes) as room:
            array = np.frombuffer(room, bound.dtype).reshape(bound.decoded.shape)
            array[...] = bound.decoded.fill_value
            put(array, within, value)
            _store(chunks, bound, key, bound.encode(array, memory))


def _store(chunks: Chunks, bound: BoundChain, key: str, value: Pieces | None) -> None:
    store = chunks.store
    if value is None and not store.supports_erasing:
        value = _instead_of_nothing(bound) if store.exists(key) else None
        if value is None:
            return
    if value is None:
        store.erase(key)
    else:
        store.set(key, value)


def _instead_of_nothing(bound: BoundChain) -> Pieces | None:
    """What to store for a chunk of nothing but the fill value, where keys stay."""
    return bound.keeping_empty().encode(bound.writable(None))


def _located(chunks: Chunks, chunk: tuple[int, ...], error: CodecError | MemoryError) -> CodecError:
    """The error of a chunk, saying which one it is."""
    where = chunks.where(chunks.key(chunk))
    if isinstance(error, ChunkDecodeError):
        return error.located(where)
    if isinstance(error, MemoryError):
        shape = chunks.binding.bound(chunk).decoded.shape
        return CodecError(f"{where}: a chunk of shape {shape} does not fit into memory")
    return CodecError(f"{where}: {error}")
