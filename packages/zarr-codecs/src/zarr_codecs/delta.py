"""numcodecs.delta codec (array -> array): the first element, then differences.

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

_KINDS = "iufcm"


@dataclass(frozen=True, slots=True)
class DeltaCodec(ArrayToArrayCodec):
    """Store differences of neighbours, in C order.

    Parameters
    ----------
    dtype : str
        That of the array's elements, as a NumPy type string.
    astype : str, optional
        That of what is stored; the same if not given.

    Notes
    -----
    Differences that do not fit into ``astype`` are cut off, as numcodecs does.
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
        dtype, astype = self._types()
        _elements.require(decoded, dtype)
        return _elements.encoded(decoded, astype)

    def encode(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Subtract from each element the one before it."""
        dtype, astype = self._types()
        elements = array.reshape(-1).view(dtype)
        result = np.empty(array.shape, astype)
        differences = result.reshape(-1)
        differences[:1] = elements[:1]
        np.subtract(elements[1:], elements[:-1], out=differences[1:], casting="unsafe", dtype=dtype)
        return result

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Add up the differences."""
        result = np.empty(decoded.shape, self._types()[0])
        np.cumsum(array.reshape(-1), out=result.reshape(-1))
        return result.view(decoded.data_type.numpy_dtype)

    def _types(self) -> tuple[np.dtype[Any], np.dtype[Any]]:
        dtype = _elements.native("dtype", self.dtype, _KINDS)
        return dtype, dtype if self.astype is None else _elements.native(
            "astype", self.astype, _KINDS
        )
