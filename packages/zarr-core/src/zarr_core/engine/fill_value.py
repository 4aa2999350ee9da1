"""The test whether all elements of a chunk are the fill value, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Array = np.ndarray[Any, Any]

# ``==`` is fast and cannot fail for these; 1 and True differ by their class.
_PLAIN = frozenset({bytes, str, int, bool, type(None)})


def fill_test(fill_value: np.ndarray[Any, Any]) -> Callable[[np.ndarray[Any, Any]], bool]:
    """Return a function that tests whether all elements of an array have the bits of the fill value.

    ``-0.0`` is not ``0.0``, and NaNs are equal only with the same payload.  Python objects are equal
    if they are immutable and of the same type.
    """
    dtype = fill_value.dtype
    if dtype.hasobject or dtype.kind == "T":
        value: Any = fill_value[()]
        # NumPy ignores what follows a null character.
        is_text = dtype.kind == "T" and "\0" not in value
        return _strings_test(value) if is_text else _objects_test(value)
    word = np.dtype(f"u{next(size for size in (8, 4, 2, 1) if dtype.itemsize % size == 0)}")
    pattern = fill_value.tobytes()
    bits: Any = np.frombuffer(pattern, word)
    if len(bits) == 1:
        bits = bits[0]

    def test(array: Array) -> bool:
        if not array.size:
            return True
        # Most non-empty chunks differ in the middle or at the start.
        if isinstance(bits, np.ndarray):
            # An array even without dimensions: NumPy strips null bytes from scalars.
            start: Any = (*(slice(0, 1),) * array.ndim, ...)
            if array[start].tobytes() != pattern:
                return False
            words = np.ascontiguousarray(array).reshape(-1).view(word).reshape(-1, len(bits))
        else:
            words = array.view(word)
            middle = tuple([length // 2 for length in words.shape])
            if words[middle] != bits or words[(0,) * words.ndim] != bits:
                return False
        return bool((words == bits).all())

    return test


def _strings_test(text: str) -> Callable[[Array], bool]:
    def test(array: Array) -> bool:
        return not array.size or (array[(0,) * array.ndim] == text and bool((array == text).all()))

    return test


def _objects_test(fill_value: Any) -> Callable[[Array], bool]:
    kind = type(fill_value)
    if kind is float:
        text = fill_value.hex()  # differs for -0.0 and 0.0
        return lambda array: all(type(item) is float and item.hex() == text for item in array.flat)
    if kind not in _PLAIN:
        # Arrays, lists and others have no reliable comparison.
        return lambda array: not array.size
    return lambda array: all(type(item) is kind and item == fill_value for item in array.flat)
