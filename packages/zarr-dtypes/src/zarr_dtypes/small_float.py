"""Data types of the floating-point numbers of ml_dtypes.

Name:           bfloat16, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fnuz,
                float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, float6_e2m3fn, float6_e3m2fn,
                float4_e2m1fn, float8_e4m3fn
Specification:  zarr-extensions, data-types/<name>; none for float8_e4m3fn, which TensorStore writes
Configuration:  none
Schema:         schemas/data_type/<name>.json
Fill value:     a number, "NaN", "Infinity", "-Infinity" if the type has them, or "0x"
                with the bits
NumPy:          the dtype of ml_dtypes of the same name

``float8_e4m3`` has infinities, ``float8_e4m3fn`` has none: the same bits are different
numbers.  Neither is read as the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isinf, isnan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from zarr_core.extension import strictjson

from zarr_dtypes._float_bits import LAYOUTS
from zarr_dtypes._ml_dtypes import is_real
from zarr_dtypes._small_number import SmallNumber

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

_HEX = re.compile(r"0x([0-9a-fA-F]+)").fullmatch


@dataclass(frozen=True, slots=True)
class SmallFloat(SmallNumber):
    """A floating-point number of 4 to 16 bits.

    Parameters
    ----------
    name : str
        ``"bfloat16"``, ``"float8_e4m3"``, and so on.

    Raises
    ------
    ValueError
        If the name is not one of them.
    ExtensionLoadError
        If ml_dtypes is not installed.
    """

    known: ClassVar[Mapping[str, int]] = {name: layout.bits for name, layout in LAYOUTS.items()}
    target: ClassVar[str] = f"{__name__}:SmallFloat"

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        layout = LAYOUTS[self.name]
        bits: int | None = None
        if isinstance(value, int | float) and not isinstance(value, bool):
            # Rounds the decimal text once, not first to float64.
            return self._nearest(
                strictjson.round_to_odd(value) if type(value) is not int else value
            )
        if value == "NaN":
            bits = layout.nan
        elif value == "Infinity":
            bits = layout.infinity
        elif value == "-Infinity":
            bits = None if layout.infinity is None else layout.infinity | layout.sign
        elif isinstance(value, str) and (match := _HEX(value)) and len(match[1]) in self._digits:
            pattern = int(match[1], 16)
            bits = pattern if pattern < 1 << layout.bits else None
        if bits is None:
            raise ValueError(
                f"a fill value of type {self.name} must be {self._forms}, not {value!r}"
            )
        return self._of(bits)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        layout = LAYOUTS[self.name]
        number = float(value[()])
        if isnan(number):
            native = self.clear_unused_bits(value.astype(self.numpy_dtype, copy=False))
            bits = int.from_bytes(native.astype(native.dtype.newbyteorder("<")).tobytes(), "little")
            return "NaN" if bits == layout.nan else f"0x{bits:0{max(self._digits)}x}"
        if isinf(number):
            return "Infinity" if number > 0 else "-Infinity"
        return number  # with all digits, for readers that round incorrectly

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, str):
            return self.fill_value_from_json(value)
        if isinstance(value, np.generic | np.ndarray):
            if value.ndim or not is_real(value.dtype):
                raise ValueError(f"{self.name} requires one real number, not {value!r}")
            if value.dtype.newbyteorder("=") == self.numpy_dtype:
                # Keeps all bits.
                return self.clear_unused_bits(np.array(value, self.numpy_dtype))
            value = value.item() if value.dtype.kind in "biu" else float(value)
        if not isinstance(value, int | float):
            raise ValueError(f"{self.name} requires a number, not {value!r}")
        result = self._nearest(value)
        if isinf(float(result[()])) and (isinstance(value, int) or not isinf(value)):
            raise ValueError(f"{value!r} is out of range for {self.name}")
        return result

    def _nearest(self, number: float) -> np.ndarray[Any, Any]:
        layout = LAYOUTS[self.name]
        if isinstance(number, float) and isnan(number):
            if layout.nan is None:
                raise ValueError(f"{self.name} has no NaN")
            return self._of(layout.nan)
        try:
            return self._of(layout.nearest(number))
        except OverflowError as error:
            raise ValueError(f"{number!r} is out of range for {self.name}: {error}") from error
        except ValueError as error:
            raise ValueError(f"{self.name} cannot hold {number!r}: {error}") from error

    def _of(self, bits: int) -> np.ndarray[Any, Any]:
        # Not through a float, which would make signalling NaNs quiet.
        dtype = self.numpy_dtype
        return np.array(bits, f"u{dtype.itemsize}").view(dtype)

    @property
    def _digits(self) -> tuple[int, ...]:
        """The allowed numbers of hexadecimal digits: for the used bits, and for whole bytes."""
        return (-(-LAYOUTS[self.name].bits // 4), 2 * self.numpy_dtype.itemsize)

    @property
    def _forms(self) -> str:
        layout = LAYOUTS[self.name]
        words = ["a number"]
        if layout.nan is not None:
            words.append('"NaN"')
        if layout.infinity is not None:
            words.append('"Infinity", "-Infinity"')
        digits = " or ".join(str(count) for count in sorted(set(self._digits)))
        below = "" if layout.bits % 8 == 0 else f" below 2**{layout.bits}"
        return f'{", ".join(words)}, or "0x" with {digits} hexadecimal digits{below}'
