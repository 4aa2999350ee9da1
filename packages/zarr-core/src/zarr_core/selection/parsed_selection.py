"""A normalized selection with the shape of the result, and the items of an index."""

from __future__ import annotations

from operator import index as index_of
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

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
    flipped : tuple of int
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
    flipped: tuple[int, ...] = ()
    scalar: bool = False
    same: bool = False
    axes: tuple[int, ...] = ()

    @property
    def takes_any_order(self) -> bool:
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
            return self._flip(view)
        view = view.reshape(engine_shape)
        if view.size and view.base is not array and not _same_memory(view, array):
            raise SelectionError(
                f"an array of strides {array.strides} cannot receive this selection; "
                "give a contiguous one"
            )
        return self._flip(view)

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
        engine_shape = self.selection.shape
        if shape != self.shape:
            import numpy as np

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
        if self.axes:
            value = value.transpose(self.axes)
        if engine_shape != value.shape:
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
    import numpy as np

    # A copy is new memory, so it is enough to compare the bounds.
    return np.may_share_memory(view, array)


# --- the items of an index: integers, slices and ``...`` ---


def canonical(start: int, count: int, step: int) -> slice:
    """Return a slice that stops right after its last element, with step 1 if there is only one."""
    if count <= 0:
        return slice(0, 0, 1)
    return slice(start, start + (count - 1) * step + 1, step if count > 1 else 1)


def items_of(index: Any) -> tuple[Any, ...]:
    """The items of an index, which is one item or a tuple."""
    return index if isinstance(index, tuple) else (index,)


def expanded(
    index: Any, shape: tuple[int, ...], sizes: Sequence[int] | None = None
) -> tuple[Any, ...]:
    """Replace the ellipsis and missing items by full slices.

    ``sizes`` has the number of dimensions that each item selects from; by default one, and none
    for ``...`` and ``None``.
    """
    items = items_of(index)
    if sizes is None:
        given = sum(item is not None and item is not Ellipsis for item in items)
    else:
        given = sum(sizes)
    missing = len(shape) - given
    if missing < 0:
        raise SelectionError(f"{given} indices are too many for {len(shape)} dimensions", shape)
    ellipses = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise SelectionError("an index can only have a single ellipsis ('...')", shape)
    place = ellipses[0] if ellipses else len(items)
    return (*items[:place], *(slice(None),) * missing, *items[place + 1 :])


def as_integer(item: Any) -> int:
    """Convert an integer of Python or NumPy, or an integer array without dimensions.

    Raises a TypeError for anything else, and for booleans of NumPy: before version 2.3, NumPy
    converts them with a DeprecationWarning.
    """
    if type(item) is not int and getattr(getattr(item, "dtype", None), "kind", "") == "b":
        raise TypeError(f"{item!r} is a boolean, not an integer")
    return index_of(item)


def is_integer(item: Any) -> bool:
    """Whether an item is an integer, of Python or NumPy, or an integer array without dimensions."""
    if type(item) is int:
        return True
    if isinstance(item, bool) or getattr(item, "ndim", 0) != 0:
        return False
    try:
        as_integer(item)
    except TypeError:
        return False
    return True


def in_bounds(number: int, dimension: int, shape: tuple[int, ...], what: str = "dimension") -> int:
    """An index from 0 to the length of a dimension; negative ones count from the end."""
    size = shape[dimension]
    if -size <= number < size:
        return number + size if number < 0 else number
    raise SelectionError(
        f"index {number} is out of bounds for {what} {dimension} of length {size}", shape
    )


def slice_bounds(item: slice, size: int, shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Start, stop and step of a slice of a dimension."""
    try:
        return item.indices(size)
    except (TypeError, ValueError) as error:  # not integers, or a step of zero
        raise SelectionError(f"{item!r}: {error}", shape) from None
