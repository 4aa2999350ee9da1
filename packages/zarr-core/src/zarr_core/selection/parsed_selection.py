"""A normalized selection with the shape of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    from zarr_core.interfaces.selection import AnySelection


class ParsedSelection(NamedTuple):
    """A selection as the engine reads it, and the shape of the result.

    Parameters
    ----------
    selection : BasicIndexer, OrthogonalIndexer, CoordinateIndexer or MaskIndexer
        The selected elements.  ``selection.shape`` is the *engine's shape*: one axis per
        dimension, or one axis of coordinates.
    shape : tuple of int
        The *user's shape*, of the same size: axes of integers dropped, axes of ``None`` added,
        points in the shape of their coordinate arrays.
    reversed_axes : tuple of int
        Axes of the engine's shape that the user sees reversed.
    scalar : bool
        Whether the result is one element rather than an array (``z[1, 2]``, ``z[()]``).
    same : bool
        Whether the user's shape and directions are known to be the engine's.
    axes : tuple of int
        The axes of the user's shape in the engine's order, if that differs:
        an argument for :func:`numpy.transpose`.
    """

    selection: AnySelection
    shape: tuple[int, ...]
    reversed_axes: tuple[int, ...] = ()
    scalar: bool = False
    same: bool = False
    axes: tuple[int, ...] = ()

    @property
    def allows_fortran(self) -> bool:
        """Whether :meth:`view` accepts an array in any memory order.

        It does if the shapes differ only in the order of axes and in axes of length one.
        """
        if self.same:
            return True
        shape = [self.shape[axis] for axis in self.axes] if self.axes else self.shape
        return [size for size in shape if size != 1] == [
            size for size in self.selection.shape if size != 1
        ]

    def view(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return a view, with the engine's shape, of an array with the user's shape.

        Raises
        ------
        SelectionError
            If the array has another shape, or only a copy could have the engine's, as for an array
            that is not contiguous where points or indices have several dimensions.
        """
        if array.shape != self.shape:
            raise SelectionError(
                f"the array for the result has shape {array.shape}, the selection {self.shape}"
            )
        if self.same:
            return array
        engine_shape = self.selection.shape
        view = array.transpose(self.axes) if self.axes else array
        if view.shape == engine_shape:
            return self._reverse(view)
        view = view.reshape(engine_shape)
        # A copy is new memory, so it is enough to compare the bounds.
        if view.size and view.base is not array and not np.may_share_memory(view, array):
            raise SelectionError(
                f"an array of strides {array.strides} cannot receive this selection; "
                "give a contiguous one"
            )
        return self._reverse(view)

    def broadcast(self, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Broadcast a value as NumPy does in assignments, and return it with the engine's shape.

        Surplus leading axes of length one are dropped.  The result may be a read-only view.

        Raises
        ------
        SelectionError
            If the value does not broadcast to the user's shape.
        """
        shape = value.shape
        if self.same and shape == self.shape:
            return value
        if shape != self.shape:
            if not shape:  # the same everywhere: order does not matter
                return np.broadcast_to(value, self.shape if self.same else self.selection.shape)
            surplus = len(shape) - len(self.shape)
            if surplus > 0 and shape[:surplus] == (1,) * surplus:
                value = value.reshape(shape[surplus:])
            try:
                value = np.broadcast_to(value, self.shape)
            except ValueError:
                raise SelectionError(
                    f"a value of shape {shape} does not fit the selection of shape {self.shape}"
                ) from None
        if self.axes:
            value = value.transpose(self.axes)
        if value.shape != self.selection.shape:
            value = value.reshape(self.selection.shape)
        return self._reverse(value)

    def _reverse(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if not self.reversed_axes:
            return array
        axes = self.reversed_axes
        return array[
            tuple(slice(None, None, -1 if axis in axes else 1) for axis in range(array.ndim))
        ]
