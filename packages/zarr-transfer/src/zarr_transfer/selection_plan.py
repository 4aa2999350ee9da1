"""Plans of reads and writes of arrays: chunks, requests, bytes and memory, before they are done."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from itertools import product
from math import ceil, prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from zarr_core.chunk_grids import RegularAxis
from zarr_core.extension import (
    BasicIndexer,
    ChunkDecodeError,
    CoordinateIndexer,
    OrthogonalIndexer,
    SubchunkCodec,
    escape_controls,
)
from zarr_core.hierarchy.array import parse_selection
from zarr_core.interfaces.selection import MaskIndexer
from zarr_core.messages import format_bytes
from zarr_core.selection.projection import project, project_dimension
from zarr_core.threads import concurrent_map

from zarr_transfer.memory import call_memory, encoded_nbytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core import Array
    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.extension import ChunkAxis, StoredArray
    from zarr_core.selection.projection import ChunkProjection

    NDArray = np.ndarray[Any, Any]
    # Number of chunks, and of one of them: number, selected elements, whether all are.
    _Similar = tuple[int, int, slice | NDArray, bool]

Indexing: TypeAlias = Literal["fancy", "basic", "orthogonal", "coordinate", "mask", "block"]

_FEW = 100  # sizes that are requested one by one
_SMALL = 1 << 14  # bytes of a shard, or between elements, that are read rather than skipped
_BATCH = 1 << 20  # bytes that are read with one request


@dataclass(frozen=True, slots=True)
class Plan:
    """The requests, bytes and memory of a read or write, before it is done; prints as a table.

    Parameters
    ----------
    location : str
        The array.
    access : {"read", "write"}
        The kind of access.
    shape : tuple of int
        Shape of the result, or of the value to write.
    chunks : int
        Number of stored objects, chunks or shards, with selected elements.
    inner_chunks : int or None
        Number of inner chunks with selected elements; None without shards.
    read_requests, write_requests : int
        Number of requests to the store.  Metadata is in memory already.
    read_nbytes, write_nbytes : int
        Encoded bytes that these requests transfer.
    decoded_nbytes : int
        Bytes of all chunks, or inner chunks, that are decoded.
    nbytes : int
        Bytes of the selected elements in memory.
    peak_nbytes : int
        Maximum memory of the call in bytes, with the result of a read, without the value of a
        write.
    smallest_nbytes : int
        The smallest ``max_memory`` in bytes for the same call, with ``out`` for a read: the
        memory in addition to the arrays of the caller.
    is_exact : bool
        Whether the store was asked for the sizes of the chunks and the indexes of the shards.
        Otherwise all chunks are assumed to be stored and not to compress, so that
        ``read_nbytes`` is an upper limit.

    Notes
    -----
    Written bytes depend on the elements; ``write_nbytes`` is an upper limit.
    """

    location: str
    access: Literal["read", "write"]
    shape: tuple[int, ...]
    chunks: int
    inner_chunks: int | None
    read_requests: int
    write_requests: int
    read_nbytes: int
    write_nbytes: int
    decoded_nbytes: int
    nbytes: int
    peak_nbytes: int
    smallest_nbytes: int
    is_exact: bool
    all_chunks: int = field(repr=False)

    @property
    def requests(self) -> int:
        """Number of all requests."""
        return self.read_requests + self.write_requests

    @property
    def amplification(self) -> float | None:
        """Decoded bytes for each selected byte; None if nothing is selected."""
        return self.decoded_nbytes / self.nbytes if self.nbytes else None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        members = {item.name: getattr(self, item.name) for item in fields(self) if item.repr}
        return members | {"shape": [*self.shape], "requests": self.requests}

    def __str__(self) -> str:
        unit = "shards" if self.inner_chunks is not None else "chunks"
        limit = "" if self.is_exact else "at most "
        is_read = self.access == "read"
        rows = [("selection", f"{' x '.join(map(str, self.shape)) or 'one element'}")]
        rows.append((unit, f"{self.chunks:,} of {self.all_chunks:,}"))
        if self.inner_chunks is not None:
            rows.append(("inner chunks", f"{self.inner_chunks:,}"))
        rows.append(("requests" if is_read else "requests to read", f"{self.read_requests:,}"))
        rows.append(("bytes to fetch", limit + format_bytes(self.read_nbytes)))
        if not is_read:
            rows.append(("requests to write", f"{self.write_requests:,}"))
            rows.append(("bytes to store", "at most " + format_bytes(self.write_nbytes)))
        rows.append(("bytes to decode", format_bytes(self.decoded_nbytes)))
        rows.append(("bytes selected", format_bytes(self.nbytes)))
        rows.append(("peak memory", format_bytes(self.peak_nbytes)))
        rows.append(("smallest max_memory", format_bytes(self.smallest_nbytes)))
        width = max(len(name) for name, _ in rows)
        lines = [f"{self.access} of {escape_controls(self.location)}"]
        return "\n".join(lines + [f"  {name.ljust(width)}  {value}" for name, value in rows])


def plan_selection(
    array: Array,
    selection: Any = ...,
    access: Literal["read", "write"] = "read",
    *,
    indexing: Indexing = "fancy",
    exact: bool = False,
) -> Plan:
    """Return the requests, bytes and memory of reading or writing a selection.

    Parameters
    ----------
    array : Array
        The array.
    selection : index
        As in ``array[selection]``; all elements by default.
    access : {"read", "write"}
        Whether elements are read or written.
    indexing : {"fancy", "basic", "orthogonal", "coordinate", "mask", "block"}
        The meaning of the selection: that of ``array[...]``, ``get_basic_selection``, ``oindex``,
        ``vindex``, ``get_mask_selection`` or ``blocks``.
    exact : bool
        Whether to ask the store for the sizes of the chunks, and read the indexes of the shards.
        By default nothing is requested: every chunk is assumed to be stored, and not to compress.

    Returns
    -------
    Plan
        Has the numbers as attributes; prints as a table.

    Raises
    ------
    SelectionError
        If the selection does not fit the array.
    ValueError
        If ``access`` or ``indexing`` is not one of the listed values.

    Notes
    -----
    A plan of slices without ``exact`` takes as long for billions of chunks as for a few.

    Requests for whole chunks are exact.  Those for parts of shards and of uncompressed chunks are
    estimated: byte ranges with small gaps are one request, of at most 1 MiB.
    """
    parsed = parse_selection(array, selection, indexing)
    if access not in ("read", "write"):
        raise ValueError(f'access must be "read" or "write", not {access!r}')
    stored = array.stored
    is_read = access == "read"
    parts = [*similar_parts(parsed.selection, stored.axes)] if prod(parsed.shape) else []
    chunks = sum(part.chunks for part in parts)
    read = parts if is_read else [part for part in parts if not part.is_complete]
    requests = nbytes = 0
    if exact:
        each = _stored_requests(stored, parsed.selection if parts else None, is_read=is_read)
    else:
        each = ((part.chunks, *_requests(stored, part, is_read=is_read)) for part in read)
    for count, more, amount in each:
        requests += count * more
        nbytes += count * amount
    selected = prod(parsed.shape) * stored.resolved.dtype.itemsize
    return Plan(
        location=str(stored.location),
        access=access,
        shape=parsed.shape,
        chunks=chunks,
        inner_chunks=_inner_chunks(stored, parts) if stored.is_sharded else None,
        read_requests=requests,
        write_requests=0 if is_read else chunks,
        read_nbytes=nbytes,
        write_nbytes=0
        if is_read
        else sum(part.chunks * encoded_nbytes(_codecs(stored, part)) for part in parts),
        decoded_nbytes=sum(
            part.chunks * _decoded_nbytes(_codecs(stored, part), part, is_read=is_read)
            for part in read
        ),
        nbytes=selected,
        peak_nbytes=call_memory(stored, parsed.selection, parts, access) + is_read * selected,
        smallest_nbytes=call_memory(stored, parsed.selection, parts, access, threads=1),
        is_exact=exact,
        all_chunks=prod(axis.count for axis in stored.axes),
    )


# --- the chunks of a selection ---


class ChunkPart(NamedTuple):
    """The part of a selection in one chunk, or in each of several similar chunks.

    ``inside`` are the selected elements of the chunk at ``chunk_coords``.  ``is_complete`` is
    whether all elements of the chunk inside the array are selected.
    """

    chunks: int
    chunk_coords: tuple[int, ...]
    inside: Any
    is_complete: bool


def similar_parts(selection: Any, axes: Sequence[ChunkAxis]) -> Iterator[ChunkPart]:
    """Group chunks with as many selected elements; slices form few groups."""
    if not isinstance(selection, BasicIndexer | OrthogonalIndexer) or not axes:
        for part in project(selection, axes):
            yield ChunkPart(1, part.chunk_coords, part.chunk_selection, part.is_complete_chunk)
        return
    groups = [_similar(item, axis) for item, axis in zip(selection.index, axes, strict=True)]
    for combination in product(*groups):
        counts, coords, items, complete = zip(*combination, strict=True)
        only_slices = all(isinstance(item, slice) for item in items)
        inside = BasicIndexer(items) if only_slices else OrthogonalIndexer(items)
        yield ChunkPart(prod(counts), coords, inside, all(complete))


def _similar(item: slice | NDArray, axis: ChunkAxis) -> list[_Similar]:
    """Return the chunks along one dimension, similar ones together."""
    length = axis.uniform
    if isinstance(item, slice) and length is not None:
        elements = range(item.start, item.stop, item.step)
        first, last = (elements[0] // length, elements[-1] // length) if elements else (0, -1)
        if last - first > 2:
            return _similar_inside(elements, length, axis)
    groups: dict[Any, _Similar] = {}
    inside: Any
    for chunk, inside, _, complete, _ in project_dimension(item, axis):
        is_slice = isinstance(inside, slice)
        same = (inside.start, inside.stop, inside.step) if is_slice else inside.tobytes()
        key = (axis.length(chunk), complete, same)
        count = groups[key][0] if key in groups else 0
        groups[key] = (count + 1, chunk, inside, complete)
    return [*groups.values()]


def _similar_inside(elements: range, length: int, axis: ChunkAxis) -> list[_Similar]:
    """Return the first and the last chunk of a slice, and two groups of those between them.

    Two of these have the same number of selected elements, or one has one more.
    """
    step, first, last = elements.step, elements[0] // length, elements[-1] // length
    start = elements[0] + ceil((last * length - elements[0]) / step) * step
    ends = slice(elements[0], (first + 1) * length, step), slice(start, elements.stop, step)
    edges = [project_dimension(end, axis)[0] for end in ends]
    groups = [(1, chunk, inside, complete) for chunk, inside, _, complete, _ in edges]
    count = len(elements) - sum(len(range(end.start, end.stop, step)) for end in ends)
    fewer, rest = divmod(count, last - first - 1)
    for chunks, number in ((rest, fewer + 1), (last - first - 1 - rest, fewer)):
        if chunks and number:
            at = min(step - 1, length - 1 - (number - 1) * step) if number == fewer else 0
            inside = slice(at, at + (number - 1) * step + 1, step)
            groups.append((chunks, first + 1, inside, number == length))
    return groups


def _inner_axes(codecs: PreparedCodecChain) -> tuple[ChunkAxis, ...]:
    assert codecs.inner_codecs is not None
    shapes = zip(codecs.decoded.shape, codecs.inner_codecs.decoded.shape, strict=True)
    return tuple(RegularAxis(size, -(-size // length), length) for size, length in shapes)


def _inner_parts(codecs: PreparedCodecChain, part: ChunkPart) -> Iterator[ChunkPart]:
    return similar_parts(_without_mask(part.inside), _inner_axes(codecs))


def _inner_chunks(stored: StoredArray, parts: Iterable[ChunkPart]) -> int:
    return sum(
        part.chunks * inner.chunks
        for part in parts
        for inner in _inner_parts(_codecs(stored, part), part)
    )


def _without_mask(inside: Any) -> Any:
    return inside.to_coordinates() if isinstance(inside, MaskIndexer) else inside


def _codecs(stored: StoredArray, part: ChunkPart) -> PreparedCodecChain:
    return stored.resolved.codecs_for(part.chunk_coords)


def _decoded_nbytes(codecs: PreparedCodecChain, part: ChunkPart, *, is_read: bool) -> int:
    """Return the bytes that are decoded; a write decodes only what it changes in part."""
    itemsize = codecs.dtype.itemsize
    if codecs.prefers_partial_decode and codecs.inner_codecs is not None:
        inner = codecs.inner_codecs.decoded.size * itemsize
        parts = _inner_parts(codecs, part)
        return inner * sum(item.chunks for item in parts if is_read or not item.is_complete)
    if codecs.prefers_partial_decode and is_read:
        return int(prod(part.inside.shape)) * itemsize
    return codecs.decoded.size * itemsize


# --- requests ---


def _stored_requests(
    stored: StoredArray, selection: Any, *, is_read: bool
) -> Iterator[tuple[int, int, int]]:
    """Return 1, requests and bytes for each chunk, by the sizes that the store returns."""
    projections: Iterable[ChunkProjection] = ()
    if selection is not None:
        projections = project(selection, stored.axes)
    parts = [
        ChunkPart(1, part.chunk_coords, part.chunk_selection, part.is_complete_chunk)
        for part in projections
        if is_read or not part.is_complete_chunk
    ]
    if is_read and stored.codecs.prefers_partial_decode and stored.is_sharded:
        opened = concurrent_map(
            range(len(parts)),
            lambda number: _open_shard(stored, parts[number]),
            stored.chunk_store.max_concurrency,
        )
        for number, (nbytes, sizes) in opened:
            yield 1, *_requests(stored, parts[number], nbytes, sizes, is_read=is_read)
        return
    keys = {stored.chunk_key(part.chunk_coords): part for part in parts}
    known = _sizes(stored, keys.keys())
    for key, part in keys.items():
        yield 1, *_requests(stored, part, known.get(key, 0), is_read=is_read)


def _sizes(stored: StoredArray, keys: Iterable[str]) -> dict[str, int]:
    """Return the sizes of the stored chunks among these keys."""
    store, chosen = stored.chunk_store, {*keys}
    total = prod(axis.count for axis in stored.axes)
    if store.supports_listing and len(chosen) > _FEW and 10 * len(chosen) > total:
        return {key: size for key, size in store.list_sizes(stored.prefix) if key in chosen}
    sizes = concurrent_map(chosen, store.getsize, store.max_concurrency)
    return {key: size for key, size in sizes if size is not None}


def _open_shard(stored: StoredArray, part: ChunkPart) -> tuple[int, NDArray | None]:
    """Return the size of a shard, 0 if it is not stored, and the sizes of its inner chunks."""
    codecs, key = _codecs(stored, part), stored.chunk_key(part.chunk_coords)
    codec = codecs.array_to_bytes
    reader = stored.chunk_store.open_value(key, codecs.prefetch)
    if reader is None or not isinstance(codec, SubchunkCodec):
        return 0, None
    with reader:
        try:
            return reader.size, codec.inner_chunk_sizes(reader, codecs.decoded)
        except ChunkDecodeError as error:
            location = stored.key_location(key)
            raise type(error)(error.reason, error.codec, location) from error


def _requests(
    stored: StoredArray,
    part: ChunkPart,
    nbytes: int | None = None,
    inner_sizes: NDArray | None = None,
    *,
    is_read: bool,
) -> tuple[int, int]:
    """Return the requests for a part of one chunk, and the bytes of the responses.

    ``nbytes`` is the size of the stored chunk, 0 if it is missing, and None to assume that it does
    not compress.
    """
    codecs, store = _codecs(stored, part), stored.chunk_store
    size = encoded_nbytes(codecs) if nbytes is None else nbytes
    if not size or not is_read or not codecs.prefers_partial_decode:
        return 1, size
    if codecs.inner_codecs is not None:
        if size <= _SMALL:
            return 1, size
        # The first request reads the index; what it reads besides may be read again.
        start, stop = (0, 0) if codecs.prefetch is None else codecs.prefetch.within(size)
        if size <= _BATCH and 2 * prod(part.inside.shape) >= codecs.decoded.size:
            return 2, stop - start + size
        requests, amount = _ranges(
            *_inner_ranges(codecs, part, inner_sizes), store.traits.gap_nbytes
        )
        return 1 + requests, stop - start + min(size, amount)
    if part.is_complete:
        return 1, size
    requests, amount = _element_ranges(codecs, _without_mask(part.inside), size)
    # The request that opens a value of a remote store reads its first part.
    opening = store.max_concurrency is not None
    return opening + requests, min(size, opening * store.traits.opening_nbytes + amount)


def _inner_ranges(
    codecs: PreparedCodecChain, part: ChunkPart, sizes: NDArray | None
) -> tuple[NDArray, NDArray]:
    """Return starts and stops of the selected inner chunks, as if they are stored in C order."""
    axes, inside = _inner_axes(codecs), _without_mask(part.inside)
    grid = tuple(axis.count for axis in axes)
    if sizes is None:
        assert codecs.inner_codecs is not None
        sizes = np.full(grid, encoded_nbytes(codecs.inner_codecs))
    touched = [
        axis.chunks_of(np.arange(item.start, item.stop, item.step))
        if isinstance(item, slice)
        else axis.chunks_of(item)
        for item, axis in zip(inside.index, axes, strict=True)
    ]
    if not isinstance(inside, CoordinateIndexer):
        touched = [*np.ix_(*map(np.unique, touched))]
    numbers = np.unique(np.ravel_multi_index(touched, grid)) if grid else np.zeros(1, int)
    lengths = sizes.reshape(-1)
    stops = np.maximum(lengths, 0).cumsum()
    numbers = numbers[lengths[numbers] >= 0]
    return stops[numbers] - lengths[numbers], stops[numbers]


def _ranges(starts: NDArray, stops: NDArray, gap: int) -> tuple[int, int]:
    """Return requests and bytes for sorted byte ranges; neighbours are read together."""
    if not len(starts):
        return 0, 0
    apart = starts[1:] - stops[:-1] > gap
    lengths = stops[np.append(apart, True)] - starts[np.append(True, apart)]
    return int((-(-lengths // _BATCH)).sum()), int(lengths.sum())


def _element_ranges(codecs: PreparedCodecChain, inside: Any, size: int) -> tuple[int, int]:
    """Return requests and bytes for elements of a chunk that is stored as its memory."""
    shape, itemsize = codecs.decoded.shape, codecs.dtype.itemsize
    if isinstance(inside, CoordinateIndexer):
        starts = np.unique(np.ravel_multi_index(inside.index, shape)) * itemsize
        return _ranges(starts, starts + itemsize, _SMALL)
    if not isinstance(inside, BasicIndexer):
        return -(-size // _BATCH), size
    requests, span, stride = 1, itemsize, itemsize
    for part, length in zip(reversed(inside.index), reversed(shape), strict=True):
        count, step = len(range(part.start, part.stop, part.step)), part.step * stride
        if requests > 1 or (count > 1 and step - span > _SMALL):
            requests *= count
        else:
            span += (count - 1) * step
        stride *= length
    return requests * -(-span // _BATCH), requests * span
