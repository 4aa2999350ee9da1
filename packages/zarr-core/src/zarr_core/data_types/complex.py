"""The data types ``complex64`` and ``complex128``.

Specification: v3.1, "Data types", "Fill values".
Fill value: a list of real and imaginary part, each in a form of the floating-point types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zarr_core.data_types.floating import bits_from_json, cast_float, float_to_json, from_bits
from zarr_core.data_types.number import Number

if TYPE_CHECKING:
    from zarr_core.definition import JSON

# The dtypes of each type and of its parts.
_DTYPES: dict[str, tuple[np.dtype[Any], np.dtype[Any]]] = {
    "complex64": (np.dtype(np.complex64), np.dtype(np.float32)),
    "complex128": (np.dtype(np.complex128), np.dtype(np.float64)),
}


@dataclass(frozen=True, slots=True)
class Complex(Number):
    """A complex number: two floating-point numbers of IEEE 754.

    Parameters
    ----------
    name : str
        ``"complex64"`` or ``"complex128"``.
    """

    dtypes: ClassVar[dict[str, np.dtype[Any]]] = {
        name: dtype for name, (dtype, _) in _DTYPES.items()
    }

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        if not isinstance(value, list) or len(value) != 2:
            raise ValueError(
                f"a fill value of type {self.name} must be a list of real and imaginary part, not {value!r}"
            )
        part = _DTYPES[self.name][1]
        real, imaginary = (from_bits(bits_from_json(item, part, self.name), part) for item in value)
        return self._joined(real, imaginary)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return [float_to_json(value.real), float_to_json(value.imag)]

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        dtype, part = _DTYPES[self.name]
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
        dtype, part = _DTYPES[self.name]
        # Assigned as integers: arithmetic would change NaN payloads and signs of zeros.
        parts = np.empty(2, f"u{part.itemsize}")
        parts[0] = real.view(parts.dtype)
        parts[1] = imaginary.view(parts.dtype)
        return parts.view(dtype).reshape(())
