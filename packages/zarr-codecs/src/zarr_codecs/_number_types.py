"""Numbers that the real data types can represent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.extension import DataType


@dataclass(frozen=True, slots=True)
class Integers:
    """Unsigned integers, or, if ``signed``, integers in two's complement."""

    bits: int
    signed: bool

    @property
    def low(self) -> int:
        """Smallest integer."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        """Largest integer."""
        return (1 << (self.bits - self.signed)) - 1


@dataclass(frozen=True, slots=True)
class Floats:
    """Binary floating-point numbers, with a ``precision`` in bits.

    ``low_exponent`` is that of the smallest normal number, ``largest`` the largest finite number;
    the others say whether the type has NaN, infinities, and numbers up to 0.
    """

    precision: int
    low_exponent: int
    largest: float
    nan: bool = True
    infinite: bool = True
    signed: bool = True

    @property
    def least(self) -> float:
        """Smallest number above 0."""
        below = 0 if not self.signed else self.precision - 1
        return 2.0 ** (self.low_exponent - below)

    @property
    def lowest(self) -> float:
        """Smallest finite number."""
        return -self.largest if self.signed else self.least


_TYPES: dict[str, Integers | Floats] = {
    f"{sign}int{bits}": Integers(bits, not sign) for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64)
} | {
    "float16": Floats(11, -14, 65504.0),
    "float32": Floats(24, -126, (2 - 2.0**-23) * 2.0**127),
    "float64": Floats(53, -1022, (2 - 2.0**-52) * 2.0**1023),
    "bfloat16": Floats(8, -126, (2 - 2.0**-7) * 2.0**127),
    "float8_e3m4": Floats(5, -2, 15.5),
    "float8_e4m3": Floats(4, -6, 240.0),
    "float8_e4m3b11fnuz": Floats(4, -10, 30.0, infinite=False),
    "float8_e4m3fnuz": Floats(4, -7, 240.0, infinite=False),
    "float8_e5m2": Floats(3, -14, 57344.0),
    "float8_e5m2fnuz": Floats(3, -15, 57344.0, infinite=False),
    "float8_e8m0fnu": Floats(1, -127, 2.0**127, infinite=False, signed=False),
    "float6_e2m3fn": Floats(4, 0, 7.5, nan=False, infinite=False),
    "float6_e3m2fn": Floats(3, -2, 28.0, nan=False, infinite=False),
    "float4_e2m1fn": Floats(2, 0, 6.0, nan=False, infinite=False),
}  # fmt: skip


def number_type(data_type: DataType) -> Integers | Floats:
    """Return the numbers that a data type can represent; ValueError if they are not real."""
    name = data_type.to_definition().name
    if name not in _TYPES:
        raise ValueError(f"data type {name!r} is not supported; only real numbers are")
    return _TYPES[name]
