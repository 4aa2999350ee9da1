"""Conversion of elements to another data type, and comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from zarr_core.engine.fill_value import fill_test as fill_value_test

NDArray = np.ndarray[Any, Any]

_NUMBERS = "biufc"


def can_become(old: np.dtype[Any], new: np.dtype[Any]) -> bool:
    """Whether elements can be converted: only numbers can."""
    return old == new or (old.kind in _NUMBERS and new.kind in _NUMBERS)


def as_dtype(values: NDArray, dtype: np.dtype[Any]) -> NDArray:
    """Convert elements, rounding only floats; raise ValueError if one is not represented."""
    if values.dtype == dtype:
        return values
    if values.dtype.kind == "c" and dtype.kind != "c" and np.any(values.imag):
        raise ValueError(f"some have an imaginary part, which {dtype} cannot represent")
    real = values.real if values.dtype.kind == "c" and dtype.kind != "c" else values
    with np.errstate(all="ignore"):  # checked below
        made = real.astype(dtype)
        if dtype.kind in "fc":
            lost = np.isfinite(real) & ~np.isfinite(made)
        else:
            # NumPy compares in the common type.
            lost = made.astype(real.dtype) != real
            if real.dtype.kind == "f":
                lost |= ~np.isfinite(real)
            elif dtype.kind != "b" and real.dtype.kind in "iu":
                lost |= (made < 0) != (real < 0)
    if lost.any():
        example = real[lost].flat[0] if real.ndim else real[()]
        count = int(np.count_nonzero(lost))
        raise ValueError(f"{count} do not fit into {dtype}, such as {example}")
    return made


def same_fill_value(one: NDArray, other: NDArray) -> bool:
    """Whether fill values are bitwise identical after conversion to the second data type."""
    if one.dtype != other.dtype and can_become(one.dtype, other.dtype):
        try:
            one = as_dtype(one, other.dtype)
        except ValueError:
            return False
    return one.dtype == other.dtype and bool(fill_value_test(one)(other))


def difference(expected: NDArray, actual: NDArray) -> str:
    """Return a message if elements are not bitwise identical; otherwise an empty string."""
    if expected.dtype.hasobject or expected.dtype.kind == "T":
        is_same = all(map(_same, expected.ravel(), actual.ravel()))
    else:
        is_same = expected.tobytes() == actual.tobytes()
    return "" if is_same else "differ when they are read back; a codec is lossy"


def _same(one: Any, other: Any) -> bool:
    """Whether two objects are identical; arrays bitwise."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and not difference(one, other)
    return type(one) is type(other) and (bool(one == other) or (one != one and other != other))
