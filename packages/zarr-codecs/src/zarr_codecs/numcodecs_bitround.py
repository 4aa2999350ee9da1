"""numcodecs.bitround codec (array -> array): rounding to fewer bits of the mantissa.

Name:           numcodecs.bitround
Specification:  numcodecs, "BitRound"
Configuration:  {"keepbits": 10}
Schema:         schemas/codec/numcodecs.bitround.json
Partial decode: no
Compatible:     zarr-python, zarrs (as bitround)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToArrayCodec

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation

_MANTISSA = {2: 10, 4: 23, 8: 52}  # mantissa bits by size of the float in bytes


@dataclass(frozen=True, slots=True)
class NumcodecsBitRoundCodec(ArrayToArrayCodec):
    """Keep the first bits of the mantissa.

    Parameters
    ----------
    keepbits : int
        Number of bits, from 0 to the size of the mantissa: 10, 23 or 52.
    """

    keepbits: int

    def __post_init__(self) -> None:
        if type(self.keepbits) is not int or self.keepbits < 0:
            raise ValueError(f"keepbits must be an integer of at least 0, not {self.keepbits!r}")

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Return the representation unchanged.

        Raises
        ------
        ValueError
            If the elements are not floats, or the mantissa has fewer bits.
        """
        dtype = decoded.data_type.numpy_dtype
        if dtype.kind != "f" or dtype.itemsize not in _MANTISSA:
            raise ValueError("only float16, float32 and float64 are supported")
        if self.keepbits > _MANTISSA[dtype.itemsize]:
            raise ValueError(
                f"keepbits {self.keepbits} is out of range: the mantissa of {dtype} "
                f"has {_MANTISSA[dtype.itemsize]} bits"
            )
        return decoded

    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Round to nearest, ties to even."""
        drop = _MANTISSA[array.dtype.itemsize] - self.keepbits
        if not drop:
            return array
        bits: np.ndarray[Any, Any] = np.atleast_1d(array).view(f"i{array.dtype.itemsize}")
        rounded = bits >> drop
        rounded &= 1
        rounded += (1 << (drop - 1)) - 1
        rounded += bits
        rounded >>= drop
        rounded <<= drop
        result: np.ndarray[Any, Any] = rounded.view(array.dtype)
        return result.reshape(array.shape)

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Return the chunk unchanged."""
        return array
