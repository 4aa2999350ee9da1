"""Reading a selection: from chunks in a store to an array in memory.

Each decision is made once, as early as possible:

- For an array, codecs and store are known.  :class:`ChunkReader` selects how its chunks are read:
  raw, whole or in part.

- For a selection, a single chunk is read at once.  Otherwise chunks are read one after the other,
  small ones in batches (`_read_batch`), or in threads if they are large or the store has latency.

- For a chunk, it matters whether the selection is the whole chunk, whether it is contiguous in
  the result, and whether the chunk is stored.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.chunk_reader import decode_again, read_oversized
from zarr_core.engine.scratch import scratch
from zarr_core.errors import ChunkDecodeError, CodecError, MissingChunkError
from zarr_core.interfaces.selection import BasicIndexer
from zarr_core.selection.projection import numpy_index, project, project_keys
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
    # Compiled code returns the chunks that it leaves to Python, or None for all.
    left = None
    if stored.native is not None:
        left = stored.native.read(stored, selection, out)
        if left is not None and not left:
            return
    projections = project(selection, stored.axes, complete=False)
    if isinstance(projections, tuple):  # of a single chunk, whose place is the whole result
        _read_chunk(stored, projections[0], out)
        return
    if left is not None:
        projections = (it for it in projections if it.chunk_coords in left)
    reader = stored.chunk_reader((0,) * len(stored.axes))
    if reader.in_batches and stored.resolved.is_uniform:  # batches need chunks of one shape
        keyed: Iterator[KeyedProjection]
        if left is None and isinstance(selection, BasicIndexer):
            keyed = project_keys(selection, stored.axes, stored.chunk_keys)
        else:
            keyed = (
                (stored.chunk_key(chunk), numpy_index(part), out_selection, is_whole)
                for chunk, part, out_selection, _, is_whole in projections
            )
        batches = iter(lambda: list(islice(keyed, _BATCH)), [])
        parallel_for(batches, partial(_read_batch, stored, reader, out), None, pieces=_BATCH)
        return
    parallel_for(
        projections,
        partial(_read_projection, stored, out),
        stored.parallel(reader.nbytes_at_once(selection, stored.axes, out)),
        stored.threads,
        stored.codecs.inner_chunk_count,
    )


def _read_projection(stored: StoredChunks, out: Array, projection: ChunkProjection) -> None:
    """Read the elements of one chunk to their place in the result."""
    out_selection = projection.out_selection
    if all(type(item) is slice for item in out_selection):
        _read_chunk(stored, projection, out[out_selection])
    else:  # not a view
        values = np.empty(projection.chunk_selection.shape, out.dtype)
        _read_chunk(stored, projection, values)
        out[out_selection] = values


def _read_chunk(stored: StoredChunks, projection: ChunkProjection, out: Array) -> None:
    """Read the elements of one chunk."""
    chunk_coords, part, _, _, is_whole = projection
    reader = stored.chunk_reader(chunk_coords)
    key = stored.chunk_key(chunk_coords)
    read_chunk, selection = (reader.read_whole, None) if is_whole else (reader.read_part, part)
    try:
        try:
            is_stored = read_chunk(reader, key, selection, out)
        except ChunkDecodeError as error:
            is_stored = decode_again(
                reader.store, key, error, lambda: read_chunk(reader, key, selection, out)
            )
    except (ChunkDecodeError, MissingChunkError, MemoryError) as error:
        raise located(stored, key, reader.codecs.decoded.shape, error) from error
    if not is_stored:
        _fill_missing(stored, key, out)


def _read_batch(
    stored: StoredChunks, reader: ChunkReader, out: Array, batch: Sequence[KeyedProjection]
) -> None:
    """Read small chunks of one shape, with as few steps per chunk as possible."""
    codecs, store = reader.codecs, reader.store
    in_memory, get, get_into = store.in_memory, reader.get, store.get_into
    decode_bytes_into = codecs.decode_bytes_into if codecs.decodes_bytes_into else None
    shape, dtype = codecs.decoded.shape, codecs.memory_dtype
    nbytes = codecs.decoded.nbytes or 0
    buffer_size = codecs.read_buffer_size
    data: Buffer | None
    # One buffer has the stored bytes, the other the decoded ones; without compression, the first
    # has both.  The bytes of a store in memory are used where they are.
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
        except (ChunkDecodeError, MemoryError) as error:
            raise located(stored, chunk_key, shape, error) from error


def _fill_missing(stored: StoredChunks, key: str, out: Array, region: Any = ...) -> None:
    if stored.missing_is_error:
        raise MissingChunkError(stored.key_location(key))
    out[region] = stored.resolved.fill_value


def located(
    stored: StoredChunks,
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
