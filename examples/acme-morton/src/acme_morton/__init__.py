"""Codec ``acme.morton``: elements of a chunk in Morton order, with neighbors close to each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayRepresentation, ArrayToArrayCodec

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class MortonCodec(ArrayToArrayCodec):
    """The same elements in another order; the shape does not change."""

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        return decoded

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        encoded: Array = array.reshape(-1)[_order(array.shape)]
        return encoded.reshape(array.shape)

    def decode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        chunk = np.empty(decoded.size, array.dtype)
        chunk[_order(decoded.shape)] = array.reshape(-1)
        return chunk.reshape(decoded.shape)


@lru_cache(maxsize=8)  # 8 bytes per element; the chunks of an array have one shape
def _order(shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the indices of elements, sorted by the interleaved bits of their coordinates."""
    codes = np.zeros(shape, np.uint64)
    place = 0
    for bit in range(max((length - 1).bit_length() for length in (1, *shape))):
        for axis, length in enumerate(shape):
            if bit < (length - 1).bit_length():
                along = (np.arange(length, dtype=np.uint64) >> np.uint64(bit)) & np.uint64(1)
                others = [1] * len(shape)
                others[axis] = length
                codes |= along.reshape(others) << np.uint64(place)
                place += 1
    order = codes.reshape(-1).argsort()
    order.flags.writeable = False  # threads share it
    return order
