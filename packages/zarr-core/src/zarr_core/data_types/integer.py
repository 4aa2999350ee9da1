"""The data types ``int8`` to ``int64``, ``uint8`` to ``uint64``.

Specification: v3.1, "Data types", "Fill values".
Fill value: a JSON number without fraction or exponent, within the range of the type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.data_types.number import Number

if TYPE_CHECKING:
    from zarr_core.definition import JSON

_DTYPES: dict[str, np.dtype[Any]] = {
    f"{prefix}int{bits}": np.dtype(f"{prefix}int{bits}")
    for prefix in ("", "u")
    for bits in (8, 16, 32, 64)
}
_RANGES = {
    name: (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) for name, dtype in _DTYPES.items()
}


@dataclass(frozen=True, slots=True)
class Integer(Number):
    """An integer of fixed size, in two's complement if it is signed.

    Parameters
    ----------
    name : str
        ``"int8"`` ... ``"uint64"``.
    """

    dtypes = _DTYPES

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(
                f"a fill value of type {self.name} must be an integer, written without fraction or "
                f"exponent, not {value!r}"
            )
        return self._exact(value)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return int(value)

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        is_scalar = isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0
        plain = value.item() if is_scalar else value
        if isinstance(plain, float) and plain.is_integer():
            plain = int(plain)
        if not isinstance(plain, int):  # bool is a subclass
            raise ValueError(f"{self.name} requires an integer, not {value!r}")
        return self._exact(int(plain))

    def _exact(self, value: int) -> np.ndarray[Any, Any]:
        low, high = _RANGES[self.name]
        if not low <= value <= high:
            raise ValueError(f"{value} is out of range for {self.name} ({low} to {high})")
        return np.array(value, self.numpy_dtype)
