"""JSON numbers with their decimal text, for correct rounding.

Specification: v3.1, "Fill values": the value of a floating-point type that is nearest to the
number.
"""

from __future__ import annotations

from math import inf, nextafter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal


# Splits a float64 into its highest 25 bits and the others (Veltkamp).
SPLITTER = 2.0**28 + 1
# Up to this length, a text without exponent that float64 rounds to 25 bits is exact: it has at
# most 8 digits after the point, and an error of less than 2**-53 * 2**25 * 10**8 is zero.
SURELY_EXACT = 10


class DecimalNumber(float):
    """A number that keeps its decimal text, for rounding to a narrower type.

    :func:`loads` returns it where a longer text results in a value of 25 bits or fewer.  Only such
    a value can lie halfway between two values of a type narrower than float64, so that a second
    rounding differs from rounding the text itself (see :func:`round_to_odd`).  It compares and
    computes as its float64 value; copies by :func:`copy.deepcopy` are plain floats; :func:`encode`
    writes the text.
    """

    __slots__ = ("text",)

    text: str

    def __new__(cls, text: str) -> DecimalNumber:
        """Create a number from its text."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __reduce__(self) -> tuple[type[DecimalNumber], tuple[str]]:
        """Pickle with the text."""
        return DecimalNumber, (self.text,)

    def __deepcopy__(self, memo: object) -> float:
        """Return a plain float."""
        return float(self)


def round_to_odd(number: float) -> float:
    """Prepare a number of a document for rounding to a type of at most 24 significant bits.

    Rounding a decimal text to float64 and then to a narrower type is wrong if the float64 value
    lies halfway between two values of that type.  Rounding to float64 by the rule "round to odd"
    avoids that (Boldo and Melquiond, 2008).

    Returns
    -------
    float
        For a :class:`DecimalNumber` that is not exact, the float64 value next to it in the
        direction of the text.  Other numbers are returned unchanged.
    """
    if type(number) is not DecimalNumber:
        return number
    nearest, exact = float(number), decimal_of(number)
    if exact == nearest:
        return nearest
    return nextafter(nearest, inf if exact > nearest else -inf)


def is_whole(number: float) -> bool:
    """Whether a number from JSON is exactly an integer; not for ``-0.0``."""
    if not float(number).is_integer() or str(number) == "-0.0":
        return False
    return type(number) is not DecimalNumber or decimal_of(number) == int(number)


def decimal_of(number: float) -> Decimal:
    """Return the exact decimal number of a float from JSON."""
    from decimal import Decimal

    return Decimal(number.text if isinstance(number, DecimalNumber) else repr(number))
