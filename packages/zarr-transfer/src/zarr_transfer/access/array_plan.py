"""Compute the plan of a read or write of an array."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from zarr_core.extension import BasicIndexer, CoordinateIndexer, OrthogonalIndexer
from zarr_core.tools import (
    MaskIndexer,
    RegularAxis,
    concurrent_map,
    in_one_thread,
    parse_selection,
    project,
    thread_count,
)

from zarr_transfer.access.dry_run import DryArray, NullArray, Requests
from zarr_transfer.access.plan import Plan
from zarr_transfer.access.similar_chunks import similar_parts
from zarr_transfer.access.task_memory import read_memory, write_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core import Array
    from zarr_core.extension import ChunkAxis
    from zarr_core.tools import ParsedSelection, PreparedCodecChain, StoredArray

    from zarr_transfer.access.similar_chunks import ChunkPart

Indexing: TypeAlias = Literal["fancy", "basic", "orthogonal", "coordinate", "mask", "block"]

_FEW = 100  # number of sizes that are requested one by one
_PER_POINT = 32  # bytes for sorting the coordinates of a point


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
        Has the numbers as attributes; prints as a table, with a picture of the chunks.

    Raises
    ------
    SelectionError
        If the selection does not fit the array.
    ValueError
        If ``access`` or ``indexing`` is not one of the listed values.

    Notes
    -----
    A plan without ``exact`` takes about as long for billions of chunks as for a few, if the
    selection consists of slices.
    """
    parsed = parse_selection(array, selection, indexing)
    if access not in ("read", "write"):
        raise ValueError(f'access must be "read" or "write", not {access!r}')
    stored = array.stored
    parts = [*similar_parts(parsed.selection, stored.axes)] if prod(parsed.shape) else []
    chunks = sum(part.chunks for part in parts)
    is_read = access == "read"
    read = parts if is_read else [part for part in parts if not part.is_complete]
    dry = DryArray(stored, _sizes(stored, parsed.selection, is_read) if exact else None)
    if is_read:
        fetched = _read_requests(dry, stored, parsed, parts)
    else:
        fetched = _update_requests(dry, stored, parsed.selection, parts)
    nbytes = prod(parsed.shape) * stored.resolved.dtype.itemsize
    smallest = smallest_memory(stored, parsed.selection, parts, access)
    peak = peak_memory(stored, parsed.selection, parts, access)
    return Plan(
        location=str(stored.location),
        access=access,
        shape=parsed.shape,
        chunks=chunks,
        inner_chunks=_inner_chunks(stored, parts) if stored.is_sharded else None,
        read_requests=fetched.requests,
        write_requests=0 if is_read else chunks,
        read_nbytes=fetched.nbytes,
        write_nbytes=0
        if is_read
        else sum(group.chunks * dry.dry(_codecs(stored, group)).assumed_size for group in parts),
        decoded_nbytes=sum(
            g.chunks * _decoded_nbytes(_codecs(stored, g), g.inside, not is_read) for g in read
        ),
        nbytes=nbytes,
        peak_nbytes=peak + (nbytes if is_read else 0),
        smallest_nbytes=smallest,
        is_exact=exact,
        _stored=stored,
        _parsed=parsed,
    )


def _codecs(stored: StoredArray, part: ChunkPart) -> PreparedCodecChain:
    return stored.resolved.codecs_for(part.chunk_coords)


# --- requests ---


def _read_requests(
    dry: DryArray, stored: StoredArray, parsed: ParsedSelection, parts: Iterable[ChunkPart]
) -> Requests:
    order = stored.result_order or stored.resolved.order
    order = order if parsed.allows_fortran else "C"
    out = parsed.view(NullArray.of(parsed.shape, stored.resolved.dtype, order))
    selection = parsed.selection
    with in_one_thread(also_requests=True):
        if not dry.is_assumed or isinstance(selection, CoordinateIndexer | MaskIndexer):
            dry.read(selection, out)
            return dry.log.take()
        total = Requests()
        for part in parts:
            dry.read(part.selection(stored.axes), out[part.out_selection])
            requests = dry.log.take()
            total = Requests(*(a + part.chunks * b for a, b in zip(total, requests, strict=True)))
    return total


