"""Conversion of numbers between data types, with rounding and out-of-range handling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_codecs._number_types import Floats, Integers

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

_FLOAT64_PRECISION = 53  # bits of an integer that float64 represents exactly
_NATIVE = (np.dtype(np.float16), np.dtype(np.float32))  # NumPy rounds correctly to these


@dataclass(frozen=True, slots=True)
class Rule:
    """How numbers that the target type cannot represent are converted, as ``cast_value`` says it.

    ``out_of_range`` is None for an error.
    """

    rounding: str = "nearest-even"
    out_of_range: str | None = None


def cast(
    array: Array, source: Integers | Floats, target: Integers | Floats, dtype: Any, rule: Rule
) -> Array:
    """Convert numbers of the type ``source`` to a new array of ``dtype``, which has ``target``.

    ValueError if a number is out of range and the rule does not cover it, or if it is NaN or
    infinity and the target type does not have it.
    """
    if not array.size or source == target:
        return array.astype(dtype, copy=False)
    flat = array.reshape(-1)
    if isinstance(source, Integers):
        flat = _widen(flat, source)
        if isinstance(target, Integers):
            result = _integers_to_integers(flat, source, target, dtype, rule)
        elif _all_exact(target, source):
            result = flat.astype(dtype)
        else:
            result = _to_floats(_as_float64(flat, target, rule), target, dtype, rule)
    elif isinstance(target, Integers):
        # Floats of NumPy are rounded in their own type.
        result = _to_integers(
            flat if flat.dtype.kind == "f" else flat.astype(float), target, dtype, rule
        )
    elif _includes(target, source):
        result = flat.astype(dtype)
    else:
        result = _to_floats(flat.astype(np.float64, copy=False), target, dtype, rule)
    return result.reshape(array.shape)


def _widen(array: Array, source: Integers) -> Array:
    """Convert integers to a dtype that NumPy computes with."""
    if source.bits < 8:
        return array.astype(np.int8 if source.signed else np.uint8)
    return array


# --- to integers ---


def _integers_to_integers(
    array: Array, source: Integers, target: Integers, dtype: Any, rule: Rule
) -> Array:
    if target.low <= source.low and source.high <= target.high:
        return array.astype(dtype)
    smallest, largest = int(array.min()), int(array.max())
    if target.low <= smallest and largest <= target.high:
        return array.astype(dtype)
    if rule.out_of_range is None:
        raise _out_of_range(smallest if smallest < target.low else largest, target)
    if rule.out_of_range == "clamp":
        low, high = max(target.low, source.low), min(target.high, source.high)
        return np.clip(array, array.dtype.type(low), array.dtype.type(high)).astype(dtype)
    return _wrap(array.astype(np.uint64), target, dtype)


def _to_integers(values: Array, target: Integers, dtype: Any, rule: Rule) -> Array:
    values = rounded(values, rule.rounding)
    smallest, largest = float(np.minimum.reduce(values)), float(np.maximum.reduce(values))
    # Python compares them exactly; NaN compares false.
    if not (target.low <= smallest and largest <= target.high):
        if not np.isfinite(values).all():
            raise ValueError(f"cannot convert {values[~np.isfinite(values)][0]} to an integer")
        values = values.astype(np.float64, copy=False)
        if rule.out_of_range is None:
            raise _out_of_range(smallest if smallest < target.low else largest, target)
        if rule.out_of_range == "clamp":
            above, below = values >= float(target.high + 1), values < float(target.low)
            result = _to_numpy_integers(np.where(above | below, 0.0, values), target).astype(dtype)
            result[above] = target.high
            result[below] = target.low
            return result
        remainder = np.fmod(values, 2.0**64)
        remainder[remainder >= 2.0**63] -= 2.0**64
        remainder[remainder < -(2.0**63)] += 2.0**64
        return _wrap(remainder.astype(np.int64).view(np.uint64), target, dtype)
    if target.bits >= 8:
        return values.astype(dtype)
    return _to_numpy_integers(values, target).astype(dtype)


def _to_numpy_integers(values: Array, target: Integers) -> Array:
    """Convert whole numbers within the range to integers of NumPy."""
    return values.astype(np.int64 if target.signed else np.uint64)


def _wrap(bits: Array, target: Integers, dtype: Any) -> Array:
    """Return the lowest bits of integers."""
    unused = np.uint64(64 - target.bits)
    bits = bits << unused
    if target.signed:
        return (bits.view(np.int64) >> unused.astype(np.int64)).astype(dtype)
    return (bits >> unused).astype(dtype)


# --- to floats ---


def _includes(target: Floats, source: Floats) -> bool:
    """Return whether the target type contains every number of the source type."""
    return (
        target.precision >= source.precision
        and target.largest >= source.largest
        and target.least <= source.least
        and target.nan >= source.nan
        and target.infinite >= source.infinite
        and target.signed >= source.signed
    )


def _all_exact(target: Floats, source: Integers) -> bool:
    """Return whether the target type contains every integer of the source type."""
    digits = source.bits - source.signed
    return target.signed and digits <= target.precision and float(1 << digits) <= target.largest


def _as_float64(array: Array, target: Floats, rule: Rule) -> Array:
    """Convert integers to float64, such that rounding to the target gives the right result."""
    if array.dtype.itemsize < 8:
        return array.astype(np.float64)
    negative = array < 0 if array.dtype.kind == "i" else np.zeros(array.shape, bool)
    size = array.astype(np.uint64)
    size = np.where(negative, ~size + np.uint64(1), size)
    large = size >> np.uint64(_FLOAT64_PRECISION) != 0
    if not large.any():
        return array.astype(np.float64)
    drop = np.zeros(size.shape, np.uint64)
    for bit in range(_FLOAT64_PRECISION, 64):
        drop += size >> np.uint64(bit) != 0
    kept = size >> drop
    lost = size - (kept << drop)
    if target.precision < _FLOAT64_PRECISION:
        # Round to odd, so that the second rounding equals a single one.
        kept |= lost != 0
    else:
        half = np.where(large, np.uint64(1) << (np.maximum(drop, 1) - np.uint64(1)), np.uint64(1))
        up = {
            "nearest-even": (lost > half) | ((lost == half) & (kept & np.uint64(1) == 1)),
            "nearest-away": lost >= half,
            "towards-zero": np.zeros(size.shape, bool),
            "towards-positive": (lost != 0) & ~negative,
            "towards-negative": (lost != 0) & negative,
        }[rule.rounding]
        kept = kept + (up & large)
    values = np.ldexp(kept.astype(np.float64), drop.astype(np.int32))
    return np.where(negative, -values, values)


def _to_floats(values: Array, target: Floats, dtype: Any, rule: Rule) -> Array:
    """Convert float64 to a type of at most as many bits."""
    finite = np.isfinite(values)
    if not finite.all():
        if not target.nan and np.isnan(values).any():
            raise ValueError("the data type does not have NaN")
        if not target.infinite and np.isinf(values).any():
            raise ValueError("the data type does not have infinity")
    if (
        rule.rounding == "nearest-even"
        and dtype in _NATIVE
        and target.precision < _FLOAT64_PRECISION
    ):
        with np.errstate(all="ignore"):
            result = values.astype(dtype)
        beyond = np.isinf(result) & finite
        if rule.out_of_range != "clamp" and beyond.any():
            raise _out_of_range(float(values[beyond][0]), target)
        return result
    numbers = values if finite.all() else np.where(finite, values, 1.0)
    if target.precision < _FLOAT64_PRECISION:
        numbers = _to_precision(numbers, target, rule.rounding)
    beyond = (numbers > target.largest) | (numbers < target.lowest)
    if beyond.any():
        if rule.out_of_range != "clamp":
            raise _out_of_range(float(values[beyond][0]), target)
        high, low = (np.inf, -np.inf) if target.infinite else (target.largest, target.lowest)
        numbers = np.where(numbers > target.largest, high, np.where(beyond, low, numbers))
    return np.where(finite, numbers, values).astype(dtype)


def _to_precision(values: Array, target: Floats, rounding: str) -> Array:
    """Round finite numbers to the precision of a type, with unlimited exponents."""
    _, exponents = np.frexp(values)
    unit = np.maximum(exponents, target.low_exponent + 1) - target.precision
    scaled = np.ldexp(values, -unit)
    result = rounded(scaled, rounding)
    if target.precision == 1 and rounding == "nearest-even":
        # With one significant bit, ties go to the even stored exponent.
        middle = (np.abs(scaled) == 1.5) & ((unit - target.low_exponent) % 2 == 0)
        result[middle] = 1
    with np.errstate(over="ignore"):  # the caller reports numbers that become infinity
        signed: Array = np.copysign(np.ldexp(result, unit), values)
    return signed


# --- rounding ---


def rounded(values: Array, rounding: str) -> Array:
    """Round to whole numbers, as ``cast_value`` says it; zeros keep their sign.

    Infinity and NaN are unchanged.
    """
    if rounding == "nearest-away":
        whole = np.trunc(values)
        with np.errstate(invalid="ignore"):  # infinity
            up = np.abs(values - whole) >= 0.5
        result: Array = whole + np.copysign(up.astype(values.dtype), values)
    else:
        result = _ROUNDINGS[rounding](values)
    return result


_ROUNDINGS: dict[str, Any] = {
    "nearest-even": np.rint,
    "towards-zero": np.trunc,
    "towards-positive": np.ceil,
    "towards-negative": np.floor,
}
ROUNDINGS = (*_ROUNDINGS, "nearest-away")
"""Names of the rounding modes."""


def _out_of_range(value: float, target: Integers | Floats) -> ValueError:
    low, high = (
        (target.low, target.high)
        if isinstance(target, Integers)
        else (target.lowest, target.largest)
    )
    return ValueError(f"{value} is out of range: the data type has {low} to {high}")
