"""The data types ``complex64`` and ``complex128``.

Specification: v3.1, "Data types", "Fill values".
Fill value: a list of real and imaginary part, each in a form of the floating-point types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.data_types.floating import cast_float, float_from_json, float_to_json
from zarr_core.data_types.number import Number

if TYPE_CHECKING:
    from zarr_core.definition import JSON

_DTYPES: dict[str, np.dtype[Any]] = {
    f"complex{bits}": np.dtype(f"complex{bits}") for bits in (64, 128)
}


@dataclass(frozen=True, slots=True)
class Complex(Number):
    """A complex number: two floating-point numbers of IEEE 754.

    Parameters
    ----------
    name : str
        ``"complex64"`` or ``"complex128"``.
    """

    dtypes = _DTYPES

    @property
    def _part(self) -> np.dtype[Any]:
        """The dtype of the real part and of the imaginary part."""
        return np.dtype(f"f{self.numpy_dtype.itemsize // 2}")

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        if not isinstance(value, list) or len(value) != 2:
            raise ValueError(
                f"a fill value of type {self.name} must be a list of real and imaginary part, not {value!r}"
            )
        part = self._part
        real, imaginary = (float_from_json(item, part, self.name) for item in value)
        return self._joined(real, imaginary)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return [float_to_json(value.real), float_to_json(value.imag)]

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        dtype, part = self.numpy_dtype, self._part
        if isinstance(value, (list, tuple)):
            return self.fill_value_from_json(list(value))
        if (
            isinstance(value, (np.generic, np.ndarray))
            and value.dtype.kind == "c"
            and not value.ndim
        ):
            if value.dtype.newbyteorder("=") == dtype:
                return np.array(value, dtype)  # bit for bit
            value = value.item()
        if isinstance(value, complex):
            return self._joined(
                cast_float(value.real, part, self.name), cast_float(value.imag, part, self.name)
            )
        return self._joined(cast_float(value, part, self.name), np.zeros((), part))

    def _joined(
        self, real: np.ndarray[Any, Any], imaginary: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        # Assigned as integers: arithmetic would change NaN payloads and signs of zeros.
        parts = np.empty(2, f"u{self._part.itemsize}")
        parts[0] = real.view(parts.dtype)
        parts[1] = imaginary.view(parts.dtype)
        return parts.view(self.numpy_dtype).reshape(())