def _update_requests(
    dry: DryArray, stored: StoredArray, selection: Any, parts: Iterable[ChunkPart]
) -> Requests:
    """Return one request for each chunk that is read as a whole before it is changed."""
    if dry.is_assumed:
        changed = [part for part in parts if not part.is_complete]
        nbytes = sum(one.chunks * dry.dry(_codecs(stored, one)).assumed_size for one in changed)
        return Requests(sum(part.chunks for part in changed), nbytes)
    keys = [stored.chunk_key(part[0]) for part in project(selection, stored.axes) if not part[3]]
    return Requests(len(keys), sum(dry.sizes.get(key, 0) for key in keys))


def _sizes(stored: StoredArray, selection: Any, is_read: bool) -> dict[str, int]:
    """Return the stored sizes of the chunks of a selection."""
    if is_read and stored.is_sharded and stored.codecs.prefers_partial_decode:
        return {}  # shards are opened
    store = stored.chunk_store
    keys = {stored.chunk_key(p[0]) for p in project(selection, stored.axes) if is_read or not p[3]}
    total = prod(axis.count for axis in stored.axes)
    if store.supports_listing and len(keys) > _FEW and 10 * len(keys) > total:
        return {key: size for key, size in store.list_sizes(stored.prefix) if key in keys}
    sizes = concurrent_map(keys, store.getsize, store.max_concurrency)
    return {key: size for key, size in sizes if size is not None}


# --- decoding ---


def _inner_axes(codecs: PreparedCodecChain) -> tuple[ChunkAxis, ...]:
    assert codecs.inner_codecs is not None
    shapes = zip(codecs.decoded.shape, codecs.inner_codecs.decoded.shape, strict=True)
    return tuple(RegularAxis(size, -(-size // length), length) for size, length in shapes)


def _inner_chunks(stored: StoredArray, parts: Iterable[ChunkPart]) -> int:
    return sum(
        part.chunks * inner.chunks
        for part in parts
        for inner in similar_parts(part.inside, _inner_axes(_codecs(stored, part)))
    )


def _decoded_nbytes(codecs: PreparedCodecChain, inside: Any, only_changed: bool) -> int:
    """Return the bytes that are decoded for a selection of one chunk.

    ``only_changed`` is whether inner chunks that are selected completely are not decoded.
    """
    itemsize = codecs.dtype.itemsize
    if codecs.prefers_partial_decode and codecs.inner_codecs is not None:
        inner = codecs.inner_codecs
        if isinstance(inside, MaskIndexer):
            inside = inside.to_coordinates()
        return sum(
            part.chunks * _decoded_nbytes(inner, part.inside, only_changed)
            for part in similar_parts(inside, _inner_axes(codecs))
            if not (only_changed and part.is_complete)
        )
    if codecs.prefers_partial_decode and not only_changed:
        shape: tuple[int, ...] = inside.shape
        return prod(shape) * itemsize
    nbytes = codecs.decoded.nbytes
    return codecs.decoded.size * itemsize if nbytes is None else nbytes


# --- memory ---


def smallest_memory(
    stored: StoredArray, selection: Any, parts: Iterable[ChunkPart], access: str
) -> int:
    """Return the memory in bytes for reading or writing one chunk after the other."""
    tasks = (_task_memory(stored, part, access, 1) for part in parts)
    return max(tasks, default=0) + _for_points(selection)


def peak_memory(
    stored: StoredArray, selection: Any, parts: Sequence[ChunkPart], access: str
) -> int:
    """Return the memory in bytes for reading or writing one chunk in each thread."""
    threads = thread_count() if stored.threads is None else stored.threads
    outer = max(1, min(threads, sum(part.chunks for part in parts)))
    tasks = (_task_memory(stored, part, access, max(1, threads // outer)) for part in parts)
    return outer * max(tasks, default=0) + _for_points(selection)


def _task_memory(stored: StoredArray, part: ChunkPart, access: str, threads: int) -> int:
    codecs = _codecs(stored, part)
    if access == "write":
        return write_memory(stored, codecs, threads, is_complete=part.is_complete)
    only_slices = isinstance(part.inside, BasicIndexer)
    is_whole = part.is_complete or not only_slices
    needed = read_memory(stored, codecs, threads, is_whole=is_whole)
    if not only_slices:  # copied to the result
        needed += 2 * prod(part.inside.shape) * codecs.dtype.itemsize
    return needed


def _for_points(selection: Any) -> int:
    if isinstance(selection, CoordinateIndexer):
        return _PER_POINT * len(selection.index[0]) if selection.index else 0
    if isinstance(selection, OrthogonalIndexer):
        return _PER_POINT * sum(len(i) for i in selection.index if not isinstance(i, slice))
    return 0
