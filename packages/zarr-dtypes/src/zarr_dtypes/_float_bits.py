"""Layouts of small floating-point numbers: which bits stand for which number."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import copysign, inf


@dataclass(frozen=True, slots=True)
class FloatLayout:
    """How the bits of a floating-point type are used: sign, exponent, significand.

    Parameters
    ----------
    bits : int
        Bits of a number, those that stand for something.
    significand : int
        Bits after the binary point.
    bias : int
        What the stored exponent is larger by.
    largest : int
        Bits of the largest finite number.
    infinity : int or None
        Bits of positive infinity; None if there is no infinity.
    nan : int or None
        Bits of what the fill value ``"NaN"`` stands for; None if there is no NaN.
    """

    bits: int
    significand: int
    bias: int
    largest: int
    infinity: int | None = None
    nan: int | None = None

    @property
    def sign(self) -> int:
        """The bit of the sign; 0 if all numbers are positive."""
        return 0 if self.largest >> (self.bits - 1) else 1 << (self.bits - 1)

    @property
    def has_negative_zero(self) -> bool:
        """Whether the sign alone is a zero; in the others it is the only NaN."""
        return self.sign != 0 and self.nan != self.sign

    def nearest(self, number: float) -> int:
        """The bits of the value nearest to a number; of two, the one whose last bit is 0.

        Parameters
        ----------
        number : int or float
            Integers of any size, fractions, infinities; no NaN.

        Raises
        ------
        OverflowError
            If it is too large, or an infinity, and the type has no infinity.
        ValueError
            If it is negative, and all values of the type are positive.
        """
        negative = number < 0 or (isinstance(number, float) and copysign(1, number) < 0)
        if negative and number and not self.sign:
            raise ValueError("it has positive numbers alone")
        magnitude = self._magnitude(abs(number))
        if negative and (magnitude or self.has_negative_zero):
            return magnitude | self.sign
        return magnitude

    def _magnitude(self, number: float) -> int:
        magnitude = self.largest + 1
        if number not in (0, inf):
            exact = Fraction(number)
            exponent = _exponent(exact)
            # Below the smallest normal number, steps stay as they are there.
            lowest = 1 - self.bias if self.significand else -self.bias
            exponent = max(exponent, lowest)
            steps = round(exact / Fraction(2) ** (exponent - self.significand))
            if self.significand:
                magnitude = steps + ((exponent + self.bias - 1) << self.significand)
            else:  # the exponent is all there is, also of the smallest
                magnitude = max(steps - 1 + exponent + self.bias, 0)
        elif number == 0:
            magnitude = 0
        if magnitude <= self.largest:
            return magnitude
        if self.infinity is None:
            raise OverflowError("it has no infinity")
        return self.infinity


def _exponent(number: Fraction) -> int:
    """The largest power of two that is not above a positive number."""
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
"""By the name of the data type."""
