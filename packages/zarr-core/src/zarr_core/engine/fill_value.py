"""The test whether all elements of a chunk are the fill value, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Array = np.ndarray[Any, Any]

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def fill_test(fill_value: np.ndarray[Any, Any]) -> Callable[[np.ndarray[Any, Any]], bool]:
    """Return a function that tests whether all elements have the bits of the fill value.

    Parameters
    ----------
    fill_value : ndarray, shape ()
        The fill value.

    Returns
    -------
    callable
        Function of an array of the same dtype.  ``-0.0`` is not ``0.0``, and NaNs are equal only
        with the same payload.  Python objects are equal if they are immutable and of the same type.
    """
    dtype = fill_value.dtype
    if dtype.kind == "T":
        text: Any = fill_value[()]
        if "\0" in text:  # NumPy ignores what follows a null character
            return lambda array: all(item == text for item in array.flat)
        return _strings_test(text)
    if dtype.hasobject:
        return _objects_test(fill_value[()])
    if dtype.kind == "c":
        part = np.empty((), dtype).real.dtype
        real, imaginary = (
            fill_test(fill_value.real.astype(part)),
            fill_test(fill_value.imag.astype(part)),
        )
        return lambda array: real(array.real) and imaginary(array.imag)
    word = _WORDS.get(dtype.itemsize)
    if word is None:
        return _bytes_test(fill_value)
    bits = fill_value.view(word)[()]

    def test(array: Array) -> bool:
        if not array.size:
            return True
        words = array.view(word)
        # Most non-empty chunks differ in the middle or at the start.
        middle = tuple([length // 2 for length in words.shape])
        if words[middle] != bits or words[(0,) * words.ndim] != bits:
            return False
        return bool((words == bits).all())

    return test


def _strings_test(text: str) -> Callable[[Array], bool]:
    def test(array: Array) -> bool:
        if array.size and array[(0,) * array.ndim] != text:
            return False
        return bool((array == text).all())

    return test


# ``==`` is fast and cannot fail for these; 1 and True differ by their class.
_PLAIN = frozenset({bytes, str, int, bool, type(None)})


def _objects_test(fill_value: Any) -> Callable[[Array], bool]:
    kind = type(fill_value)
    if kind is float:
        text = fill_value.hex()  # differs for -0.0 and 0.0
        return lambda array: all(type(item) is float and item.hex() == text for item in array.flat)
    if kind not in _PLAIN:
        # Arrays, lists and others have no reliable comparison.
        return lambda array: not array.size
    return lambda array: all(type(item) is kind and item == fill_value for item in array.flat)


def _bytes_test(fill_value: Array) -> Callable[[Array], bool]:
    def test(array: Array) -> bool:
        if not array.size:
            return True
        # An array even without dimensions: NumPy strips null bytes from scalars.
        corner: Any = (*(slice(0, 1),) * array.ndim, ...)
        first = array[corner].tobytes()
        if first != fill_value.tobytes():
            return False
        pattern = np.frombuffer(first, np.uint8)
        octets = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, len(pattern))
        return bool((octets == pattern).all())

    return test
