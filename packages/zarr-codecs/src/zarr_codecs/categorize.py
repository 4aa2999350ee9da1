"""numcodecs.categorize codec (array -> array): strings as their numbers in a list.

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

_FEW = 6  # labels; so many comparisons of all elements take less than looking up each


@dataclass(frozen=True, slots=True)
class CategorizeCodec(ArrayToArrayCodec):
    """Store the number of a label, counted from 1.

    Parameters
    ----------
    labels : sequence of str
        The strings that have a number.  Others are stored as 0, which is read as
        the empty string.
    dtype : str
        ``"|O"`` for strings of any length, or the NumPy type string of those of a
        fixed one.
    astype : str
        That of the numbers.
    """

    labels: Sequence[str]
    dtype: str
    astype: str = "|u1"

    def __post_init__(self) -> None:
        labels = tuple(self.labels)
        if isinstance(self.labels, str) or any(type(label) is not str for label in labels):
            raise ValueError("labels must be a list of strings")
        object.__setattr__(self, "labels", labels)
        _elements.native("dtype", self.dtype, "OU")
        if len(labels) > np.iinfo(self._stored()).max:
            raise ValueError(f"{len(labels)} labels are more than astype {self.astype!r} can count")

    def to_configuration(self) -> dict[str, JSON]:
        """Give the configuration, with a JSON array."""
        return {"labels": list(self.labels), "dtype": self.dtype, "astype": self.astype}

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Change the data type.

        Raises
        ------
        ValueError
            If the elements are not of ``dtype``.
        """
        dtype = _elements.native("dtype", self.dtype, "OU")
        if not (dtype.kind == "O" and decoded.data_type.numpy_dtype.kind in "OT"):
            _elements.require(decoded, dtype)
        return _elements.encoded(decoded, self._stored())

    def encode(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Look up the numbers; of labels that are there twice, the last counts."""
        labels = tuple(self.labels)
        # Of strings with null characters NumPy compares what is before these.
        if len(labels) <= _FEW and "\0" not in "".join(labels):
            numbers = np.zeros(array.shape, self._stored())
            for number, label in enumerate(labels, 1):
                numbers[array == label] = number
            return numbers
        elements = array.reshape(-1).tolist()
        found = map(_numbers(labels).get, elements, repeat(0))
        return np.fromiter(found, self._stored(), len(elements)).reshape(array.shape)

    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Look up the labels."""
        dtype = decoded.data_type.numpy_dtype
        # Strings of any length are taken one by one, slower than they are made of objects.
        labels = np.array(["", *self.labels, ""], object if dtype.kind == "T" else dtype)
        numbers = array.reshape(-1).astype(np.intp, copy=False)
        # The empty string is at either end, for numbers that no label has.
        found = labels.take(numbers, mode="clip")
        return found.reshape(decoded.shape).astype(dtype, copy=False)

    def _stored(self) -> np.dtype[Any]:
        return _elements.native("astype", self.astype, "iu")


@lru_cache(maxsize=64)
def _numbers(labels: tuple[str, ...]) -> dict[str, int]:
    return {label: number for number, label in enumerate(labels, 1)}
