"""Data type ``acme.fixed``: decimal numbers with a fixed number of digits after the point."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition

if TYPE_CHECKING:
    from zarr_core.extension import JSON

_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Fixed(DataType):
    """Elements are integers of 64 bits that count the last digit: 1.25 is 125.

    Parameters
    ----------
    digits : int
        Digits after the decimal point, 0 to 18.
    """

    digits: int

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Fixed:
        digits: Any = definition.configuration["digits"]
        return cls(digits)

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("acme.fixed", {"digits": self.digits})

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return np.dtype("int64")

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        # A string, because most readers convert JSON numbers to binary floating-point.
        if not isinstance(value, str) or len(value) > 24:  # 64-bit numbers are shorter
            raise ValueError(f'must be a decimal number as a string, such as "1.25", not {value!r}')
        try:
            number = Decimal(value)
            counted = number.scaleb(self.digits) if number.is_finite() else None
            whole = None if counted is None or counted.adjusted() > 19 else int(counted)
        except ArithmeticError as error:
            raise ValueError(f"{value!r} is not a decimal number") from error
        if whole is None or whole != counted or not -_LARGEST - 1 <= whole <= _LARGEST:
            raise ValueError(f"{value!r} does not fit in 64 bits with {self.digits} digits")
        return np.array(whole, "int64")

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return f"{Decimal(int(value)).scaleb(-self.digits):f}"
