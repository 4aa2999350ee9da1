"""Steps that are kept in memory until they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    NDArray = np.ndarray[Any, Any]
    Steps = dict[str, NDArray]  # elements by variable, the steps along the first axis


class StepBuffer:
    """Steps in memory, in one array for each variable."""

    def __init__(self) -> None:
        self.count = 0
        self._arrays: Steps = {}
        self._slots: list[tuple[str, NDArray, np.dtype[Any], tuple[int, ...]]] = []

    def add_one(self, step: dict[str, Any]) -> bool:
        """Copy one step of the same data types and shapes, without counting it.

        Returns whether it was copied: the buffer is not full, and has the variables, data types
        and shapes of the step.
        """
        slots, count = self._slots, self.count
        if len(step) != len(slots):
            return False
        try:
            for name, array, dtype, shape in slots:
                value = step[name]
                if value.dtype != dtype or value.shape != shape:
                    return False
                array[count] = value
        except (AttributeError, IndexError, KeyError):
            return False
        return True

    def add(self, steps: Steps, count: int, capacity: int) -> bool:
        """Copy some steps into the buffer, unless it is too small for them; return whether it did.

        An empty buffer is allocated for ``capacity`` steps.
        """
        arrays = self._arrays
        if not self.count:
            arrays = {
                name: array
                if name in arrays
                and len(array := arrays[name]) >= capacity
                and _fits(values, array)
                else np.empty((capacity, *values.shape[1:]), _buffered_dtype(values))
                for name, values in steps.items()
            }
            self._arrays = arrays
            self._slots = [
                (name, array, array.dtype, array.shape[1:]) for name, array in arrays.items()
            ]
        stop = self.count + count
        for name, values in steps.items():
            array = arrays[name]
            if stop > len(array) or not (values.dtype is array.dtype or _fits(values, array)):
                return False
        for name, values in steps.items():
            arrays[name][self.count : stop] = values
        self.count = stop
        return True

    def steps(self) -> Steps:
        """Return the steps, without copying them."""
        return {name: array[: self.count] for name, array in self._arrays.items()}

    def clear(self) -> None:
        self.count = 0


def _buffered_dtype(values: NDArray) -> np.dtype[Any]:
    # Texts of one variable may have several lengths.
    return np.dtype(object) if values.dtype.kind in "UT" else values.dtype


def _fits(values: NDArray, array: NDArray) -> bool:
    """Whether an array can keep values without a change."""
    if values.shape[1:] != array.shape[1:]:
        return False
    if array.dtype == object:
        return values.dtype.kind in "UTO"
    # NumPy calls it safe to convert large integers to floats, and seconds to nanoseconds.
    return values.dtype == array.dtype or (
        values.dtype.kind == array.dtype.kind
        and values.dtype.kind not in "mM"
        and np.can_cast(values.dtype, array.dtype, "safe")
    )
