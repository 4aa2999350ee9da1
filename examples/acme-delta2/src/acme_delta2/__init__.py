"""Codec ``acme.delta2``: differences of differences, which are small in regular time series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from zarr_core.extension import ArrayRepresentation, ArrayToArrayCodec


@dataclass(frozen=True, slots=True)
class Delta2(ArrayToArrayCodec):
    """Second differences along one dimension, modulo the size of the integers.

    The first element along the dimension is not changed.  Regular timestamps become
    zeros, which compress well.

    Parameters
    ----------
    axis : int
        The dimension; counted from the end if negative.
    """

    axis: int = -1

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        kind = decoded.data_type.numpy_dtype.kind
        if kind not in "iu":
            raise ValueError(f"requires integers, not {decoded.data_type.numpy_dtype}")
        if not -len(decoded.shape) <= self.axis < len(decoded.shape):
            raise ValueError(
                f"axis {self.axis} is out of bounds for {len(decoded.shape)} dimensions"
            )
        return decoded

    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        for _ in range(2):
            # Integers of NumPy wrap around, so the differences are exact.
            array = np.diff(array, axis=self.axis, prepend=_zero(array, self.axis))
        return array

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        for _ in range(2):
            array = np.cumsum(array, axis=self.axis, dtype=decoded.data_type.numpy_dtype)
        return array


def _zero(array: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    """One layer of zeros, so that the first difference is the first element."""
    return np.zeros_like(np.take(array, [0], axis=axis))
