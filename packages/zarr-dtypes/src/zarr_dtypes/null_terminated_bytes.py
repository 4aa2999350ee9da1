"""The data type ``null_terminated_bytes``: fixed-length byte strings, as NumPy's ``S``.

Name:           null_terminated_bytes
Specification:  none; written by zarr-python (3.1 and later)
Configuration:  {"length_bytes": 10}
Schema:         schemas/data_type/null_terminated_bytes.json
Fill value:     base64; a list of integers from 0 to 255 is accepted, too
NumPy:          S10; null bytes at the end are padding, not content
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition

from zarr_dtypes._base64 import bytes_from_json, bytes_to_json
from zarr_dtypes._length import check_length, length_of

if TYPE_CHECKING:
    from zarr_core.extension import JSON


@dataclass(frozen=True, slots=True)
class NullTerminatedBytes(DataType):
    """Byte strings of limited length.

    Parameters
    ----------
    length : int
        Bytes per element, 1 to 2**31 - 1.
    """

    length: int

    def __post_init__(self) -> None:
        check_length(self.length)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> NullTerminatedBytes:
        return cls(length_of(definition))

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> NullTerminatedBytes | None:
        return cls(dtype.itemsize) if dtype.kind == "S" and dtype.itemsize else None

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("null_terminated_bytes", {"length_bytes": self.length})

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return np.dtype((np.bytes_, self.length))

    @property
    def has_byte_order(self) -> bool:
        return False

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        return self._padded(bytes_from_json(value, f"a fill value of type {self._described}"))

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return bytes_to_json(value.tobytes().rstrip(b"\0"))

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        element = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
        if isinstance(element, str) and element.isascii():
            element = element.encode("ascii")  # as NumPy does
        if type(element) is int and element == 0:  # the elements of numpy.zeros
            element = b""
        if not isinstance(element, bytes | bytearray | memoryview):
            raise ValueError(f"{self._described} requires bytes, not {value!r}")
        return self._padded(bytes(element))

    def _padded(self, data: bytes) -> np.ndarray[Any, Any]:
        if len(data) > self.length and data[self.length :].strip(b"\0"):
            raise ValueError(
                f"{self._described} can hold at most {self.length} bytes, not {len(data)}"
            )
        padded = np.zeros((), self.numpy_dtype)
        if data:  # untouched memory is not allocated
            padded[()] = data
        return padded

    @property
    def _described(self) -> str:
        return f"null_terminated_bytes ({self.length})"
