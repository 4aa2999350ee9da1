"""numcodecs.categorize codec (array -> array): strings as positions in a list of labels.

Name:           numcodecs.categorize
Specification:  numcodecs, "Categorize"
Configuration:  {"labels": ["female", "male"], "dtype": "|O", "astype": "|u1"}
Schema:         schemas/codec/numcodecs.categorize.json
Partial decode: no
Compatible:     zarr-python (version 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayRepresentation, ArrayToArrayCodec

from zarr_codecs import _elements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import JSON

_MAX_COMPARED = 6  # labels; up to here comparing all elements with each label is faster


@dataclass(frozen=True, slots=True)
class CategorizeCodec(ArrayToArrayCodec):
    """Store the position of each string in a list of labels, counted from 1.

    Parameters
    ----------
    labels : sequence of str
        The labels.  Other strings are stored as 0 and read as the empty string.
    dtype : str
        ``"|O"`` for strings of variable length, or a NumPy type string for strings of
        fixed length.
    astype : str
        Data type of the stored integers, as a NumPy type string.
    """

    labels: Sequence[str]
    dtype: str
    astype: str = "|u1"

    def __post_init__(self) -> None:
        labels = tuple(self.labels)
        if isinstance(self.labels, str) or any(type(label) is not str for label in labels):
            raise ValueError("labels must be a list of strings")
        object.__setattr__(self, "labels", labels)
        _elements.parse_dtype("dtype", self.dtype, "OU")
        if len(labels) > np.iinfo(self._stored()).max:
            raise ValueError(f"{len(labels)} labels are too many for astype {self.astype!r}")

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration, with a JSON array."""
        return {"labels": list(self.labels), "dtype": self.dtype, "astype": self.astype}

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Change the data type.

        Raises
        ------
        ValueError
            If the elements are not of ``dtype``.
        """
        dtype = _elements.parse_dtype("dtype", self.dtype, "OU")
        if not (dtype.kind == "O" and decoded.data_type.numpy_dtype.kind in "OT"):
            _elements.check_dtype(decoded, dtype)
        return _elements.encoded_representation(decoded, self._stored())

    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Replace strings by their positions; the last of equal labels counts."""
        labels = tuple(self.labels)
        # NumPy compares strings only up to a null character.
        if len(labels) <= _MAX_COMPARED and "\0" not in "".join(labels):
            numbers = np.zeros(array.shape, self._stored())
            for number, label in enumerate(labels, 1):
                numbers[array == label] = number
            return numbers
        elements = array.reshape(-1).tolist()
        codes = map(_positions(labels).get, elements, repeat(0))
        return np.fromiter(codes, self._stored(), len(elements)).reshape(array.shape)

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Replace positions by their labels."""
        dtype = decoded.data_type.numpy_dtype
        # Taking from StringDType is slower than converting from objects.
        labels = np.array(["", *self.labels, ""], object if dtype.kind == "T" else dtype)
        numbers = array.reshape(-1).astype(np.intp, copy=False)
        # The empty string is at both ends, for positions out of range.
        values = labels.take(numbers, mode="clip")
        return values.reshape(decoded.shape).astype(dtype, copy=False)

    def _stored(self) -> np.dtype[Any]:
        return _elements.parse_dtype("astype", self.astype, "iu")


@lru_cache(maxsize=64)
def _positions(labels: tuple[str, ...]) -> dict[str, int]:
    return {label: number for number, label in enumerate(labels, 1)}
