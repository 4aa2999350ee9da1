"""numcodecs.quantize codec (array -> array): floats rounded to decimal digits.

Name:           numcodecs.quantize
Specification:  numcodecs, "Quantize"
Configuration:  {"digits": 3, "dtype": "<f8", "astype": "<f4"}
Schema:         schemas/codec/numcodecs.quantize.json
Partial decode: no
Compatible:     zarr-python
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayRepresentation, ArrayToArrayCodec

from zarr_codecs import _elements

if TYPE_CHECKING:
    from typing import Self

_KINDS = "f"


@dataclass(frozen=True, slots=True)
class QuantizeCodec(ArrayToArrayCodec):
    """Round to decimal digits, with a power of two as the step, which compresses well.

    Parameters
    ----------
    digits : int
        Number of digits after the decimal point; negative for digits before it.
    dtype : str, optional
        Data type of the array, as a NumPy type string.  It is recorded when an array
        is created.
    astype : str, optional
        Data type of the stored elements; ``dtype`` if not given.
    """

    digits: int
    dtype: str | None = None
    astype: str | None = None

    def __post_init__(self) -> None:
        if type(self.digits) is not int:
            raise ValueError(f"digits must be an integer, not {self.digits!r}")
        for name, text in (("dtype", self.dtype), ("astype", self.astype)):
            if text is not None:
                _elements.parse_dtype(name, text, _KINDS)
        self._scale()

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Record the data type of the elements."""
        dtype = decoded.data_type.numpy_dtype.str
        return self if self.dtype is not None else replace(self, dtype=dtype)

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Change the data type.

        Raises
        ------
        ValueError
            If the elements are not of ``dtype``, or are not floats.
        """
        return _elements.converted_representation(decoded, self.dtype, self.astype, _KINDS)

    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Round the elements."""
        scale = self._scale()
        rounded: np.ndarray[Any, Any] = np.atleast_1d(array) * scale
        np.around(rounded, out=rounded)
        rounded /= scale
        return rounded.astype(self._stored(array.dtype), copy=False).reshape(array.shape)

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Convert back to the data type of the array."""
        return array.astype(decoded.data_type.numpy_dtype, copy=False)

    def _stored(self, actual: np.dtype[Any]) -> np.dtype[Any]:
        return _elements.stored_dtype(actual, self.dtype, self.astype, _KINDS)

    def _scale(self) -> float:
        """Return the power of two that replaces the power of ten, as in numcodecs."""
        try:
            exponent = math.log10(10.0**-self.digits)
            exponent = math.floor(exponent) if exponent < 0 else math.ceil(exponent)
            return float(2.0 ** math.ceil(math.log2(10.0**-exponent)))
        except (OverflowError, ValueError) as error:
            raise ValueError(f"digits {self.digits} is out of the range of floats") from error
