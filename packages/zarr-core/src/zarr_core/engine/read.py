"""Reading a selection: from chunks in a store to an array in memory.

Each decision is made once, as early as possible:

- For an array, codecs and store are known.  :class:`ChunkReader` selects how its chunks are read,
  whole or in part:

  ==================  ======================================  =========================
  function            for                                     reads
  ==================  ======================================  =========================
  `_read_raw`         whole chunks stored as their memory     into the result
  `_read_partial`     codecs that prefer partial decoding     what the codec requests
  `_read_value`       stores in memory, chunks without a      the value of the store,
                      fixed size                              without a copy
  `_read_large`       chunks too large for a reused buffer    if stored, into a new
                                                              buffer
  `_read_buffered`    all others                              into a reused buffer
  ==================  ======================================  =========================

- For a selection, a single chunk is read at once.  Otherwise chunks are read one after the other,
  small ones in batches (`_read_batch`), or in threads if they are large or the store has latency.

- For a chunk, it matters whether the selection is the whole chunk, whether it is contiguous in
  the result, and whether the chunk is stored.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.scratch import scratch
from zarr_core.errors import ChunkDecodeError, CodecError, MissingChunkError, ValueReplacedError
from zarr_core.interfaces.byte_reader import ByteRange
from zarr_core.interfaces.selection import BasicIndexer, MaskIndexer
from zarr_core.log import log
from zarr_core.selection.projection import chunk_count, numpy_index, project, project_keys
from zarr_core.threads import parallel_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core.engine.prepared_chain import PreparedCodecChain
    from zarr_core.engine.stored_chunks import StoredChunks
    from zarr_core.interfaces.byte_reader import Buffer, ByteReader
    from zarr_core.interfaces.selection import AnySelection
    from zarr_core.interfaces.store import Store
    from zarr_core.selection.projection import ChunkProjection, KeyedProjection

    Array = np.ndarray[Any, Any]

THREADS_PAY_NBYTES = 1 << 16
"""Decoded bytes of a chunk above which threads are always faster."""

_UINT8 = np.dtype(np.uint8)  # NumPy takes a tenth of a microsecond to find it
_BATCH = 16  # small chunks per task of a thread
_DENSE = 16  # if one element in so many is selected, all are read
_ATTEMPTS = 5  # to read a value that is being replaced
_MAX_BUFFER_NBYTES = 1 << 24  # larger buffers are not reused


class ChunkReader:
    """How chunks of one shape are read from one store.

    Attributes
    ----------
    read_whole, read_part : callable
        Functions of the reader, key, selection within the chunk and output array.  They
        return whether the chunk is stored.
    in_batches : bool
        Whether chunks are so small that several are read per task.
    """

    __slots__ = ("codecs", "in_batches", "read_decoded", "read_part", "read_whole", "store")

    def __init__(self, store: Store, codecs: PreparedCodecChain) -> None:
        self.store = store
        self.codecs = codecs
        if store.in_memory or codecs.decoded.nbytes is None:
            self.read_decoded = _read_value
        elif codecs.read_buffer_size > _MAX_BUFFER_NBYTES:
            self.read_decoded = _read_large
        else:
            self.read_decoded = _read_buffered
        self.read_part = _read_partial if codecs.prefers_partial_decode else self.read_decoded
        self.read_whole = _read_raw if codecs.is_raw else self.read_part
        self.in_batches = (
            codecs.has_memory_layout
            and not codecs.prefers_partial_decode
            and store.max_concurrency is None
            and (codecs.decoded.nbytes or 0) < THREADS_PAY_NBYTES
        )


# --- a selection ---


def read(stored: StoredChunks, selection: AnySelection, out: Array) -> None:
    """Read a selection.

    Parameters
    ----------
    selection : Selection
        The elements to read.
    out : ndarray
        Array for the elements; shape of the selection, dtype of the data type.

    Raises
    ------
    ChunkDecodeError
        If a chunk is damaged; contains its key.
    MissingChunkError
        If a chunk is missing and missing chunks are errors.
    StoreError
        If the store fails.
    """
    if not out.size:
        return
    left = None
    if stored.native is not None:
        left = stored.native.read(stored, selection, out)
        if left is not None and not left:
            return
    projections = project(selection, stored.axes, complete=False)
    if isinstance(projections, tuple):
        chunk_coords, chunk_selection, _, _, is_whole = projections[0]
        _read_chunk(stored, chunk_coords, chunk_selection, out, is_whole)
        return
    if left is not None:
        projections = (it for it in projections if it.chunk_coords in left)
    # Batches need chunks of one shape.
    reader = stored.chunk_reader(()) if stored.resolved.is_uniform else None
    if reader is not None and reader.in_batches:
        keyed: Iterator[KeyedProjection]
        if left is None and isinstance(selection, BasicIndexer):
            keyed = project_keys(selection, stored.axes, stored.chunk_keys)
        else:
            keyed = (
                (stored.chunk_key(chunk), numpy_index(part), out_selection, is_whole)
                for chunk, part, out_selection, _, is_whole in projections
            )
        batches = iter(lambda: list(islice(keyed, _BATCH)), [])
        parallel_for(
            batches, lambda batch: _read_batch(stored, reader, batch, out), None, pieces=_BATCH
        )
        return

    def work(projection: ChunkProjection) -> None:
        chunk_coords, chunk_selection, out_selection, _, is_whole = projection
        if all(type(item) is slice for item in out_selection):
            _read_chunk(stored, chunk_coords, chunk_selection, out[out_selection], is_whole)
        else:
            values = np.empty(chunk_selection.shape, out.dtype)
            _read_chunk(stored, chunk_coords, chunk_selection, values, False)
            out[out_selection] = values

    parallel_for(
        projections,
        work,
        stored.parallel(_nbytes_per_chunk(stored, selection, out)),
        stored.threads,
        stored.codecs.inner_chunk_count,
    )


def _nbytes_per_chunk(stored: StoredChunks, selection: AnySelection, out: Array) -> int | None:
    """Bytes that are decoded at once for a chunk; they decide whether threads are used."""
    codecs = stored.codecs
    if not codecs.prefers_partial_decode or codecs.inner_codecs is not None:
        return codecs.inner_chunk_nbytes
    # Only the selected part of an uncompressed chunk is read.
    if isinstance(selection, BasicIndexer):
        return out.nbytes // chunk_count(selection, stored.axes)
    return 0


def _read_batch(
    stored: StoredChunks, reader: ChunkReader, batch: Sequence[KeyedProjection], out: Array
) -> None:
    """Read small chunks of one shape, with as few steps per chunk as possible."""
    codecs, store = reader.codecs, reader.store
    in_memory, get, get_into = store.in_memory, store.get, store.get_into
    decode_bytes_into = codecs.decode_bytes_into if codecs.decodes_bytes_into else None
    shape, dtype = codecs.decoded.shape, codecs.memory_dtype
    nbytes = codecs.decoded.nbytes or 0
    buffer_size = codecs.read_buffer_size
    data: Buffer | None
    with scratch(buffer_size) as buffer, scratch(nbytes) as memory:
        array = np.ndarray(shape, dtype, buffer if decode_bytes_into is None else memory)
        chunk_key = ""
        try:
            for chunk_key, chunk_selection, out_selection, is_whole in batch:
                if in_memory:
                    data = get(chunk_key)
                else:
                    size = get_into(chunk_key, buffer)
                    data = None if size is None else buffer[:size]
                    if size is not None and size > buffer_size:
                        data = _read_oversized(reader, chunk_key, size)
                if data is None:
                    _fill_missing(stored, chunk_key, out, out_selection)
                    continue
                if decode_bytes_into is not None:
                    decode_bytes_into(data, memory)
                elif len(data) != nbytes:
                    raise ChunkDecodeError(f"{len(data)} bytes instead of {nbytes}")
                elif in_memory:
                    array = np.ndarray(shape, dtype, data)
                out[out_selection] = array if is_whole else array[chunk_selection]
        except ChunkDecodeError as error:
            raise error.located(stored.key_location(chunk_key)) from error
        except MemoryError as error:
            raise _too_large(stored, chunk_key, shape, error) from error


def _read_chunk(
    stored: StoredChunks,
    chunk_coords: tuple[int, ...],
    chunk_selection: AnySelection,
    out: Array,
    is_whole: bool,
) -> None:
    """Read the projection of a selection onto one chunk."""
    reader = stored.chunk_reader(chunk_coords)
    key = stored.chunk_key(chunk_coords)
    try:
        if is_whole:
            is_stored = reader.read_whole(reader, key, None, out)
        else:
            is_stored = reader.read_part(reader, key, chunk_selection, out)
    except ChunkDecodeError as error:
        raise error.located(stored.key_location(key)) from error
    except MemoryError as error:
        raise _too_large(stored, key, reader.codecs.decoded.shape, error) from error
    if not is_stored:
        _fill_missing(stored, key, out)


def _too_large(
    stored: StoredChunks, key: str, shape: tuple[int, ...], error: MemoryError
) -> CodecError:
    """The error for a chunk that may be intact, but does not fit into memory."""
    reason = f" ({error})" if str(error) else ""
    location = stored.key_location(key)
    return CodecError(f"{location}: a chunk of shape {shape} does not fit into memory{reason}")


def _fill_missing(stored: StoredChunks, key: str, out: Array, region: Any = ...) -> None:
    if stored.missing_is_error:
        raise MissingChunkError(stored.key_location(key))
    out[region] = stored.resolved.fill_value


# --- ways to read a chunk; a selection of None is the whole chunk ---


def _read_raw(reader: ChunkReader, key: str, selection: AnySelection | None, out: Array) -> bool:
    """Read a whole chunk into the result, if it is contiguous there."""
    if not out.flags.c_contiguous:
        return reader.read_decoded(reader, key, selection, out)
    octets = out.reshape(-1).view(_UINT8).data
    size = reader.store.get_into(key, octets)
    if size is not None and size != len(octets):
        raise ChunkDecodeError(f"{size} bytes instead of {len(octets)}")
    return size is not None


def _read_partial(
    reader: ChunkReader, key: str, selection: AnySelection | None, out: Array
) -> bool:
    """Let the codec read the bytes that it needs; decode the whole chunk for a dense mask."""
    codecs = reader.codecs
    if (
        isinstance(selection, MaskIndexer)
        and codecs.inner_codecs is None
        and selection.shape[0] * _DENSE >= selection.mask.size
    ):
        return reader.read_decoded(reader, key, selection, out)
    part = codecs.full_selection if selection is None else selection
    return _read_open(
        reader.store, key, codecs.prefetch, lambda value: codecs.partial_decode(value, part, out)
    )


def _read_value(reader: ChunkReader, key: str, selection: AnySelection | None, out: Array) -> bool:
    """Decode the value that the store returns."""
    data = reader.store.get(key)
    if data is None:
        return False
    reader.codecs.decode_into(data, out, selection)
    return True


def _read_buffered(
    reader: ChunkReader, key: str, selection: AnySelection | None, out: Array
) -> bool:
    """Read a value into a buffer that is reused for the next chunk."""
    codecs = reader.codecs
    with scratch(codecs.read_buffer_size) as buffer:
        size = reader.store.get_into(key, buffer)
        if size is None:
            return False
        if size > len(buffer):
            codecs.decode_into(_read_oversized(reader, key, size), out, selection)
        else:
            codecs.decode_into(buffer[:size], out, selection)
    return True


def _read_large(reader: ChunkReader, key: str, selection: AnySelection | None, out: Array) -> bool:
    """Allocate a buffer only if the value is stored."""
    codecs = reader.codecs

    def decode(value: ByteReader) -> None:
        codecs.check_size(value.size)
        with scratch(value.size) as buffer:
            value.read_into([(0, buffer)])
            codecs.decode_into(buffer, out, selection)

    return _read_open(reader.store, key, ByteRange(0), decode)


def _read_open(
    store: Store, key: str, prefetch: ByteRange | None, decode: Callable[[ByteReader], None]
) -> bool:
    """Open a value and decode it; retry if it is replaced meanwhile."""
    for attempt in range(_ATTEMPTS):
        value = store.open_value(key, prefetch)
        if value is None:
            return False
        try:
            with value:
                decode(value)
                return True
        except ValueReplacedError:
            if attempt == _ATTEMPTS - 1:
                raise
            log(
                "retries",
                "%s %r was replaced while it was read; reading it again",
                store,
                key,
            )
    raise AssertionError("the last attempt raises")


def _read_oversized(reader: ChunkReader, key: str, size: int) -> Buffer:
    """Return a value that is larger than the buffer for it."""
    reader.codecs.check_size(size)
    data = reader.store.get(key)
    return b"" if data is None else data
