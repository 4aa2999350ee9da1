"""Bit layouts of small floating-point numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import copysign, inf


@dataclass(frozen=True, slots=True)
class FloatLayout:
    """The bit layout of a floating-point type: sign, exponent and significand.

    Parameters
    ----------
    bits : int
        Number of used bits.
    significand : int
        Bits after the binary point.
    bias : int
        The exponent bias.
    largest : int
        Bits of the largest finite number.
    infinity : int or None
        Bits of positive infinity; None if there is no infinity.
    nan : int or None
        Bits of the fill value ``"NaN"``; None if there is no NaN.
    """

    bits: int
    significand: int
    bias: int
    largest: int
    infinity: int | None = None
    nan: int | None = None

    @property
    def sign(self) -> int:
        """The sign bit; 0 if all numbers are positive."""
        return 0 if self.largest >> (self.bits - 1) else 1 << (self.bits - 1)

    @property
    def has_negative_zero(self) -> bool:
        """Whether the sign bit alone is negative zero; otherwise it is the only NaN."""
        return self.sign != 0 and self.nan != self.sign

    def nearest(self, number: float) -> int:
        """Return the bits of the nearest value, with ties to even.

        Parameters
        ----------
        number : int or float
            Any integer, fraction or infinity, but not NaN.

        Raises
        ------
        OverflowError
            If the number is too large or infinite, and the type has no infinity.
        ValueError
            If the number is negative, and the type has no negative values.
        """
        negative = number < 0 or (isinstance(number, float) and copysign(1, number) < 0)
        if negative and number and not self.sign:
            raise ValueError("the type has only positive numbers")
        magnitude = self._magnitude(abs(number))
        if negative and (magnitude or self.has_negative_zero):
            return magnitude | self.sign
        return magnitude

    def _magnitude(self, number: float) -> int:
        magnitude = self.largest + 1
        if number not in (0, inf):
            exact = Fraction(number)
            exponent = _exponent(exact)
            # Subnormal numbers have the step of the smallest normal number.
            lowest = 1 - self.bias if self.significand else -self.bias
            exponent = max(exponent, lowest)
            steps = round(exact / Fraction(2) ** (exponent - self.significand))
            if self.significand:
                magnitude = steps + ((exponent + self.bias - 1) << self.significand)
            else:  # no significand, and no subnormal numbers
                magnitude = max(steps - 1 + exponent + self.bias, 0)
        elif number == 0:
            magnitude = 0
        if magnitude <= self.largest:
            return magnitude
        if self.infinity is None:
            raise OverflowError("the type has no infinity")
        return self.infinity


def _exponent(number: Fraction) -> int:
    """Return the exponent of the largest power of two that does not exceed a number."""
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= number else exponent - 1


LAYOUTS = {
    "bfloat16": FloatLayout(16, 7, 127, 0x7F7F, 0x7F80, 0x7FC0),
    "float8_e3m4": FloatLayout(8, 4, 3, 0x6F, 0x70, 0x78),
    "float8_e4m3": FloatLayout(8, 3, 7, 0x77, 0x78, 0x7C),
    "float8_e4m3b11fnuz": FloatLayout(8, 3, 11, 0x7F, None, 0x80),
    "float8_e4m3fn": FloatLayout(8, 3, 7, 0x7E, None, 0x7F),
    "float8_e4m3fnuz": FloatLayout(8, 3, 8, 0x7F, None, 0x80),
    "float8_e5m2": FloatLayout(8, 2, 15, 0x7B, 0x7C, 0x7E),
    "float8_e5m2fnuz": FloatLayout(8, 2, 16, 0x7F, None, 0x80),
    "float8_e8m0fnu": FloatLayout(8, 0, 127, 0xFE, None, 0xFF),
    "float6_e2m3fn": FloatLayout(6, 3, 1, 0x1F),
    "float6_e3m2fn": FloatLayout(6, 2, 3, 0x1F),
    "float4_e2m1fn": FloatLayout(4, 1, 1, 0x7),
}
"""Layouts by the name of the data type."""
