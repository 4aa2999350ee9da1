"""numcodecs.packbits codec (array -> array): eight booleans per byte.

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
    """Store the number of padding bits in one byte, then all bits."""

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Return the representation of one-dimensional bytes.

        Raises
        ------
        ValueError
            If the data type is not bool.
        """
        if decoded.data_type.numpy_dtype != np.bool_:
            raise ValueError("only the data type bool is supported")
        return _elements.encoded_representation(
            decoded, np.dtype(np.uint8), (1 + -(-decoded.size // 8),)
        )

    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Pack the bits, the first element in the highest bit."""
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
                f"the first byte declares {array[0]} padding bits instead of {padding}",
                _NAME,
            )
        bits = np.unpackbits(array[1:], count=decoded.size)
        return bits.view(np.bool_).reshape(decoded.shape)
