"""Elements of an array in memory, taken out or put in by a selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.selection.normalised import Box, Outer

if TYPE_CHECKING:
    import numpy as np

    from zarr_core.selection.normalised import Indices, Selection

__all__ = ["open_mesh", "put", "take"]


def take(array: np.ndarray[Any, Any], selection: Selection) -> np.ndarray[Any, Any]:
    """Take the selected elements.

    Parameters
    ----------
    array : ndarray
        Usually a chunk; the selection lies within its shape.
    selection : Box, Outer or Points
        What to take.

    Returns
    -------
    ndarray
        With the shape of the selection; a view of ``array`` for a Box, else a copy.
    """
    if isinstance(selection, Box):
        # Without dimensions NumPy would give a scalar in place of a view.
        return array[selection.index] if selection.index else array
    index = selection.index
    if not isinstance(selection, Outer):
        return array[index] if index else array.reshape(1)
    # One dimension at a time: with several arrays at once NumPy would pair them
    # up, with one array it keeps the order of axes.
    part = array[tuple(item if isinstance(item, slice) else slice(None) for item in index)]
    for axis, item in enumerate(index):
        if not isinstance(item, slice):
            part = part[(slice(None),) * axis + (item,)]
    return part


def put(
    array: np.ndarray[Any, Any], selection: Selection, values: np.ndarray[Any, Any] | Any
) -> None:
    """Assign to the selected elements; of several values for one element the last stays.

    Parameters
    ----------
    array : ndarray
        Usually a chunk; the selection lies within its shape.
    selection : Box, Outer or Points
        Where to put them.
    values : ndarray
        Broadcasts to the shape of the selection.
    """
    if isinstance(selection, Outer):
        # A view first: what slices leave out needs no place in the mesh.
        index = selection.index
        view = array[tuple(item if isinstance(item, slice) else slice(None) for item in index)]
        rest = (
            slice(0, length, 1) if isinstance(item, slice) else item
            for item, length in zip(index, view.shape, strict=True)
        )
        view[open_mesh(tuple(rest))] = values
    elif selection.index or isinstance(selection, Box):
        array[selection.index] = values
    else:
        array.reshape(1)[:] = values


def open_mesh(index: tuple[slice | Indices, ...]) -> tuple[slice | Indices, ...]:
    """Make an index with which NumPy selects the outer product of its items.

    Parameters
    ----------
    index : tuple of slice or ndarray
        A normalised slice or one-dimensional indices for each dimension.

    Returns
    -------
    tuple
        ``index`` itself if it has at most one array, else arrays that broadcast together.
    """
    if sum(not isinstance(item, slice) for item in index) <= 1:
        return index
    import numpy as np  # noqa: PLC0415 - lazy: most selections are boxes

    mesh = []
    for axis, item in enumerate(index):
        if isinstance(item, slice):
            item = np.arange(item.start, item.stop, item.step, dtype=np.intp)
        mesh.append(item.reshape(-1, *(1,) * (len(index) - 1 - axis)))
    return tuple(mesh)
