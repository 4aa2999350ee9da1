"""numcodecs.delta codec (array -> array): differences of neighbouring elements.

Name:           numcodecs.delta
Specification:  numcodecs, "Delta"
Configuration:  {"dtype": "<i4", "astype": "<i4"}
Schema:         schemas/codec/numcodecs.delta.json
Partial decode: no
Compatible:     zarr-python
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from zarr_core.extension import ArrayRepresentation, ArrayToArrayCodec

from zarr_codecs import _elements

_KINDS = "biufcm"


@dataclass(frozen=True, slots=True)
class DeltaCodec(ArrayToArrayCodec):
    """Store the first element, then differences of neighbours in C order.

    Parameters
    ----------
    dtype : str
        Data type of the array, as a NumPy type string.
    astype : str, optional
        Data type of the stored elements; ``dtype`` if not given.

    Notes
    -----
    Differences out of the range of ``astype`` wrap around, as in numcodecs.  The difference of
    booleans is whether they differ; numcodecs stores the same, but decodes other elements from it.
    """

    dtype: str
    astype: str | None = None

    def __post_init__(self) -> None:
        self._types()

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Change the data type.

        Raises
        ------
        ValueError
            If the elements are not of ``dtype``.
        """
        return _elements.converted_representation(decoded, self.dtype, self.astype, _KINDS)

    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Subtract its predecessor from each element."""
        dtype, astype = self._types()
        elements = array.reshape(-1).view(dtype)
        result = np.empty(array.shape, astype)
        differences = result.reshape(-1)
        differences[:1] = elements[:1]
        subtract = np.logical_xor if dtype.kind == "b" else np.subtract
        subtract(elements[1:], elements[:-1], out=differences[1:], casting="unsafe", dtype=dtype)
        return result

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Return the cumulative sum of the differences; of booleans, modulo 2."""
        result = np.empty(decoded.shape, self._types()[0])
        accumulate = np.logical_xor.accumulate if result.dtype.kind == "b" else np.cumsum
        accumulate(array.reshape(-1), out=result.reshape(-1))
        return result.view(decoded.data_type.numpy_dtype)

    def _types(self) -> tuple[np.dtype[Any], np.dtype[Any]]:
        dtype = _elements.parse_dtype("dtype", self.dtype, _KINDS)
        if self.astype is None:
            return dtype, dtype
        kinds = _KINDS if dtype.kind == "b" else _KINDS.replace("b", "")
        return dtype, _elements.parse_dtype("astype", self.astype, kinds)
