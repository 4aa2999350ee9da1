"""numcodecs.astype codec (array -> array): conversion to another data type.

Name:           numcodecs.astype
Specification:  numcodecs, "AsType"
Configuration:  {"encode_dtype": "<f4", "decode_dtype": "<f8"}
Schema:         schemas/codec/numcodecs.astype.json
Partial decode: no
Compatible:     zarr-python
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ArrayToArrayCodec

from zarr_codecs import _elements

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from zarr_core.extension import ArrayRepresentation

_KINDS = "biufcmMSU"


@dataclass(frozen=True, slots=True)
class AsTypeCodec(ArrayToArrayCodec):
    """Store elements as another data type.

    Parameters
    ----------
    encode_dtype : str
        Data type of the stored elements, as a NumPy type string.
    decode_dtype : str, optional
        Data type of the array.  It is recorded when an array is created.

    Notes
    -----
    Values out of range are not checked and become other values, as in numcodecs.
    """

    encode_dtype: str
    decode_dtype: str | None = None

    def __post_init__(self) -> None:
        _elements.parse_dtype("encode_dtype", self.encode_dtype, _KINDS)
        if self.decode_dtype is not None:
            _elements.parse_dtype("decode_dtype", self.decode_dtype, _KINDS)

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Record the data type of the elements."""
        dtype = decoded.data_type.numpy_dtype.str
        return self if self.decode_dtype is not None else replace(self, decode_dtype=dtype)

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Change the data type.

        Raises
        ------
        ValueError
            If the elements are not of ``decode_dtype``.
        """
        typestr = decoded.data_type.numpy_dtype.str
        dtype = _elements.parse_dtype("decode_dtype", self.decode_dtype or typestr, _KINDS)
        _elements.check_dtype(decoded, dtype)
        return _elements.encoded_representation(decoded, self._stored())

    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Convert to ``encode_dtype``."""
        if self.decode_dtype is not None:
            array = array.view(_elements.parse_dtype("decode_dtype", self.decode_dtype, _KINDS))
        return array.astype(self._stored(), copy=False)

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Convert back to the data type of the array."""
        dtype = decoded.data_type.numpy_dtype
        if self.decode_dtype is None:
            return array.astype(dtype, copy=False)
        target = _elements.parse_dtype("decode_dtype", self.decode_dtype, _KINDS)
        return array.astype(target, copy=False).view(dtype)

    def _stored(self) -> np.dtype[Any]:
        return _elements.parse_dtype("encode_dtype", self.encode_dtype, _KINDS)
