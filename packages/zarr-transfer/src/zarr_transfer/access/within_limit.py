"""Reads and writes within a memory limit: as many chunks at the same time as fit."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.tools import (
    StoredArray,
    assigned_values,
    available_threads,
    check_out,
    field_index,
    in_one_thread,
    is_chunked,
    parallel_for,
    parse_selection,
)

from zarr_transfer.access.array_plan import peak_memory, smallest_memory
from zarr_transfer.access.similar_chunks import chunk_parts, similar_parts
from zarr_transfer.errors import MemoryLimitError
from zarr_transfer.spec import check_max_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Array
    from zarr_core.tools import ParsedSelection

    from zarr_transfer.access.array_plan import Indexing
    from zarr_transfer.access.similar_chunks import ChunkPart

    NDArray = np.ndarray[Any, Any]


def read_within(
    array: Array,
    selection: Any = ...,
    *,
    max_memory: int,
    indexing: Indexing = "fancy",
    fields: str | list[str] | None = None,
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
    fields : str or list of str, optional
        The fields to read; all by default.
    out : ndarray, optional
        Receives the result, as for :meth:`zarr_core.Array.get_basic_selection`.

    Returns
    -------
    ndarray or scalar
        ``out`` if passed; a scalar if every dimension has an integer.

    Raises
    ------
    MemoryLimitError
        If the limit is too small for one chunk, and for the result if ``out`` is None; nothing is
        read, and the message has the smallest limit.
    SelectionError, TypeError
        If the selection, ``out`` or the limit is not valid.
    """
    check_max_memory(max_memory)
    stored = array.stored
    parsed = parse_selection(array, selection, indexing)
    dtype = stored.resolved.dtype
    if fields is not None:
        fields = field_index(stored, fields)
        dtype = dtype[fields]
    if out is not None:
        check_out(stored, out, parsed.shape, dtype)
    order = stored.result_order or stored.resolved.order
    order = order if order == "F" and parsed.allows_fortran else "C"
    own = 0
    result = out
    if out is None or not parsed.can_view(out):
        own = prod(parsed.shape) * dtype.itemsize
        result = None
    parts = [*similar_parts(parsed.selection, stored.axes)] if prod(parsed.shape) else []
    direct = fields is None and (result is None or _is_direct(result, dtype))
    needed = smallest_memory(stored, parsed.selection, parts, "read")
    if not direct:
        needed += max((_nbytes(stored, part) for part in parts), default=0)
    if own + needed > max_memory:
        raise MemoryLimitError(stored.location, max_memory, own + needed)
    if result is None:
        result = np.empty(parsed.shape, dtype, order)
    view = result if parsed.is_identity else parsed.view(result)
    peak = peak_memory(stored, parsed.selection, parts, "read")
    if direct and own + peak <= max_memory:
        stored.read(parsed.selection, view)
    else:
        limited = _in_python(stored)

        def work(part: ChunkPart) -> None:
            selection = part.selection(stored.axes)
            if direct and all(type(item) is slice for item in part.out_selection):
                limited.read(selection, view[part.out_selection])
                return
            values = np.empty(selection.shape, stored.resolved.dtype)
            limited.read(selection, values)
            view[part.out_selection] = values if fields is None else values[fields]

        _for_each(stored, parsed, work, max(1, (max_memory - own) // max(1, needed)))
    if out is not None:
        if result is not out:
            out[...] = result
        return out
    return result[()] if parsed.scalar else result


def write_within(
    array: Array,
    selection: Any,
    value: Any,
    *,
    max_memory: int,
    indexing: Indexing = "fancy",
    fields: str | list[str] | None = None,
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
    fields : str or list of str, optional
        The field to write; all by default.

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
    if fields is not None:
        fields = field_index(stored, fields)
    values = value
    if fields is not None or not is_chunked(value) or value.shape != parsed.shape:
        values = assigned_values(stored, parsed, value, fields)
    if not prod(parsed.shape):
        return
    parts = [*similar_parts(parsed.selection, stored.axes)]
    if fields is not None:
        parts = [part._replace(is_complete=False) for part in parts]
    needed = smallest_memory(stored, parsed.selection, parts, "write")
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
        and fields is None
        and peak_memory(stored, parsed.selection, parts, "write") <= max_memory
    ):
        stored.write(parsed.selection, values)
        return
    limited = _in_python(stored)

    def work(part: ChunkPart) -> None:
        selection = part.selection(stored.axes)
        new = take(part.out_selection)
        limited.write(selection, new, fields)

    _for_each(stored, parsed, work, max(1, (max_memory - own) // needed))


def _for_each(
    stored: StoredArray, parsed: ParsedSelection, work: Callable[[ChunkPart], None], most: int
) -> None:
    threads = min(most, available_threads() if stored.threads is None else stored.threads)

    def alone(part: ChunkPart) -> None:
        with in_one_thread(also_requests=True):
            work(part)

    parallel_for(chunk_parts(parsed.selection, stored.axes), alone, threads > 1, threads)


def _in_python(stored: StoredArray) -> StoredArray:
    """Return the same array without compiled code, which has its own threads."""
    same = stored.with_metadata(stored.metadata)
    same.native = None
    return same


def _is_direct(out: NDArray, dtype: np.dtype[Any]) -> bool:
    return out.dtype == dtype and out.flags.aligned


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
