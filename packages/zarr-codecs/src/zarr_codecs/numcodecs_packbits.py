"""numcodecs.packbits codec (array -> array): eight truth values in a byte.

Name:           numcodecs.packbits
Specification:  numcodecs, "PackBits"
Configuration:  none
Schema:         schemas/codec/numcodecs.packbits.json
Partial decode: no
Compatible:     zarr-python
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToArrayCodec, ChunkDecodeError

from zarr_codecs import _elements

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation

_NAME = "numcodecs.packbits"


@dataclass(frozen=True, slots=True)
class NumcodecsPackBitsCodec(ArrayToArrayCodec):
    """Store a byte that counts the bits without meaning at the end, then all bits."""

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """One dimension of bytes.

        Raises
        ------
        ValueError
            If the elements are no truth values.
        """
        if decoded.data_type.numpy_dtype != np.bool_:
            raise ValueError("only elements of the data type bool can be packed")
        return _elements.encoded(decoded, np.dtype(np.uint8), (1 + -(-decoded.size // 8),))

    def encode(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Pack the bits, the first element into the highest."""
        result = np.empty(1 + -(-array.size // 8), np.uint8)
        result[0] = -array.size % 8
        result[1:] = np.packbits(array.reshape(-1))
        return result

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Unpack the bits."""
        padding = -decoded.size % 8
        if array[0] != padding:
            raise ChunkDecodeError(
                f"the first byte says that {array[0]} bits have no meaning, it should be {padding}",
                _NAME,
            )
        bits = np.unpackbits(array[1:], count=decoded.size)
        return bits.view(np.bool_).reshape(decoded.shape)
