"""The data types ``float16``, ``float32``, ``float64``.

Specification: v3.1, "Data types", "Fill values".
Fill value: a JSON number, whose decimal text is rounded once, to the nearest value of the type;
``"NaN"`` (sign 0, the highest bit of the significand 1, all others 0),
``"Infinity"``, ``"-Infinity"``; or ``"0x"`` with the bits of the value as an
unsigned integer, which can express every NaN.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.data_types.number import Number
from zarr_core.strictjson import round_to_odd

if TYPE_CHECKING:
    from zarr_core.definition import JSON

_DTYPES: dict[str, np.dtype[Any]] = {
    f"float{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)
}
_HEX = re.compile(r"0x([0-9a-fA-F]+)").fullmatch


@dataclass(frozen=True, slots=True)
class Floating(Number):
    """A binary floating-point number of IEEE 754.

    Parameters
    ----------
    name : str
        ``"float16"``, ``"float32"`` or ``"float64"``.
    """

    dtypes = _DTYPES

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        return float_from_json(value, _DTYPES[self.name], self.name)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return float_to_json(value)

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        dtype = _DTYPES[self.name]
        if isinstance(value, str):
            return self.fill_value_from_json(value)
        return cast_float(value, dtype, self.name)


def _to_bits(value: np.ndarray[Any, Any]) -> int:
    """The bits of a floating-point value of shape ``()``."""
    return int(value.view(f"u{value.dtype.itemsize}"))


def float_from_json(value: JSON, dtype: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    """Decode any JSON form of a floating-point number to a value of shape ``()``.

    ``dtype`` has native byte order; ``name`` is for the ValueError of a value in another form.
    """
    size = dtype.itemsize
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _rounded(value, dtype, from_text=True)
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return np.array(float(value), dtype)
    if isinstance(value, str) and (match := _HEX(value)) and len(match[1]) == 2 * size:
        # Not through Python's float, which would make signalling NaNs quiet.
        return np.array(int(match[1], 16), f"u{size}").view(dtype)
    raise ValueError(
        f'a fill value of type {name} is a number, "NaN", "Infinity", "-Infinity", or "0x" with '
        f"{2 * size} hexadecimal digits, not {value!r}"
    )


def float_to_json(value: np.ndarray[Any, Any]) -> JSON:
    """Encode a floating-point value of shape ``()``, so that decoding returns the same bits."""
    size = value.dtype.itemsize
    value = value.astype(value.dtype.newbyteorder("="), copy=False)
    bits = _to_bits(value)
    if np.isinf(value):
        return "-Infinity" if value < 0 else "Infinity"
    if np.isnan(value):
        is_default = bits == _to_bits(np.array(np.nan, value.dtype))
        return "NaN" if is_default else f"0x{bits:0{2 * size}x}"
    # The shortest decimal number of the type itself: 0.1, not 0.10000000149011612.
    shortest = float(str(value[()]))
    return shortest if _to_bits(_rounded(shortest, value.dtype)) == bits else float(value)


def cast_float(value: Any, dtype: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    """Convert a real number to a value of shape ``()``.

    Raises ValueError if it is not a real number, or out of range.
    """
    if isinstance(value, (np.generic, np.ndarray)):
        if value.ndim or value.dtype.kind not in "biuf":
            raise ValueError(f"{name} requires one real number, not {value!r}")
        if value.dtype.newbyteorder("=") == dtype:
            return np.array(value, dtype)  # bit for bit
        if value.dtype.kind == "f":
            with np.errstate(all="ignore"):
                result = np.array(value).astype(dtype)
            return _in_range(result, value, bool(np.isfinite(value)), name)
        value = value.item()
    if not isinstance(value, (int, float)):
        raise ValueError(f"{name} requires a number, not {value!r}")
    finite = isinstance(value, int) or value - value == 0
    return _in_range(_rounded(value, dtype), value, finite, name)


def _in_range(
    result: np.ndarray[Any, Any], value: Any, finite: bool, name: str
) -> np.ndarray[Any, Any]:
    if finite and not np.isfinite(result):
        raise ValueError(f"{value!r} is out of range for {name}")
    return result


def _rounded(value: float, dtype: np.dtype[Any], from_text: bool = False) -> np.ndarray[Any, Any]:
    """The nearest value of a type; infinity if the number is too large (IEEE 754).

    Integers, and the decimal text of a number in a document, are rounded once, not first to float64.
    """
    with np.errstate(all="ignore"):
        try:
            once = dtype.itemsize < 8 and (from_text or isinstance(value, int))
            return np.array(round_to_odd(value) if once else float(value)).astype(dtype)
        except OverflowError:  # an integer beyond float64
            return np.array(np.inf if value > 0 else -np.inf, dtype)
