"""Reads and writes within a memory limit: as many chunks at the same time as fit."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.hierarchy.array import check_out, parse_selection
from zarr_core.hierarchy.assigned_values import assigned_values, is_chunked
from zarr_core.interfaces.selection import MaskIndexer
from zarr_core.selection.projection import project
from zarr_core.threads import available_threads, in_one_thread, parallel_for

from zarr_transfer.errors import MemoryLimitError
from zarr_transfer.memory import call_memory
from zarr_transfer.plan import check_max_memory
from zarr_transfer.selection_plan import similar_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core import Array
    from zarr_core.extension import ChunkAxis, StoredArray
    from zarr_core.selection.parse import ParsedSelection
    from zarr_core.selection.projection import ChunkProjection

    from zarr_transfer.selection_plan import ChunkPart, Indexing

    NDArray = np.ndarray[Any, Any]


def read_within(
    array: Array,
    selection: Any = ...,
    *,
    max_memory: int,
    indexing: Indexing = "fancy",
    out: NDArray | None = None,
) -> Any:
    """Read a selection within a memory limit: fewer chunks at the same time.

    Parameters
    ----------
    array : Array
        The array.
    selection : index
        As in ``array[selection]``; all elements by default.
    max_memory : int
        Maximum memory of the call in bytes, without ``out``.
    indexing : {"fancy", "basic", "orthogonal", "coordinate", "mask", "block"}
        The meaning of the selection, as for :func:`plan_selection`.
    out : ndarray, optional
        Receives the result, as for :meth:`zarr_core.Array.get_basic_selection`.

    Returns
    -------
    ndarray or scalar
        ``out`` if passed; a scalar if every dimension has an integer.

    Raises
    ------
    MemoryLimitError
        If the limit is too small for one chunk, and for the result if ``out`` is None or has
        another data type; nothing is read, and the message has the smallest limit.
    SelectionError, TypeError
        If the selection, ``out`` or the limit is not valid.
    """
    check_max_memory(max_memory)
    stored = array.stored
    parsed = parse_selection(array, selection, indexing)
    dtype = stored.resolved.dtype
    if out is not None:
        check_out(stored, out, parsed.shape, dtype)
    # The elements are read to ``out`` where it has the same form, otherwise to a copy.
    result = out if out is not None and _has_form(parsed, out, dtype) else None
    own = 0 if result is not None else prod(parsed.shape) * dtype.itemsize
    parts = [*similar_parts(parsed.selection, stored.axes)] if prod(parsed.shape) else []
    needed = call_memory(stored, parsed.selection, parts, "read", threads=1)
    if own + needed > max_memory:
        raise MemoryLimitError(stored.location, max_memory, own + needed)
    if result is None:
        order = stored.result_order or stored.resolved.order
        result = np.empty(parsed.shape, dtype, order if parsed.allows_fortran else "C")
    view = result if parsed.is_identity else parsed.view(result)
    if own + call_memory(stored, parsed.selection, parts, "read") <= max_memory:
        stored.read(parsed.selection, view)
    else:
        limited = _in_python(stored)

        def work(part: ChunkProjection) -> None:
            selection = _in_array(part, stored.axes)
            if all(type(item) is slice for item in part.out_selection):
                limited.read(selection, view[part.out_selection])
                return
            values = np.empty(selection.shape, dtype)
            limited.read(selection, values)
            view[part.out_selection] = values

        _for_each(stored, parsed, work, max(1, (max_memory - own) // max(1, needed)))
    if out is None:
        return result[()] if parsed.scalar else result
    if result is not out:
        out[...] = result
    return out


def write_within(
    array: Array,
    selection: Any,
    value: Any,
    *,
    max_memory: int,
    indexing: Indexing = "fancy",
) -> None:
    """Write a selection within a memory limit: fewer chunks at the same time.

    Parameters
    ----------
    array : Array
        The array.
    selection : index
        As in ``array[selection] = value``.
    value : array-like
        Broadcasts to the shape of the selection.  An array of another library with that shape, such
        as an HDF5 dataset, is read in parts.
    max_memory : int
        Maximum memory of the call in bytes, without ``value``.
    indexing : {"fancy", "basic", "orthogonal", "coordinate", "mask", "block"}
        The meaning of the selection, as for :func:`plan_selection`.

    Raises
    ------
    MemoryLimitError
        If the limit is too small for one chunk; nothing is written, and the message has the
        smallest limit.
    SelectionError, TypeError, ValueError
        If the selection, the value or the limit is not valid.
    StoreReadOnlyError
        If the array was opened for reading.
    """
    check_max_memory(max_memory)
    stored = array.stored
    stored.check_writable()
    parsed = parse_selection(array, selection, indexing)
    values = value
    if not is_chunked(value) or value.shape != parsed.shape:
        values = assigned_values(stored, parsed, value, None)
    if not prod(parsed.shape):
        return
    parts = [*similar_parts(parsed.selection, stored.axes)]
    needed = call_memory(stored, parsed.selection, parts, "write", threads=1)
    own = 0
    take: Callable[[tuple[Any, ...]], NDArray]
    if isinstance(values, np.ndarray):
        whole = values
        take = whole.__getitem__
    elif _has_same_axes(parsed):
        needed += 2 * max(_nbytes(stored, part) for part in parts)
        needed += _chunk_nbytes(values)

        def take(index: tuple[Any, ...]) -> NDArray:
            return np.asarray(values[index])
    else:
        own = prod(values.shape) * values.dtype.itemsize
    if own + needed > max_memory:
        raise MemoryLimitError(stored.location, max_memory, own + needed)
    if own:
        take = parsed.broadcast(np.asarray(values[...])).__getitem__
    elif (
        isinstance(values, np.ndarray)
        and call_memory(stored, parsed.selection, parts, "write") <= max_memory
    ):
        stored.write(parsed.selection, values)
        return
    limited = _in_python(stored)

    def work(part: ChunkProjection) -> None:
        limited.write(_in_array(part, stored.axes), take(part.out_selection))

    _for_each(stored, parsed, work, max(1, (max_memory - own) // needed))


def _for_each(
    stored: StoredArray, parsed: ParsedSelection, work: Callable[[ChunkProjection], None], most: int
) -> None:
    threads = min(most, available_threads() if stored.threads is None else stored.threads)

    def alone(part: ChunkProjection) -> None:
        with in_one_thread(also_requests=True):
            work(part)

    parallel_for(project(parsed.selection, stored.axes), alone, threads > 1, threads)


def _in_array(part: ChunkProjection, axes: Sequence[ChunkAxis]) -> Any:
    """Return the selected elements of a chunk, relative to the array."""
    inside: Any = part.chunk_selection
    if isinstance(inside, MaskIndexer):
        inside = inside.to_coordinates()
    starts = [axis.start(at) for axis, at in zip(axes, part.chunk_coords, strict=True)]
    index = tuple(
        slice(item.start + start, item.stop + start, item.step)
        if isinstance(item, slice)
        else item + start
        for item, start in zip(inside.index, starts, strict=True)
    )
    return type(inside)(index)


def _in_python(stored: StoredArray) -> StoredArray:
    """Return the same array without compiled code, which has its own threads."""
    same = stored.with_metadata(stored.metadata)
    same.native = None
    return same


def _has_form(parsed: ParsedSelection, out: NDArray, dtype: np.dtype[Any]) -> bool:
    """Whether elements can be read to an array without a copy."""
    return parsed.can_view(out) and out.dtype == dtype and out.flags.aligned


def _has_same_axes(parsed: ParsedSelection) -> bool:
    """Whether the part of a chunk is a slice of an array with the shape of the result."""
    return (
        parsed.shape == parsed.selection.shape and not parsed.transpose and not parsed.reversed_axes
    )


def _nbytes(stored: StoredArray, part: ChunkPart) -> int:
    shape: tuple[int, ...] = part.inside.shape
    return prod(shape) * stored.resolved.dtype.itemsize


def _chunk_nbytes(values: Any) -> int:
    """Return the bytes of a chunk of an array of another library, as far as is known."""
    try:
        return int(prod(values.chunks) * values.dtype.itemsize)
    except TypeError:  # None, or several lengths along a dimension
        return 0
