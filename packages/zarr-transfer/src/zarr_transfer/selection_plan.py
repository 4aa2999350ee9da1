"""The cost of reading a selection of an array: chunks, requests, bytes and memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil, prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from zarr_core.chunk_grids import RegularAxis
from zarr_core.extension import BasicIndexer, OrthogonalIndexer, escape_controls
from zarr_core.hierarchy.array import parse_selection
from zarr_core.interfaces.selection import MaskIndexer
from zarr_core.messages import format_bytes
from zarr_core.selection.projection import project, project_dimension
from zarr_core.threads import thread_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from zarr_core import Array
    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.extension import ChunkAxis, StoredArray

    NDArray = np.ndarray[Any, Any]

_BATCH = 1 << 20  # bytes that are read with one request, if a part of a stored object is read
_ELEMENT_GAP = 1 << 14  # bytes between elements that are read rather than skipped
_VARIABLE = 256  # assumed bytes of an element of variable size
_ADDED = 1024  # bytes that compressors may add to a chunk of any size
_INDEX_ENTRY, _INDEX_CHECKSUM = 16, 4  # stored bytes of the index of a shard
_INDEX_MEMORY = 96  # bytes of an entry of the index of a shard in memory
_POINT_MEMORY = 32  # bytes for sorting an index of an index array
_THREAD_MEMORY = 1 << 19  # bytes of Python objects and small buffers in each thread


@dataclass(frozen=True, slots=True)
class Plan:
    """The cost of reading a selection; prints as a table.

    Parameters
    ----------
    location : str
        The array.
    shape : tuple of int
        Shape of the result.
    chunks, all_chunks : int
        Number of stored objects, chunks or shards, with selected elements, and of all.
    inner_chunks : int or None
        Number of inner chunks with selected elements; None without shards.
    requests : int
        Number of requests to the store.  Metadata is in memory already.
    read_nbytes : int
        Bytes that these requests transfer if all chunks are stored and not compressed.
    decoded_nbytes : int
        Bytes of all chunks, or inner chunks, that are decoded.
    nbytes : int
        Bytes of the selected elements in memory.
    peak_nbytes : int
        Maximum memory of the call in bytes with the result, without the internal memory of
        compressors and stores.
    """

    location: str
    shape: tuple[int, ...]
    chunks: int
    all_chunks: int
    inner_chunks: int | None
    requests: int
    read_nbytes: int
    decoded_nbytes: int
    nbytes: int
    peak_nbytes: int

    @property
    def amplification(self) -> float | None:
        """Decoded bytes for each selected byte; None if nothing is selected."""
        return self.decoded_nbytes / self.nbytes if self.nbytes else None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return asdict(self) | {"shape": [*self.shape]}

    def __str__(self) -> str:
        unit = "chunks" if self.inner_chunks is None else "shards"
        rows = {
            "selection": " x ".join(map(str, self.shape)) or "one element",
            unit: f"{self.chunks:,} of {self.all_chunks:,}",
        }
        if self.inner_chunks is not None:
            rows["inner chunks"] = f"{self.inner_chunks:,}"
        rows |= {
            "requests": f"{self.requests:,}",
            "bytes to fetch": f"{format_bytes(self.read_nbytes)} uncompressed",
            "bytes to decode": format_bytes(self.decoded_nbytes),
            "bytes selected": format_bytes(self.nbytes),
            "peak memory": format_bytes(self.peak_nbytes),
        }
        width = max(map(len, rows))
        lines = [f"  {name.ljust(width)}  {value}" for name, value in rows.items()]
        return "\n".join([f"read of {escape_controls(self.location)}", *lines])


def plan_selection(
    array: Array,
    selection: Any = ...,
    *,
    indexing: Literal["fancy", "basic", "orthogonal", "coordinate", "mask", "block"] = "fancy",
) -> Plan:
    """Return the requests, bytes and memory of reading a selection; nothing is requested.

    Parameters
    ----------
    array : Array
        The array.
    selection : index
        As in ``array[selection]``; all elements by default.
    indexing : {"fancy", "basic", "orthogonal", "coordinate", "mask", "block"}
        The meaning of the selection: that of ``array[...]``, ``get_basic_selection``, ``oindex``,
        ``vindex``, ``get_mask_selection`` or ``blocks``.

    Returns
    -------
    Plan
        Has the numbers as attributes; prints as a table.

    Raises
    ------
    SelectionError
        If the selection does not fit the array.
    ValueError
        If ``indexing`` is not one of the listed values.

    Notes
    -----
    A plan of slices takes as long for billions of chunks as for a few.

    The requests for whole chunks are exact, and the bytes an upper limit.  Those for parts of shards
    and of uncompressed chunks are an estimate: byte ranges with small gaps are one request, of at
    most 1 MiB.
    """
    parsed = parse_selection(array, selection, indexing)
    stored, selected, count = array.stored, parsed.selection, prod(parsed.shape)
    codecs, itemsize = stored.codecs, stored.resolved.dtype.itemsize
    if isinstance(selected, MaskIndexer):
        selected = selected.to_coordinates()
    chunks = _chunks(selected, stored.axes) if count else _NO_CHUNKS
    requests, decoded, inner = chunks.number, chunks, None
    encoded_nbytes, size = _encoded_nbytes(codecs), codecs.decoded.size
    # Chunks of a rectilinear grid can be larger or smaller than the one of these codecs.
    added = min(_ADDED, max(0, encoded_nbytes - size * itemsize))
    read_nbytes = chunks.number * added + ceil(chunks.size * (encoded_nbytes - added) / size)
    if stored.is_sharded:
        inner = _chunks(selected, _inner_axes(stored)) if count else _NO_CHUNKS
    if codecs.prefers_partial_decode and count:
        decoded = inner or _Chunks(count, count, 0)
        requests, part_nbytes = _partial_requests(stored, selected, chunks, decoded)
        read_nbytes = min(read_nbytes, part_nbytes)
    nbytes = count * itemsize
    working = _working_memory(stored, selected, chunks, decoded)
    return Plan(
        location=str(stored.location),
        shape=parsed.shape,
        chunks=chunks.number,
        all_chunks=prod(axis.count for axis in stored.axes),
        inner_chunks=None if inner is None else inner.number,
        requests=requests,
        read_nbytes=read_nbytes,
        decoded_nbytes=decoded.size * itemsize,
        nbytes=nbytes,
        peak_nbytes=nbytes + working,
    )


# --- the chunks of a selection ---


class _Chunks(NamedTuple):
    """The chunks, or inner chunks, with selected elements."""

    number: int
    size: int  # elements of all of them
    complete: int  # number of those of which all elements are selected


_NO_CHUNKS = _Chunks(0, 0, 0)


def _chunks(selection: Any, axes: Sequence[ChunkAxis]) -> _Chunks:
    """Return the chunks with selected elements; of slices, without enumerating them."""
    if isinstance(selection, BasicIndexer | OrthogonalIndexer):
        along = map(_along, selection.index, axes)
        return _Chunks(*map(prod, zip(*along, strict=True))) if axes else _Chunks(1, 1, 1)
    parts = list(project(selection, axes))
    lengths = (
        [axis.length(n) for axis, n in zip(axes, part.chunk_coords, strict=True)] for part in parts
    )
    return _Chunks(
        len(parts), sum(map(prod, lengths)), sum(part.is_complete_chunk for part in parts)
    )


def _along(item: slice | NDArray, axis: ChunkAxis) -> _Chunks:
    """Return the chunks along one dimension."""
    length = axis.uniform
    if not isinstance(item, slice) or length is None:
        parts = {chunk: complete for chunk, _, _, complete, _ in project_dimension(item, axis)}
        return _Chunks(len(parts), sum(map(axis.length, parts)), sum(parts.values()))
    elements = range(item.start, item.stop, item.step)
    first, last = elements[0] // length, elements[-1] // length
    count = min(len(elements), last - first + 1)
    complete = 0
    if item.step == 1 or length == 1:
        end = axis.count if item.stop >= axis.size else item.stop // length
        complete = count if length == 1 else max(0, end - ceil(item.start / length))
    return _Chunks(count, count * length, complete)


def _inner_axes(stored: StoredArray) -> tuple[ChunkAxis, ...]:
    """Return the inner chunks along each dimension; shards consist of whole ones."""
    sizes = zip(stored.metadata.shape, stored.inner_codecs.decoded.shape, strict=True)
    return tuple(RegularAxis(size, -(-size // length), length) for size, length in sizes)


# --- requests and memory ---


def _encoded_nbytes(codecs: PreparedCodecChain) -> int:
    """Return the bytes of a stored chunk or shard that cannot be compressed."""
    if codecs.decoded.nbytes is None:
        return codecs.decoded.size * _VARIABLE
    inner = codecs.inner_codecs
    if inner is None or codecs.encoded_size is not None:
        return codecs.read_buffer_size
    parts = _inner_count(codecs) * (_encoded_nbytes(inner) + _INDEX_ENTRY) + _INDEX_CHECKSUM
    return max(codecs.read_buffer_size, parts)


def _inner_count(codecs: PreparedCodecChain) -> int:
    """Return the number of inner chunks of a shard; 0 for a chunk."""
    inner = codecs.inner_codecs
    return 0 if inner is None else codecs.decoded.size // inner.decoded.size


def _partial_requests(
    stored: StoredArray, selection: Any, chunks: _Chunks, decoded: _Chunks
) -> tuple[int, int]:
    """Return requests and bytes if stored objects are read in part, as for an average one.

    The parts are inner chunks of shards, or single elements.
    """
    codecs, traits = stored.codecs, stored.chunk_store.traits
    inner, nbytes = codecs.inner_codecs, _encoded_nbytes(codecs)
    if inner is not None:  # the first request reads the index
        shape, part_nbytes = inner.decoded.shape, float(_encoded_nbytes(inner))
        start, stop = (0, 0) if codecs.prefetch is None else codecs.prefetch.within(nbytes)
        opening, opening_nbytes, complete, gap = 1, stop - start, 0, traits.gap_nbytes
    else:  # the first request to a store with latency reads the first part
        shape, part_nbytes = (1,) * len(stored.axes), nbytes / codecs.decoded.size
        opening = int(stored.chunk_store.max_concurrency is not None)
        opening_nbytes, complete = opening * traits.opening_nbytes, chunks.complete
        gap = _ELEMENT_GAP
    lengths = [-(-size // unit) for size, unit in zip(codecs.decoded.shape, shape, strict=True)]
    if isinstance(selection, BasicIndexer) or (isinstance(selection, OrthogonalIndexer) and inner):
        extents = list(map(_extent, selection.index, stored.axes, shape, lengths))
        if inner is None and codecs.order == "F":
            extents.reverse()
    elif isinstance(selection, OrthogonalIndexer):  # read as a whole
        extents, part_nbytes = [], float(nbytes)
    else:
        count = ceil(decoded.number / chunks.number)
        extents = [_Extent(count, max(1, prod(lengths) // count), prod(lengths))]
    ranges, range_nbytes = _byte_ranges(extents, part_nbytes, gap)
    requests = opening + ranges * ceil(range_nbytes / _BATCH)
    needed = min(nbytes, opening_nbytes + ceil(ranges * range_nbytes))
    others = chunks.number - complete
    return complete + others * requests, complete * nbytes + others * needed


class _Extent(NamedTuple):
    """The parts of an average stored object that are read, along one dimension."""

    number: int
    step: int  # from one to the next
    length: int  # number of all parts along the dimension


def _extent(item: slice | NDArray, axis: ChunkAxis, unit: int, length: int) -> _Extent:
    parts = _along(item, RegularAxis(axis.size, -(-axis.size // unit), unit))
    count = ceil(parts.number / _along(item, axis).number)
    step = item.step // unit if isinstance(item, slice) else length // count
    return _Extent(count, max(1, step), length)


def _byte_ranges(extents: Sequence[_Extent], part_nbytes: float, gap: int) -> tuple[int, float]:
    """Return the number of byte ranges and the bytes of each; those with small gaps are one."""
    ranges, nbytes, distance = 1, part_nbytes, part_nbytes
    for count, step, length in reversed(extents):
        if ranges > 1 or (count > 1 and step * distance - nbytes > gap):
            ranges *= count
        else:
            nbytes += (count - 1) * step * distance
        distance *= length
    return ranges, nbytes


def _working_memory(stored: StoredArray, selection: Any, chunks: _Chunks, decoded: _Chunks) -> int:
    """Return the memory in addition to the result."""
    codecs = stored.codecs
    is_partial = codecs.prefers_partial_decode
    decoder = stored.inner_codecs if is_partial else codecs
    reads_elements = is_partial and codecs.inner_codecs is None
    tasks = chunks.number if reads_elements else decoded.number
    threads = min(tasks, stored.threads or thread_count())
    reads_whole = not reads_elements or chunks.complete or isinstance(selection, OrthogonalIndexer)
    encoded_nbytes = _encoded_nbytes(decoder) if reads_whole else 0
    each = _THREAD_MEMORY + 2 * max(_BATCH if is_partial else 0, encoded_nbytes)
    if not reads_elements:
        # Codecs may return their output in memory of their own, and convert it.
        copies = 1 + 2 * len(decoder.bytes_to_bytes) + 2 * len(decoder.array_to_array)
        copies += decoder.memory_dtype is None
        nbytes = decoder.decoded.nbytes
        each += copies * (decoder.decoded.size * _VARIABLE if nbytes is None else nbytes)
    indexes = min(chunks.number, threads) * _inner_count(codecs) * _INDEX_MEMORY
    points = sum(
        len(item) for item in getattr(selection, "index", ()) if not isinstance(item, slice)
    )
    return threads * each + indexes + points * _POINT_MEMORY
