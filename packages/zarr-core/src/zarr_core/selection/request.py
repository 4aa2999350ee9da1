"""A parsed selection together with the form of the result that its user expects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    import numpy as np

    from zarr_core.selection.normalised import Selection

__all__ = ["Request"]


class Request(NamedTuple):
    """What to move, and how it looks to the one who asked.

    Parameters
    ----------
    selection : Box, Outer or Points
        The elements, as the engine moves them.  ``selection.shape`` is the
        *engine's shape*: one axis a dimension, or one axis of points.
    shape : tuple of int
        The *user's shape*: axes of integers dropped, axes of ``None`` added,
        points in the shape of their coordinate arrays.  Of the same size.
    flipped : tuple of int
        Axes of the engine's shape that run backwards for the user.
    scalar : bool
        The result is one element rather than an array (``z[1, 2]``, ``z[()]``).
    same : bool
        Known to be the same for user and engine: neither shape nor direction differs.
    """

    selection: Selection
    shape: tuple[int, ...]
    flipped: tuple[int, ...] = ()
    scalar: bool = False
    same: bool = False

    def view(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Look at an array of the user's shape as the engine does.

        Parameters
        ----------
        array : ndarray
            Has the user's shape.  Any strides if only axes of length one come
            and go; contiguous if points or indices have several dimensions.

        Returns
        -------
        ndarray
            A view with the engine's shape: what is written to it appears in ``array``.

        Raises
        ------
        SelectionError
            If the array has another shape, or only a copy could have the engine's.
        """
        if array.shape != self.shape:
            raise SelectionError(
                f"the array for the result has shape {array.shape}, the selection {self.shape}"
            )
        if self.same:
            return array
        engine_shape = self.selection.shape
        if engine_shape == self.shape:
            return self._flip(array)
        view = array.reshape(engine_shape)
        if view.size and view.base is not array and not _same_memory(view, array):
            raise SelectionError(
                f"an array of strides {array.strides} cannot receive this selection; "
                "give a contiguous one"
            )
        return self._flip(view)

    def broadcast(self, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Give a value the engine's shape, as NumPy does when it assigns.

        Parameters
        ----------
        value : ndarray
            Broadcasts to the user's shape; further leading axes of length one are dropped.

        Returns
        -------
        ndarray
            With the engine's shape; a view of ``value`` where there can be one, not to
            be written to.

        Raises
        ------
        SelectionError
            If the value does not fit.
        """
        shape = value.shape
        if self.same and shape == self.shape:
            return value
        engine_shape = self.selection.shape
        if shape != self.shape:
            import numpy as np  # noqa: PLC0415 - lazy: values of the very shape do without

            if not shape:  # the same everywhere: order does not matter
                return np.broadcast_to(value, engine_shape)
            surplus = len(shape) - len(self.shape)
            if surplus > 0 and shape[:surplus] == (1,) * surplus:
                value = value.reshape(shape[surplus:])
            try:
                value = np.broadcast_to(value, self.shape)
            except ValueError:
                raise SelectionError(
                    f"a value of shape {shape} does not fit the selection of shape {self.shape}"
                ) from None
        if engine_shape != self.shape:
            value = value.reshape(engine_shape)
        return self._flip(value)

    def _flip(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if not self.flipped:
            return array
        axes = self.flipped
        return array[
            tuple(slice(None, None, -1 if axis in axes else 1) for axis in range(array.ndim))
        ]


def _same_memory(view: np.ndarray[Any, Any], array: np.ndarray[Any, Any]) -> bool:
    import numpy as np  # noqa: PLC0415 - lazy: only for results with unusual strides

    # A copy is new memory, so comparing the bounds is enough.
    return np.may_share_memory(view, array)
