"""Reading a selection: from chunks in a store to an array in memory.

Each decision is made once, as early as possible:

- For an array, codecs and store are known.  :class:`ChunkReader` selects how its chunks are read,
  whole or in part.

- For a selection, a single chunk is read at once.  Otherwise chunks are read one after the other,
  small ones in batches (`_read_batch`), or in threads if they are large or the store has latency.

- For a chunk, it matters whether the selection is the whole chunk, whether it is contiguous in
  the result, and whether the chunk is stored.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.chunk_reader import decode_again, read_oversized
from zarr_core.engine.scratch import scratch
from zarr_core.errors import ChunkDecodeError, CodecError, MissingChunkError
from zarr_core.interfaces.selection import BasicIndexer
from zarr_core.selection.projection import chunk_count, numpy_index, project, project_keys
from zarr_core.threads import parallel_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.engine.chunk_reader import ChunkReader
    from zarr_core.engine.stored_chunks import StoredChunks
    from zarr_core.interfaces.byte_reader import Buffer
    from zarr_core.interfaces.selection import AnySelection
    from zarr_core.selection.projection import ChunkProjection, KeyedProjection

    Array = np.ndarray[Any, Any]

_BATCH = 16  # small chunks per task of a thread
_MAX_KEPT_NBYTES = 1 << 20  # copied from a cache in less time than threads need to start


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

    if reader is not None and reader.read_kept is not None and out.nbytes <= _MAX_KEPT_NBYTES:
        missing = [it for it in projections if not _put_kept(stored, reader, it, out)]
        if not missing:
            return
        projections = iter(missing)

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


def _put_kept(
    stored: StoredChunks, reader: ChunkReader, projection: ChunkProjection, out: Array
) -> bool:
    """Copy the selected elements of a chunk if a cache keeps it; return whether it does."""
    chunk_coords, chunk_selection, out_selection, _, is_whole = projection
    if reader.read_kept is None or any(type(item) is not slice for item in out_selection):
        return False
    key = stored.chunk_key(chunk_coords)
    return reader.read_kept(reader, key, None if is_whole else chunk_selection, out[out_selection])


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
    in_memory, get, get_into = store.in_memory, reader.get, store.get_into
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
                        data = read_oversized(reader, chunk_key, size)
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
        selection = None if is_whole else chunk_selection
        is_stored = _read_again(stored, reader, key, selection, out, error)
    except MissingChunkError as error:
        raise MissingChunkError(stored.key_location(key), error.chunk) from error
    except MemoryError as error:
        raise _too_large(stored, key, reader.codecs.decoded.shape, error) from error
    if not is_stored:
        _fill_missing(stored, key, out)


def _read_again(
    stored: StoredChunks,
    reader: ChunkReader,
    key: str,
    selection: AnySelection | None,
    out: Array,
    error: ChunkDecodeError,
) -> bool:
    """Read a chunk that could not be decoded from a remote store again."""
    read_chunk = reader.read_whole if selection is None else reader.read_part
    try:
        return decode_again(
            reader.store, key, error, lambda: read_chunk(reader, key, selection, out)
        )
    except ChunkDecodeError as final:
        raise final.located(stored.key_location(key)) from final


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
