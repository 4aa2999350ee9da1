"""numcodecs.quantize codec (array -> array): floats rounded to some decimal digits.

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
    """Keep so many decimal digits, by a power of two that compressors like.

    Parameters
    ----------
    digits : int
        Digits after the decimal point; negative for those before it.
    dtype : str, optional
        That of the array's elements, as a NumPy type string.  Recorded when an
        array is made.
    astype : str, optional
        That of what is stored; the same if not given.
    """

    digits: int
    dtype: str | None = None
    astype: str | None = None

    def __post_init__(self) -> None:
        if type(self.digits) is not int:
            raise ValueError(f"digits must be an integer, not {self.digits!r}")
        for name, text in (("dtype", self.dtype), ("astype", self.astype)):
            if text is not None:
                _elements.native(name, text, _KINDS)
        self._scale()

    def resolve(self, decoded: ArrayRepresentation) -> Self:
        """Record the type of the elements."""
        dtype = decoded.data_type.numpy_dtype.str
        return self if self.dtype is not None else replace(self, dtype=dtype)

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Change the data type.

        Raises
        ------
        ValueError
            If the elements are not of ``dtype``, or are no floats.
        """
        found = decoded.data_type.numpy_dtype
        _elements.require(decoded, _elements.native("dtype", self.dtype or found.str, _KINDS))
        return _elements.encoded(decoded, self._stored(found))

    def encode(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Round."""
        scale = self._scale()
        rounded: np.ndarray[Any, Any] = np.atleast_1d(array) * scale
        np.around(rounded, out=rounded)
        rounded /= scale
        return rounded.astype(self._stored(array.dtype), copy=False).reshape(array.shape)

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Change the type back; what was rounded stays so."""
        return array.astype(decoded.data_type.numpy_dtype, copy=False)

    def _stored(self, found: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype that is stored for elements of this one."""
        text = self.astype or self.dtype
        return found if text is None else _elements.native("astype", text, _KINDS)

    def _scale(self) -> float:
        """The power of two next to the power of ten, found as numcodecs does."""
        try:
            exponent = math.log10(10.0**-self.digits)
            exponent = math.floor(exponent) if exponent < 0 else math.ceil(exponent)
            return float(2.0 ** math.ceil(math.log2(10.0**-exponent)))
        except (OverflowError, ValueError) as error:
            raise ValueError(f"digits {self.digits} are more than floats have") from error
