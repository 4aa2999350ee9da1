"""numcodecs.fixedscaleoffset codec (array -> array): scaled and rounded numbers.

Name:           numcodecs.fixedscaleoffset
Specification:  numcodecs, "FixedScaleOffset"
Configuration:  {"scale": 10, "offset": 1000, "dtype": "<f8", "astype": "|u1"}
Schema:         schemas/codec/numcodecs.fixedscaleoffset.json
Partial decode: no
Compatible:     zarr-python, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayRepresentation, ArrayToArrayCodec

from zarr_codecs import _elements

if TYPE_CHECKING:
    from typing import Self

_KINDS = "biuf"


@dataclass(frozen=True, slots=True)
class FixedScaleOffsetCodec(ArrayToArrayCodec):
    """Store ``(x - offset) * scale``, rounded.

    Parameters
    ----------
    scale, offset : float
        Factor and offset; ``scale`` must not be 0.
    dtype : str, optional
        Data type of the array, as a NumPy type string.  It is recorded when an array
        is created.
    astype : str, optional
        Data type of the stored elements; ``dtype`` if not given.

    Notes
    -----
    Values out of the range of ``astype`` are not checked and become other values, as in numcodecs.
    """

    scale: float
    offset: float
    dtype: str | None = None
    astype: str | None = None

    def __post_init__(self) -> None:
        for name, value in (("scale", self.scale), ("offset", self.offset)):
            if type(value) not in (int, float):
                raise ValueError(f"{name} must be a number, not {value!r}")
        if not self.scale:
            raise ValueError("scale must not be 0")
        for name, text in (("dtype", self.dtype), ("astype", self.astype)):
            if text is not None:
                _elements.parse_dtype(name, text, _KINDS)

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Record the data type of the elements."""
        dtype = decoded.data_type.numpy_dtype.str
        return self if self.dtype is not None else replace(self, dtype=dtype)

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Change the data type.

        Raises
        ------
        ValueError
            If the elements are not of ``dtype``, or cannot be stored as booleans.
        """
        encoded = _elements.converted_representation(decoded, self.dtype, self.astype, _KINDS)
        actual = decoded.data_type.numpy_dtype
        if self._stored(actual).kind == "b" and (actual.kind != "b" or self.offset):
            raise ValueError("only booleans can be stored as booleans, and offset must be 0")
        return encoded

    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Subtract the offset, scale and round."""
        scaled = (np.atleast_1d(array) - self.offset) * self.scale
        np.around(scaled, out=scaled)
        return scaled.astype(self._stored(array.dtype), copy=False).reshape(array.shape)

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Divide by the scale and add the offset."""
        values = np.atleast_1d(array) / self.scale + self.offset
        return values.astype(decoded.data_type.numpy_dtype, copy=False).reshape(decoded.shape)

    def _stored(self, actual: np.dtype[Any]) -> np.dtype[Any]:
        return _elements.stored_dtype(actual, self.dtype, self.astype, _KINDS)
