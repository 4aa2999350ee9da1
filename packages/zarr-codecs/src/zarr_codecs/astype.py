"""numcodecs.astype codec (array -> array): elements converted to another type.

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
    """Store elements in another type.

    Parameters
    ----------
    encode_dtype : str
        That of what is stored, as a NumPy type string.
    decode_dtype : str, optional
        That of the array's elements.  Recorded when an array is made.

    Notes
    -----
    Values that do not fit become others, as with numcodecs.
    """

    encode_dtype: str
    decode_dtype: str | None = None

    def __post_init__(self) -> None:
        _elements.native("encode_dtype", self.encode_dtype, _KINDS)
        if self.decode_dtype is not None:
            _elements.native("decode_dtype", self.decode_dtype, _KINDS)

    def resolve(self, decoded: ArrayRepresentation) -> Self:
        """Record the type of the elements."""
        dtype = decoded.data_type.numpy_dtype.str
        return self if self.decode_dtype is not None else replace(self, decode_dtype=dtype)

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Change the data type.

        Raises
        ------
        ValueError
            If the elements are not of ``decode_dtype``.
        """
        found = decoded.data_type.numpy_dtype.str
        dtype = _elements.native("decode_dtype", self.decode_dtype or found, _KINDS)
        _elements.require(decoded, dtype)
        return _elements.encoded(decoded, self._stored())

    def encode(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Convert."""
        if self.decode_dtype is not None:
            array = array.view(_elements.native("decode_dtype", self.decode_dtype, _KINDS))
        return array.astype(self._stored(), copy=False)

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Convert back."""
        dtype = decoded.data_type.numpy_dtype
        if self.decode_dtype is None:
            return array.astype(dtype, copy=False)
        given = _elements.native("decode_dtype", self.decode_dtype, _KINDS)
        return array.astype(given, copy=False).view(dtype)

    def _stored(self) -> np.dtype[Any]:
        return _elements.native("encode_dtype", self.encode_dtype, _KINDS)
