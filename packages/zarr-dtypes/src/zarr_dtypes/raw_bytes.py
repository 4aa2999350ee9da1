"""The data type ``raw_bytes``: opaque elements of fixed size.

Name:           raw_bytes
Specification:  none; written by zarr-python (3.1 and later) for the specification's r*
Configuration:  {"length_bytes": 3}
Schema:         schemas/data_type/raw_bytes.json
Fill value:     base64; a list of integers from 0 to 255 is accepted, too
NumPy:          V3; new arrays of that dtype have the specification's name, r24
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
class RawBytes(DataType):
    """Opaque elements.

    Parameters
    ----------
    length : int
        Bytes of an element, 1 to 2**31 - 1.
    """

    length: int

    def __post_init__(self) -> None:
        check_length(self.length)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> RawBytes:
        return cls(length_of(definition))

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("raw_bytes", {"length_bytes": self.length})

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return np.dtype((np.void, self.length))

    @property
    def has_byte_order(self) -> bool:
        return False

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        return self._exact(bytes_from_json(value, f"a fill value of type {self._described}"))

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return bytes_to_json(value.tobytes())

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        if type(value) is int and value == 0:  # the elements of numpy.zeros
            return self.default_fill_value()
        if isinstance(value, np.generic | np.ndarray):
            fits = value.dtype.kind in "VS" and not value.ndim
            return self._exact(value.tobytes() if fits else b"")
        if not isinstance(value, bytes | bytearray | memoryview):
            raise ValueError(f"{self._described} requires bytes, not {value!r}")
        return self._exact(bytes(value))

    def _exact(self, data: bytes) -> np.ndarray[Any, Any]:
        if len(data) != self.length:
            raise ValueError(f"{self._described} requires {self.length} bytes, not {len(data)}")
        return np.frombuffer(data, self.numpy_dtype).reshape(())

    @property
    def _described(self) -> str:
        return f"raw_bytes ({self.length})"
