"""The data types of integers of less than eight bits, which NumPy has from ml_dtypes.

Name:           int2, int4, uint2, uint4
Specification:  zarr-extensions, data-types/<name>
Configuration:  none
Schema:         schemas/data_type/<name>.json
Fill value:     an integer
NumPy:          the dtype of ml_dtypes that has the same name, one element a byte

The upper bits of a byte stand for nothing.  They are read as if they were zero, and
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
    """An integer of 2 or 4 bits, in two's complement if it is signed.

    Parameters
    ----------
    name : str
        ``"int2"``, ``"int4"``, ``"uint2"`` or ``"uint4"``.

    Raises
    ------
    ValueError
        If the name is none of them.
    ExtensionLoadError
        If ml_dtypes is missing.
    """

    known: ClassVar[Mapping[str, int]] = {"int2": 2, "int4": 4, "uint2": 2, "uint4": 4}
    target: ClassVar[str] = f"{__name__}:SmallInteger"

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest number."""
        bits = self.known[self.name]
        if self.name.startswith("u"):
            return 0, (1 << bits) - 1
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def as_elements(self, value: Any) -> Any:
        """Refuse numbers that do not fit, of which ml_dtypes would keep the lowest bits.

        Arrays are cast without a look, as NumPy does it with its own integers.
        """
        if hasattr(value, "__array__"):
            return value
        given = np.asarray(value)
        low, high = self.range
        if given.dtype.kind in "iufO" and given.size:
            # A fraction is cut off, as NumPy does it; NaN is within no range.
            outside = [item for item in given.flat if not low - 1 < item < high + 1]
            if outside:
                raise OverflowError(f"{self.name} can hold {low} to {high}, not {outside[0]}")
        return given

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(
                f"a fill value of type {self.name} is an integer, written without fraction or "
                f"exponent, not {value!r}"
            )
        return self._exact(value)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return int(value[()])

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, np.generic | np.ndarray) and not value.ndim:
            value = np.asarray(value).tolist()  # where scalars of ml_dtypes are Python's numbers
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int):  # Python's bool is one, and fits
            raise ValueError(f"{self.name} can hold integers, not {value!r}")
        return self._exact(int(value))

    def _exact(self, value: int) -> np.ndarray[Any, Any]:
        low, high = self.range
        if not low <= value <= high:
            raise ValueError(f"{self.name} can hold {low} to {high}, not {value}")
        octet = np.array(value & ((1 << self.known[self.name]) - 1), np.uint8)
        return octet.view(self.numpy_dtype)
