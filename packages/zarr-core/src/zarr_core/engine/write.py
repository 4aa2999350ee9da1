"""Writing a selection: from an array in memory into chunks in a store."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.chunk_reader import decode_again
from zarr_core.engine.fill_value import fill_test
from zarr_core.engine.scratch import scratch
from zarr_core.errors import ChunkDecodeError, CodecError, StoreError
from zarr_core.interfaces.chunk_cache import begin_change, caches, forget_chunks
from zarr_core.interfaces.selection import BasicIndexer
from zarr_core.selection.projection import project, put
from zarr_core.threads import INTERRUPTS, UnconfirmedKeys, name_unconfirmed, parallel_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from zarr_core.engine.prepared_chain import PreparedCodecChain
    from zarr_core.engine.stored_chunks import StoredChunks
    from zarr_core.interfaces.byte_reader import ByteReader
    from zarr_core.interfaces.selection import AnySelection
    from zarr_core.interfaces.store import Buffers, Change, Store
    from zarr_core.selection.projection import ChunkProjection

    Array = np.ndarray[Any, Any]

# Seconds to encode a chunk above which threads are faster: a file system creates the small
# files of a directory one after the other.
_MIN_TASK_SECONDS = 150e-6
_MAX_ENCODED = 16  # encoded chunks that are kept when all elements have one value


class _Batch:
    """Small encoded chunks that a store keeps together, as it has transactions.

    Parameters
    ----------
    store : Store
        Store of the chunks; with ``batch_nbytes``.
    unconfirmed : UnconfirmedKeys
        Receives the keys of chunks that cannot be stored.
    """

    def __init__(self, store: Store, unconfirmed: UnconfirmedKeys) -> None:
        self._store = store
        self._unconfirmed = unconfirmed
        self._guard = threading.Lock()
        self._values: list[tuple[str, bytes]] = []
        self._erased: list[str] = []
        self._nbytes = 0

    def set(self, key: str, buffers: Buffers) -> None:
        """Store a chunk now or with others; copies its bytes, since scratch memory is reused."""
        pieces = [buffers] if isinstance(buffers, bytes | bytearray | memoryview) else buffers
        nbytes = sum(map(len, pieces))
        if nbytes >= self._store.batch_nbytes:
            self._store.set(key, buffers)
            return
        data = b"".join(pieces)
        with self._guard:
            self._values.append((key, data))
            self._nbytes += nbytes + len(key)
            if self._nbytes < self._store.batch_nbytes:
                return
            values, self._values, self._nbytes = self._values, [], 0
        self._send(values, [])

    def erase(self, key: str) -> None:
        """Remove a chunk when all others are stored."""
        with self._guard:
            self._erased.append(key)

    def flush(self) -> None:
        """Store the remaining chunks."""
        self._send(self._values, self._erased)

    def _send(self, values: list[tuple[str, bytes]], erased: list[str]) -> None:
        try:
            if values:
                self._store.set_values(values)
                values = []
            if erased:
                self._store.erase_values(erased)
        except StoreError as error:
            self._unconfirmed.fail([*(key for key, _ in values), *erased], error)


def write(stored: StoredChunks, selection: AnySelection, value: Array) -> None:
    """Write a selection.

    A complete chunk is stored without reading the old one.  Any other is read, changed and stored
    under the lock of its key, so that concurrent writes to different elements are not lost.

    Parameters
    ----------
    selection : Selection
        The elements to write.
    value : ndarray
        Their values; shape of the selection.  Cast to the data type as NumPy casts.

    Raises
    ------
    CodecError
        If a codec cannot encode a chunk, or a chunk that is written in part is damaged.
    StoreError
        If the store fails; ``unconfirmed`` has the keys of all chunks that may not be stored.
    """
    ends = begin_change(stored.chunk_store, stored.prefix) if caches else ()
    try:
        _write(stored, selection, value)
    except INTERRUPTS as interrupt:
        # For a store without latency, stored values are not counted.
        parts = project(selection, stored.axes)
        name_unconfirmed(interrupt, (stored.chunk_key(it.chunk_coords) for it in parts))
        raise
    finally:
        if caches:
            forget_chunks(stored.chunk_store, stored.prefix)
        for end in ends:
            end()


def _follow(
    stored: StoredChunks,
    unconfirmed: UnconfirmedKeys,
    projections: Iterable[ChunkProjection],
    work: Callable[[ChunkProjection], None],
) -> AbstractContextManager[tuple[Iterable[ChunkProjection], Callable[[ChunkProjection], None]]]:
    """Follow which chunks are stored, if the store has latency."""
    if stored.threads is None:
        return nullcontext((projections, work))
    return unconfirmed.follow(projections, work, lambda it: stored.chunk_key(it.chunk_coords))


def _cast(stored: StoredChunks, values: Array) -> Array:
    """Cast values to the data type; a RuntimeError of NumPy becomes a ValueError."""
    try:
        return values.astype(stored.resolved.dtype)
    except RuntimeError as error:  # dates that do not fit into strings
        raise ValueError(
            f"{stored.location}: {values.dtype} cannot be stored as {stored.resolved.dtype}: {error}"
        ) from error


def _write(stored: StoredChunks, selection: AnySelection, value: Array) -> None:
    if not value.size:
        return

    dtype = stored.resolved.dtype
    encoded: dict[PreparedCodecChain, Buffers | None] | None = None
    if value.size > 1 and not any(value.strides):
        # One value everywhere: chunks of one shape are encoded once.
        # An array without dimensions, because a scalar may be a Python object.
        one = value[(slice(0, 1),) * value.ndim].reshape(())
        one = _cast(stored, one)
        if _erase(stored, selection, one):
            return
        value = np.broadcast_to(one, value.shape)
        encoded = {}

    def work(projection: ChunkProjection) -> None:
        chunk_coords, _, out_selection, _, is_whole = projection
        if unconfirmed.keys:
            unconfirmed.skip(stored.chunk_key(chunk_coords))
            return
        try:
            new = value[out_selection]
            if is_whole and encoded is not None:
                codecs = stored.resolved.codecs_for(chunk_coords)
                buffers = encoded[codecs] if codecs in encoded else codecs.encode(new)
                if len(encoded) < _MAX_ENCODED:
                    encoded[codecs] = buffers
                _store(stored, batch, codecs, stored.chunk_key(chunk_coords), buffers)
                return
            if new.dtype != dtype:  # chunk by chunk, to save memory
                new = _cast(stored, new)
            _write_chunk(stored, batch, projection, new)
        except (CodecError, MemoryError) as error:
            raise _located(stored, chunk_coords, error) from error
        except StoreError as error:
            unconfirmed.fail([stored.chunk_key(chunk_coords)], error)

    unconfirmed = UnconfirmedKeys()
    projections: Iterable[ChunkProjection] = project(selection, stored.axes)
    batch = _Batch(stored.chunk_store, unconfirmed) if stored.chunk_store.batch_nbytes else None
    if stored.native is not None and encoded is None and value.dtype == dtype:
        left = stored.native.write(stored, selection, value)
        if left is not None:
            projections = (it for it in projections if it.chunk_coords in left)
    codecs = stored.codecs
    with _follow(stored, unconfirmed, projections, work) as (parts, work_on):
        try:
            parallel_for(
                parts,
                work_on,
                stored.parallel(codecs.inner_chunk_nbytes),
                stored.threads,
                codecs.inner_chunk_count,
                _MIN_TASK_SECONDS,
            )
        finally:
            if batch is not None:
                batch.flush()
    unconfirmed.check()


def _erase(stored: StoredChunks, selection: AnySelection, value: Array) -> bool:
    """Write one value by visiting only stored chunks, if it is what missing chunks contain.

    Returns False, and writes nothing, if every chunk of the selection has to be visited.
    """
    store, decoded = stored.chunk_store, stored.codecs.decoded
    if (
        not isinstance(selection, BasicIndexer)
        or any(part.step != 1 for part in selection.index)
        or decoded.write_empty_chunks
        or not (store.supports_listing and store.supports_erasing)
        or not fill_test(decoded.fill_value)(value)
    ):
        return False
    box = [
        range(axis.chunk_of(part.start), axis.chunk_of(part.stop - 1) + 1)
        for part, axis in zip(selection.index, stored.axes, strict=True)
    ]
    chunks = stored.stored_chunks_in([box])
    if chunks is None:
        return False

    unconfirmed = UnconfirmedKeys()

    def work(chunk_coords: tuple[int, ...]) -> None:
        if unconfirmed.keys:
            unconfirmed.skip(stored.chunk_key(chunk_coords))
            return
        index = []
        for part, axis, at in zip(selection.index, stored.axes, chunk_coords, strict=True):
            start = axis.start(at)
            end = start + axis.length(at)
            index.append(slice(max(part.start, start), min(part.stop, end), 1))
        inside = BasicIndexer(tuple(index))
        try:
            _write(stored, inside, np.broadcast_to(value, inside.shape))
        except StoreError as error:
            unconfirmed.fail([stored.chunk_key(chunk_coords)], error)

    parallel_for(chunks, work, None, stored.threads, min_task_seconds=_MIN_TASK_SECONDS)
    unconfirmed.check()
    return True


def write_fields(
    stored: StoredChunks, selection: AnySelection, value: Array, fields: str | list[str]
) -> None:
    """Write some fields of the elements of a selection; the others keep their values.

    ``value`` has the shape of the selection.  Errors as for :func:`write`.
    """
    if not value.size:
        return

    unconfirmed = UnconfirmedKeys()

    def work(projection: ChunkProjection) -> None:
        chunk_coords, chunk_selection, out_selection, _, _ = projection
        key = stored.chunk_key(chunk_coords)
        if unconfirmed.keys:
            unconfirmed.skip(key)
            return
        codecs = stored.resolved.codecs_for(chunk_coords)
        new = value[out_selection]

        def change(reader: ByteReader | None) -> Buffers | None:
            array = codecs.read_whole(reader)
            put(array[fields], chunk_selection, new)
            return codecs.encode(array)

        try:
            _change(stored, key, change)
        except (CodecError, MemoryError) as error:
            raise _located(stored, chunk_coords, error) from error
        except StoreError as error:
            unconfirmed.fail([key], error)

    ends = begin_change(stored.chunk_store, stored.prefix) if caches else ()
    try:
        projections = project(selection, stored.axes)
        with _follow(stored, unconfirmed, projections, work) as (parts, work_on):
            parallel_for(parts, work_on, threads=stored.threads)
        unconfirmed.check()
    finally:
        if caches:
            forget_chunks(stored.chunk_store, stored.prefix)
        for end in ends:
            end()


def _write_chunk(
    stored: StoredChunks, batch: _Batch | None, projection: ChunkProjection, value: Array
) -> None:
    """Write the projection of a selection onto one chunk."""
    chunk_coords, selection, _, is_complete, is_whole = projection
    codecs = stored.resolved.codecs_for(chunk_coords)
    key = stored.chunk_key(chunk_coords)
    if not is_complete:
        _update(stored, codecs, key, selection, value)
        return
    if not is_whole and codecs.supports_partial_encode and codecs.inner_codecs is not None:
        # A shard that extends beyond the array has only the inner chunks inside the array.
        _store(stored, batch, codecs, key, codecs.partial_encode(None, selection, value))
        return
    nbytes = codecs.decoded.nbytes
    if nbytes is None:
        array = value if is_whole else codecs.read_whole(None)
        if not is_whole:
            put(array, selection, value)
        _store(stored, batch, codecs, key, codecs.encode(array))
        return
    if is_whole and stored.chunk_store.in_memory and not codecs.bytes_to_bytes:
        # The store keeps the encoded bytes: no scratch memory.
        _store(stored, batch, codecs, key, codecs.encode(value))
        return
    with scratch(nbytes) as memory:
        if is_whole:
            _store(stored, batch, codecs, key, codecs.encode(value, memory))
            return
        with scratch(nbytes) as elements:
            array = np.frombuffer(elements, codecs.dtype).reshape(codecs.decoded.shape)
            array[...] = codecs.decoded.fill_value
            put(array, selection, value)
            _store(stored, batch, codecs, key, codecs.encode(array, memory))


def _update(
    stored: StoredChunks,
    codecs: PreparedCodecChain,
    key: str,
    selection: AnySelection,
    value: Array,
) -> None:
    """Write a part of a chunk, and keep the rest."""

    def change(reader: ByteReader | None) -> Buffers | None:
        if codecs.supports_partial_encode:
            buffers = codecs.partial_encode(reader, selection, value)
        else:
            array = codecs.read_whole(reader)
            put(array, selection, value)
            buffers = codecs.encode(array)
        if buffers is None and reader is not None and not stored.chunk_store.supports_erasing:
            return _encode_empty(codecs)
        return buffers

    _change(stored, key, change)


def _change(stored: StoredChunks, key: str, change: Change) -> None:
    """Change a stored chunk; read it again if it cannot be decoded."""
    store = stored.chunk_store
    try:
        store.update(key, change)
    except ChunkDecodeError as error:
        decode_again(store, key, error, lambda: store.update(key, change))


def _store(
    stored: StoredChunks,
    batch: _Batch | None,
    codecs: PreparedCodecChain,
    key: str,
    buffers: Buffers | None,
) -> None:
    store = stored.chunk_store if batch is None else batch
    if buffers is not None:
        store.set(key, buffers)
    elif stored.chunk_store.supports_erasing:
        store.erase(key)
    else:
        stored.chunk_store.update(
            key, lambda reader: None if reader is None else _encode_empty(codecs)
        )


def _encode_empty(codecs: PreparedCodecChain) -> Buffers | None:
    """Encode an empty chunk, for a store that cannot remove keys."""
    return codecs.with_write_empty_chunks().encode(codecs.read_whole(None))


def _located(
    stored: StoredChunks, chunk_coords: tuple[int, ...], error: CodecError | MemoryError
) -> CodecError:
    """The error of a chunk, with its key."""
    location = stored.key_location(stored.chunk_key(chunk_coords))
    if isinstance(error, ChunkDecodeError):
        return error.located(location)
    if isinstance(error, MemoryError):
        shape = stored.resolved.codecs_for(chunk_coords).decoded.shape
        reason = f" ({error})" if str(error) else ""
        return CodecError(f"{location}: a chunk of shape {shape} does not fit into memory{reason}")
    return CodecError(f"{location}: {error}")
