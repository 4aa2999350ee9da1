"""Reading a selection: from chunks in a store to an array in memory.

:func:`read` divides a selection at the edges of chunks and reads one chunk after the other: small
ones in batches (:func:`_read_batch`), others in threads if they are large or the store has latency.

A chunk is read in one of three ways, between which :meth:`ChunkReader.read` chooses:

raw
    The stored bytes are the elements.  The store reads them into the result.
in part
    A codec, such as ``sharding_indexed``, requests only the bytes of the selected elements.
whole
    The stored bytes are read into scratch memory and decoded: into the result if that is
    possible, otherwise into more scratch memory, from which the selected elements are copied.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zarr_core.engine.scratch import Scratch, remote_memory
from zarr_core.errors import ChunkDecodeError, CodecError, MissingChunkError, ValueReplacedError
from zarr_core.interfaces.byte_reader import ByteRange
from zarr_core.interfaces.selection import BasicIndexer, MaskIndexer
from zarr_core.interfaces.store import CachingStore
from zarr_core.messages import log
from zarr_core.selection.projection import project, take
from zarr_core.threads import parallel_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.interfaces.byte_reader import Buffer, ByteReader
    from zarr_core.interfaces.selection import AnySelection
    from zarr_core.interfaces.store import Store
    from zarr_core.selection.projection import ChunkProjection

    Array = np.ndarray[Any, Any]

T = TypeVar("T")

THREADS_PAY_NBYTES = 1 << 16
"""Decoded bytes of a chunk above which threads are always faster."""

_UINT8 = np.dtype(np.uint8)  # NumPy takes a tenth of a microsecond to find it
_BATCH = 16  # small chunks per task of a thread
_DENSE = 16  # if one element in so many is selected, all are read
_ATTEMPTS = 5  # to read a value that is being replaced
_MAX_BUFFER_NBYTES = 1 << 24  # larger buffers are not reused
_MAX_REMOTE_NBYTES = 1 << 17  # larger ones count for the limit of memory of remote reads


def read(stored: StoredArray, selection: AnySelection, out: Array) -> None:
    """Read a selection into an array of its shape and the data type."""
    if not out.size:
        return
    # Compiled code reads what it can.  ``left`` are the chunks that it leaves; None for all.
    left = None if stored.native is None else stored.native.read(stored, selection, out)
    if left is not None and not left:
        return
    reader = stored.chunk_reader((0,) * len(stored.axes))
    in_batches = reader.in_batches and stored.resolved.is_uniform  # chunks have one shape
    # Every projection says which elements of a chunk are read, and where they are in the result.
    chunk_key = stored.chunk_key if in_batches and left is None else None
    projections = project(selection, stored.axes, complete=False, chunk_key=chunk_key)
    if isinstance(projections, tuple):  # of a single chunk, whose elements are the whole result
        _read_chunk(stored, reader, projections[0], out)
        return
    if left is not None:
        projections = (item for item in projections if item.chunk_coords in left)
    if in_batches:
        batches = iter(lambda: list(islice(projections, _BATCH)), [])
        parallel_for(batches, partial(_read_batch, stored, reader, out), None, pieces=_BATCH)
        return
    parallel_for(
        projections,
        partial(_read_projection, stored, reader, out),
        stored.parallel(reader.nbytes_at_once(selection)),
        stored.threads,
        stored.codecs.inner_chunk_count,
    )


def _read_projection(
    stored: StoredArray, reader: ChunkReader, out: Array, projection: ChunkProjection
) -> None:
    """Read the elements of one chunk to their place in the result."""
    out_selection = projection.out_selection
    if all(type(item) is slice for item in out_selection):
        _read_chunk(stored, reader, projection, out[out_selection])
    else:  # not a view
        values = np.empty(projection.chunk_selection.shape, out.dtype)
        _read_chunk(stored, reader, projection, values)
        out[out_selection] = values


def _read_chunk(
    stored: StoredArray, reader: ChunkReader, projection: ChunkProjection, out: Array
) -> None:
    """Read the elements of one chunk; the reader is that of the first chunk."""
    chunk_coords, chunk_selection, _, _, is_whole = projection
    if not stored.resolved.is_uniform:
        reader = stored.chunk_reader(chunk_coords)
    key = stored.chunk_key(chunk_coords)
    selection = None if is_whole else chunk_selection
    try:
        try:
            is_stored = reader.read(key, selection, out)
        except ChunkDecodeError as error:
            read_again = partial(reader.read, key, selection, out)
            is_stored = decode_again(reader.store, key, error, read_again)
    except (ChunkDecodeError, MissingChunkError, MemoryError) as error:
        raise located(stored, key, reader.codecs.decoded.shape, error) from error
    if not is_stored:
        _fill_missing(stored, key, out)


def _read_batch(
    stored: StoredArray, reader: ChunkReader, out: Array, batch: Sequence[ChunkProjection]
) -> None:
    """Read small chunks of one shape, with as few steps per chunk as possible."""
    codecs, store = reader.codecs, reader.store
    in_memory, get, get_limited = store.in_memory, store.get, store.get_limited
    decode_bytes_into = codecs.decode_bytes_into if codecs.bytes_to_bytes else None
    shape, dtype = codecs.decoded.shape, codecs.memory_dtype
    nbytes, limit = codecs.decoded.nbytes or 0, codecs.read_buffer_size
    key: Any = ""
    part: Any
    # The decoded bytes of a chunk come first, aligned, and then the stored ones.
    with Scratch(nbytes + limit) as memory:
        decoded, buffer = memory[:nbytes], memory[nbytes:]
        array = np.ndarray(shape, dtype, decoded)
        try:
            # A projection with a key has an index of NumPy; others are of the general form.
            for key, part, out_selection, _, is_whole in batch:
                if type(key) is not str:
                    key = stored.chunk_key(key)
                data: Any
                if in_memory:
                    data = get(key)
                else:
                    data = get_limited(key, limit, buffer)
                    if type(data) is int:  # longer than the buffer
                        data = reader.get_whole(key)
                if data is None:
                    _fill_missing(stored, key, out, out_selection)
                    continue
                # Without compression, an array is made of the stored bytes where they are.
                if decode_bytes_into is not None:
                    decode_bytes_into(data, decoded)
                elif len(data) != nbytes:
                    raise ChunkDecodeError(f"{len(data)} bytes instead of {nbytes}")
                else:
                    array = np.ndarray(shape, dtype, data)
                if is_whole:
                    out[out_selection] = array
                else:
                    out[out_selection] = array[part] if type(part) is tuple else take(array, part)
        except (ChunkDecodeError, MemoryError) as error:
            raise located(stored, key, shape, error) from error


def _fill_missing(stored: StoredArray, key: str, out: Array, region: Any = ...) -> None:
    if stored.missing_is_error:
        raise MissingChunkError(stored.key_location(key))
    out[region] = stored.resolved.fill_value


# --- one chunk ---


class ChunkReader:
    """How chunks of one shape are read from one store."""

    def __init__(self, store: Store, codecs: PreparedCodecChain) -> None:
        self.store = store
        self.codecs = codecs
        largest = _MAX_BUFFER_NBYTES if store.max_concurrency is None else _MAX_REMOTE_NBYTES
        self._is_large = codecs.read_buffer_size > largest
        # Whether chunks are so small that several are read per task.
        self.in_batches = (
            codecs.has_memory_layout
            and not codecs.prefers_partial_decode
            and store.max_concurrency is None
            and codecs.max_concurrency is None
            and (codecs.decoded.nbytes or 0) < THREADS_PAY_NBYTES
        )

    def nbytes_at_once(self, selection: AnySelection) -> int | None:
        """Bytes that are decoded at once for a chunk; they decide whether threads are used."""
        codecs = self.codecs
        if not codecs.prefers_partial_decode or codecs.inner_codecs is not None:
            return codecs.inner_chunk_nbytes
        # Only the selected part of an uncompressed chunk is read.
        if isinstance(selection, BasicIndexer):
            return prod(map(min, selection.shape, codecs.decoded.shape)) * codecs.dtype.itemsize
        return 0

    def read(self, key: str, selection: AnySelection | None, out: Array) -> bool:
        """Read the selected elements of a chunk, or all; return whether the chunk is stored."""
        codecs, store = self.codecs, self.store
        data: Buffer | int | None
        # Raw: what the store reads are the elements.
        if selection is None and codecs.is_raw:
            if out.flags.c_contiguous:
                octets = out.reshape(-1).view(_UINT8).data
                data = store.get_limited(key, len(octets), octets)
                if data is None:
                    return False
                size = data if isinstance(data, int) else len(data)
                if isinstance(data, int) or size != len(octets):
                    raise ChunkDecodeError(f"{size} bytes instead of {len(octets)}")
                if getattr(data, "obj", None) is not octets.obj:  # the store has it elsewhere
                    octets[:] = data
                return True
        # In part: the codecs request what they need, such as an index and then inner chunks.
        elif codecs.prefers_partial_decode and not self._is_dense(selection):
            part = codecs.full_selection if selection is None else selection
            return read_open(
                store, key, codecs.prefetch, lambda value: codecs.partial_decode(value, part, out)
            )
        # Whole: from where it is in memory, ...
        if store.in_memory or codecs.decoded.nbytes is None:
            data = self.get_whole(key)
            if data is not None:
                codecs.decode_into(data, out, selection)
            return data is not None
        # ... from a large buffer, which is allocated only if the chunk is stored, ...
        if self._is_large:
            return read_open(
                store, key, ByteRange(0), lambda value: self._decode_large(value, selection, out)
            )
        # ... or from a buffer that is reused for the next chunk.
        with Scratch(codecs.read_buffer_size) as buffer:
            data = store.get_limited(key, len(buffer), buffer)
            if isinstance(data, int):  # longer than the buffer
                data = self.get_whole(key)
            if data is not None:
                codecs.decode_into(data, out, selection)
        return data is not None

    def _is_dense(self, selection: AnySelection | None) -> bool:
        """Whether a mask selects so many elements of a chunk that all are read."""
        return (
            isinstance(selection, MaskIndexer)
            and self.codecs.inner_codecs is None
            and selection.shape[0] * _DENSE >= selection.mask.size
        )

    def _decode_large(self, value: ByteReader, selection: AnySelection | None, out: Array) -> None:
        """Receive a value of a remote store when memory for it is available, and decode it."""
        codecs, nbytes = self.codecs, value.size
        codecs.check_size(nbytes)
        limit = remote_memory.reserve(lambda: nbytes + (codecs.decoded.nbytes or 0))
        is_remote = self.store.max_concurrency is not None
        with limit if is_remote else nullcontext(), Scratch(nbytes) as buffer:
            value.read_into([(0, buffer)])
            codecs.decode_into(buffer, out, selection)

    def get_whole(self, key: str) -> Buffer | None:
        """Return a value in its own memory, unless it is larger than the codecs permit."""
        if self.store.in_memory:
            return self.store.get(key)
        value = self.store.get_limited(key, self.codecs.max_encoded_size)
        if isinstance(value, int):
            self.codecs.check_size(value)
            raise ChunkDecodeError(f"{value} bytes")  # unreachable: the limit is not above that
        return value


def read_open(
    store: Store, key: str, prefetch: ByteRange | None, decode: Callable[[ByteReader], None]
) -> bool:
    """Open a value and decode it; retry if it is replaced meanwhile."""
    caching = store if isinstance(store, CachingStore) else None
    open_value = store.open_value if caching is None else caching.open_cached
    for attempt in range(_ATTEMPTS):
        try:
            value = open_value(key, prefetch)
            if value is None:
                return False
            with value:
                decode(value)
                value.verify()
                return True
        except ValueReplacedError:
            if attempt == _ATTEMPTS - 1:
                raise
            log("retries", "%s %r was replaced while it was read; reading it again", store, key)
            if caching is not None:
                caching.discard_cached(key)
    raise AssertionError("the last attempt raises")


# --- errors ---


def decode_again(store: Store, key: str, error: ChunkDecodeError, work: Callable[[], T]) -> T:
    """Repeat what reads a chunk after an error, past caches, if the store is remote."""
    # The bytes may have been damaged on the way.
    if store.max_concurrency is None:
        raise error
    log("retries", "%s %r cannot be decoded (%s); reading it again", store, key, error.reason)
    if isinstance(store, CachingStore):
        store.discard_cached(key)
    try:
        return work()
    except ChunkDecodeError as second:
        reason = f"{second.reason}, also when it was requested again"
        raise type(second)(reason, second.codec, second.location) from error


def located(
    stored: StoredArray,
    key: str,
    shape: tuple[int, ...],
    error: CodecError | MissingChunkError | MemoryError,
) -> CodecError | MissingChunkError:
    """The error of a chunk, with its key."""
    location = stored.key_location(key)
    if isinstance(error, ChunkDecodeError):
        return error.located(location)
    if isinstance(error, MissingChunkError):
        return MissingChunkError(location, error.chunk)
    if isinstance(error, MemoryError):  # the chunk may be intact
        reason = f" ({error})" if str(error) else ""
        return CodecError(f"{location}: a chunk of shape {shape} does not fit into memory{reason}")
    return CodecError(f"{location}: {error}")
