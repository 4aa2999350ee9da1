"""Reading a part of elements that are stored one after the other in C order.

How much is read at once is a compromise: a read costs as much as some KiB of data,
and memory for a window is used again for the next.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.scratch import scratch
from zarr_core.selection.elements import take
from zarr_core.selection.normalised import Box, Points

if TYPE_CHECKING:
    from zarr_core.interfaces.value import ValueReader
    from zarr_core.selection.normalised import Selection

    Array = np.ndarray[Any, Any]
    Slices = tuple[slice, ...]

_WINDOW = 1 << 20  # bytes read at once, at most
_SMALL = 1 << 14  # bytes that cost less to read than to leave out
_GAP = 1 << 12  # bytes between two points that are read along
_FEW = 16  # points that are read one by one in less time than it takes to sort them
_DENSE = 4  # a window is read whole if at least one byte in so many is wanted


def read_part(
    reader: ValueReader,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    selection: Selection,
    out: Array,
) -> None:
    """Read a part of an array that is stored as its memory.

    Parameters
    ----------
    reader : ValueReader
        The stored array.
    shape : tuple of int
        Its shape.
    dtype : dtype
        Its dtype, in the byte order that is stored.
    selection : Selection
        The part.
    out : ndarray
        Receives the elements; has the shape of the selection.
    """
    strides = tuple(prod(shape[axis + 1 :]) * dtype.itemsize for axis in range(len(shape)))
    if isinstance(selection, Box):
        _read_box(reader, 0, strides, dtype, selection.index, out)
    elif isinstance(selection, Points) and selection.index:
        offsets = sum(
            numbers * stride for numbers, stride in zip(selection.index, strides, strict=True)
        )
        _read_points(reader, np.asarray(offsets), dtype, out)
    else:
        whole = np.frombuffer(reader.read(0, reader.size), dtype).reshape(shape)
        out[...] = take(whole, selection)


def _read_box(
    reader: ValueReader,
    base: int,
    strides: tuple[int, ...],
    dtype: np.dtype[Any],
    index: Slices,
    out: Array,
) -> None:
    """Read a box; ``base`` is where the array of these strides begins."""
    first = base + sum(part.start * stride for part, stride in zip(index, strides, strict=True))
    steps = tuple(part.step * stride for part, stride in zip(index, strides, strict=True))
    span = dtype.itemsize + sum(
        (length - 1) * step for length, step in zip(out.shape, steps, strict=True)
    )
    wanted = out.size * dtype.itemsize
    if span == wanted and out.dtype == dtype and out.flags.c_contiguous:
        reader.read_into([(first, out.reshape(-1).view(np.uint8).data)])
    elif span <= _SMALL or (
        span <= _WINDOW and (wanted * _DENSE >= span or (out.shape[0] > 1 and steps[0] <= _SMALL))
    ):
        with scratch(span) as memory:
            reader.read_into([(first, memory)])
            out[...] = np.ndarray(out.shape, dtype, memory, 0, steps)
    elif out.shape[0] == 1:
        start = base + index[0].start * strides[0]
        _read_box(reader, start, strides[1:], dtype, index[1:], out[0])
    else:
        # Rows of the first dimension: as many as fill a window, or one by one where
        # what lies between them is worth leaving out.
        rows = max(1, _WINDOW // steps[0]) if span > _WINDOW else 1
        for row in range(0, out.shape[0], rows):
            part = out[row : row + rows]
            start = base + row * steps[0]
            narrowed = slice(
                index[0].start, index[0].start + (len(part) - 1) * index[0].step + 1, index[0].step
            )
            _read_box(reader, start, strides, dtype, (narrowed, *index[1:]), part)


def _read_points(
    reader: ValueReader, offsets: np.ndarray[Any, Any], dtype: np.dtype[Any], out: Array
) -> None:
    """Read single elements, those near each other together."""
    size = dtype.itemsize
    if len(offsets) <= _FEW:
        with scratch(len(offsets) * size) as memory:
            places = enumerate(offsets.tolist())
            reader.read_into([(at, memory[n * size : (n + 1) * size]) for n, at in places])
            out[...] = np.frombuffer(memory, dtype)
        return
    order = np.argsort(offsets, kind="stable")
    offsets = offsets[order]
    # A window ends before a gap, and where it would become too long.
    cuts = (np.diff(offsets) > _GAP) | (np.diff(offsets // _WINDOW) > 0)
    edges = [0, *(np.flatnonzero(cuts) + 1).tolist(), len(offsets)]
    for start, stop in pairwise(edges):
        first, last = int(offsets[start]), int(offsets[stop - 1])
        with scratch(last - first + size) as memory:
            reader.read_into([(first, memory)])
            elements = np.frombuffer(memory, dtype)
            out[order[start:stop]] = elements[(offsets[start:stop] - first) // size]
