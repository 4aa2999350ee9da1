"""The memory of reads and writes, apart from the arrays of the caller."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import BasicIndexer, CoordinateIndexer, OrthogonalIndexer
from zarr_core.threads import thread_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.extension import Store, StoredArray

    from zarr_transfer.selection_plan import ChunkPart

_SLACK = 1 << 19  # Python objects, and small buffers that threads keep
_BATCH = 1 << 20  # encoded bytes of inner chunks that are read together
_WINDOW = 1 << 14  # inner chunks that are located together
_PER_INNER_CHUNK = 512  # bytes of Python objects for each of these
_ENTRY, _CHECKSUM = 16, 4  # stored bytes of the index of a shard
_PER_ENTRY = 96  # bytes for an entry of the index of a shard, encoded, decoded and sorted
_PER_OBJECT = 256  # bytes of an element of variable size, such as a short string

# Working memory of compressors in bytes, beyond input and output: to encode, to decode.
_WORKING = {
    "bz2": (9 << 20, 5 << 20),
    "numcodecs.bz2": (9 << 20, 5 << 20),
    "lzma": (100 << 20, 12 << 20),
    "numcodecs.lzma": (100 << 20, 12 << 20),
    "brotli": (64 << 20, 20 << 20),
    "zstd": (10 << 20, 2 << 20),
}
_WORKING_OTHER = (1 << 20, 1 << 19)
_WORKING_SMALL = 1 << 18  # for small chunks, which take less
_WORKING_PER_BYTE = 16
_PER_POINT = 32  # bytes for sorting the coordinates of a point


def call_memory(
    stored: StoredArray,
    selection: Any,
    parts: Sequence[ChunkPart],
    access: str,
    *,
    threads: int | None = None,
) -> int:
    """Return the memory in bytes for reading or writing one chunk in each thread.

    With one thread, this is the smallest memory.  By default, ``threads`` are those of the array.
    """
    if threads is None:
        threads = thread_count() if stored.threads is None else stored.threads
    outer = max(1, min(threads, sum(part.chunks for part in parts)))
    tasks = (_task_memory(stored, part, access, max(1, threads // outer)) for part in parts)
    return outer * max(tasks, default=0) + _for_points(selection)


def encoded_nbytes(codecs: PreparedCodecChain) -> int:
    """Return the bytes of a stored chunk or shard that cannot be compressed."""
    inner = codecs.inner_codecs
    if inner is None or codecs.encoded_size is not None:
        return _encoded(codecs)
    return _count(codecs, inner) * (encoded_nbytes(inner) + _ENTRY) + _CHECKSUM


def _task_memory(stored: StoredArray, part: ChunkPart, access: str, threads: int) -> int:
    codecs = stored.resolved.codecs_for(part.chunk_coords)
    if access == "write":
        return _write_memory(stored, codecs, threads, is_complete=part.is_complete)
    only_slices = isinstance(part.inside, BasicIndexer)
    is_whole = part.is_complete or not only_slices
    needed = _read_memory(stored, codecs, threads, is_whole=is_whole)
    if not only_slices:  # copied to the result
        needed += 2 * prod(part.inside.shape) * codecs.dtype.itemsize
    return needed


def _for_points(selection: Any) -> int:
    if isinstance(selection, CoordinateIndexer):
        return _PER_POINT * len(selection.index[0]) if selection.index else 0
    if isinstance(selection, OrthogonalIndexer):
        return _PER_POINT * sum(len(i) for i in selection.index if not isinstance(i, slice))
    return 0


def _read_memory(
    stored: StoredArray, codecs: PreparedCodecChain, threads: int, *, is_whole: bool
) -> int:
    """Return the bytes for reading from one stored object, possibly as a whole."""
    copies = _copies(stored.chunk_store)
    if codecs.prefers_partial_decode and codecs.inner_codecs is None:
        window = _BATCH * (1 + copies)
        return _SLACK + max(window, _encoded(codecs) * (1 + copies) if is_whole else 0)
    if codecs.prefers_partial_decode and codecs.inner_codecs is not None:
        inner = codecs.inner_codecs
        batch = max(_BATCH, _encoded(inner))
        each = batch * (1 + copies) + _decode(inner)
        return _SLACK + _index(codecs) + threads * each
    return _SLACK + _encoded(codecs) * (1 + copies) + _decode(codecs)


def _write_memory(
    stored: StoredArray, codecs: PreparedCodecChain, threads: int, *, is_complete: bool
) -> int:
    """Return the bytes for replacing one stored object, or for reading and changing it."""
    copies = _copies(stored.chunk_store, to_write=True)
    total = encoded_nbytes(codecs)
    cast = _decoded(codecs)  # to the data type
    if codecs.supports_partial_encode and codecs.inner_codecs is not None:
        inner = codecs.inner_codecs
        each = _encode(inner) + (0 if is_complete else _decode(inner) + _BATCH)
        shard = total * (1 + copies) + 2 * _index(codecs) + cast
        return _SLACK + shard + threads * each + (0 if is_complete else total * copies)
    needed = _SLACK + _encode(codecs) + cast + total * copies
    if not is_complete:
        needed += _encoded(codecs) * (1 + copies) + _decode(codecs)
    return needed


def _decoded(codecs: PreparedCodecChain) -> int:
    nbytes = codecs.decoded.nbytes
    return prod(codecs.decoded.shape) * _PER_OBJECT if nbytes is None else nbytes


def _encoded(codecs: PreparedCodecChain) -> int:
    size = codecs.encoded_size
    return _decoded(codecs) * 17 // 16 + 1024 if size is None else size


def _count(codecs: PreparedCodecChain, inner: PreparedCodecChain) -> int:
    """Return the number of inner chunks of a shard, without those of shards in it."""
    shapes = zip(codecs.decoded.shape, inner.decoded.shape, strict=True)
    return prod(-(-length // part) for length, part in shapes)


def _index(codecs: PreparedCodecChain) -> int:
    inner = codecs.inner_codecs
    if inner is None:
        return 0
    count = _count(codecs, inner)
    return count * _PER_ENTRY + min(count, _WINDOW) * _PER_INNER_CHUNK + _index(inner)


def _decode(codecs: PreparedCodecChain) -> int:
    """Return the bytes for decoding a value in memory, with those of the decoded chunk."""
    nbytes = _decoded(codecs)
    # Compressors may return their output in memory of their own, and convert it.
    copies = 1 + 2 * len(codecs.bytes_to_bytes) + 2 * len(codecs.array_to_array)
    copies += codecs.memory_dtype is None
    needed = copies * nbytes + _working(codecs, 1)
    inner = codecs.inner_codecs
    return needed if inner is None else needed + _index(codecs) + _decode(inner)


def _encode(codecs: PreparedCodecChain) -> int:
    """Return the bytes for encoding a chunk, with those of the result."""
    nbytes = _decoded(codecs)
    copies = 2 + 2 * len(codecs.array_to_array) + (codecs.memory_dtype is None)
    needed = copies * nbytes + max(1, len(codecs.bytes_to_bytes)) * _encoded(codecs)
    needed += _working(codecs, 0)
    inner = codecs.inner_codecs
    return (
        needed
        if inner is None
        else needed + encoded_nbytes(codecs) + _index(codecs) + _encode(inner)
    )


def _working(codecs: PreparedCodecChain, which: int) -> int:
    """Return the working memory of the compressors, to encode (0) or decode (1)."""
    most = _WORKING_SMALL + _WORKING_PER_BYTE * _decoded(codecs)
    names = codecs.names[len(codecs.array_to_array) + 1 :]
    return sum(min(most, _WORKING.get(name, _WORKING_OTHER)[which]) for name in names)


def _copies(store: Store, to_write: bool = False) -> int:
    """Return how many copies of an encoded value the store, or its database, makes."""
    if store.traits.files is not None or (store.in_memory and not to_write):
        return 0
    if to_write:
        return 3
    return 1 if store.max_concurrency is None else 2
