"""The data type ``fixed_length_utf32``: fixed-length strings, as NumPy's ``U``.

Name:           fixed_length_utf32
Specification:  zarr-extensions, data-types/fixed_length_utf32
Configuration:  {"length_bytes": 40}
Schema:         schemas/data_type/fixed_length_utf32.json
Fill value:     a string
NumPy:          U10; null characters at the end are padding, not content
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition

from zarr_dtypes._length import check_length, length_of

if TYPE_CHECKING:
    from zarr_core.extension import JSON

_UNIT = 4  # bytes of a code point


@dataclass(frozen=True, slots=True)
class FixedLengthUTF32(DataType):
    """Strings of limited length.

    Parameters
    ----------
    length : int
        Maximum number of code points: the number of bytes divided by 4.
    """

    length: int

    def __post_init__(self) -> None:
        check_length(self.length * _UNIT)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> FixedLengthUTF32:
        return cls(length_of(definition) // _UNIT)

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> FixedLengthUTF32 | None:
        return cls(dtype.itemsize // _UNIT) if dtype.kind == "U" and dtype.itemsize else None

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("fixed_length_utf32", {"length_bytes": self.length * _UNIT})

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return np.dtype((np.str_, self.length))

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        if not isinstance(value, str):
            raise ValueError(
                f"a fill value of type {self._described} must be a string, not {value!r}"
            )
        # Longer values are invalid, even if the rest is padding.
        if len(value) > self.length:
            raise ValueError(self._too_long(value))
        return self._padded(value)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return str(value[()])

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        element = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
        if type(element) is int and element == 0:  # the elements of numpy.zeros
            element = ""
        if not isinstance(element, str):
            raise ValueError(f"{self._described} requires a string, not {value!r}")
        if len(element.rstrip("\0")) > self.length:
            raise ValueError(self._too_long(element))
        element.encode()  # raises for surrogates; UnicodeError is a ValueError
        return self._padded(element.rstrip("\0"))

    def _padded(self, text: str) -> np.ndarray[Any, Any]:
        padded = np.zeros((), self.numpy_dtype)
        if text:  # untouched memory is not allocated
            padded[()] = text
        return padded

    def _too_long(self, text: str) -> str:
        return f"{self._described} can hold at most {self.length} characters, not {len(text)}"

    @property
    def _described(self) -> str:
        return f"fixed_length_utf32 ({self.length * _UNIT})"
