"""Data types of the integers of ml_dtypes with less than eight bits.

Name:           int2, int4, uint2, uint4
Specification:  zarr-extensions, data-types/<name>
Configuration:  none
Schema:         schemas/data_type/<name>.json
Fill value:     an integer
NumPy:          the dtype of ml_dtypes of the same name, one byte per element

The upper bits of a byte are unused.  They are ignored when reading, and
written as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zarr_dtypes._small_number import SmallNumber

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON


@dataclass(frozen=True, slots=True)
class SmallInteger(SmallNumber):
    """An integer of 2 or 4 bits, in two's complement if signed.

    Parameters
    ----------
    name : str
        ``"int2"``, ``"int4"``, ``"uint2"`` or ``"uint4"``.

    Raises
    ------
    ValueError
        If the name is not one of them.
    ExtensionLoadError
        If ml_dtypes is not installed.
    """

    known: ClassVar[Mapping[str, int]] = {"int2": 2, "int4": 4, "uint2": 2, "uint4": 4}
    target: ClassVar[str] = f"{__name__}:SmallInteger"

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and largest number."""
        bits = self.known[self.name]
        if self.name.startswith("u"):
            return 0, (1 << bits) - 1
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def as_elements(self, value: Any) -> Any:
        """Raise for numbers out of range, of which ml_dtypes would keep the lowest bits.

        Arrays are cast without a check, as by NumPy for its own integers.
        """
        if hasattr(value, "__array__"):
            return value
        array = np.asarray(value)
        low, high = self.range
        if array.dtype.kind in "iufO" and array.size:
            # Fractions are truncated, as in NumPy; NaN is out of range.
            outside = [item for item in array.flat if not low - 1 < item < high + 1]
            if outside:
                raise OverflowError(
                    f"{outside[0]} is out of range for {self.name} ({low} to {high})"
                )
        return array

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(
                f"a fill value of type {self.name} must be an integer, written without fraction or "
                f"exponent, not {value!r}"
            )
        return self._exact(value)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return int(value[()])

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, np.generic | np.ndarray) and not value.ndim:
            value = np.asarray(value).tolist()  # converts scalars of ml_dtypes to Python numbers
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int):  # bool is a subclass
            raise ValueError(f"{self.name} requires an integer, not {value!r}")
        return self._exact(int(value))

    def _exact(self, value: int) -> np.ndarray[Any, Any]:
        low, high = self.range
        if not low <= value <= high:
            raise ValueError(f"{value} is out of range for {self.name} ({low} to {high})")
        octet = np.array(value & ((1 << self.known[self.name]) - 1), np.uint8)
        return octet.view(self.numpy_dtype)
