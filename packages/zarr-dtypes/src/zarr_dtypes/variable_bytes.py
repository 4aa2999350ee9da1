"""The data type ``bytes``: byte strings of any length.

Name:           bytes; also variable_length_bytes, as zarr-python (3.1 and later) writes
Specification:  zarr-extensions, data-types/bytes
Configuration:  none
Fill value:     base64, or a list of integers from 0 to 255
NumPy:          object; every element is bytes
Codec:          vlen-bytes, if none is named
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition

from zarr_dtypes._base64 import bytes_from_json, bytes_to_json

if TYPE_CHECKING:
    from zarr_core.extension import JSON

_DTYPE = np.dtype(object)


@dataclass(frozen=True, slots=True)
class VariableBytes(DataType):
    """Byte strings, each as long as it is."""

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> VariableBytes:
        return cls()

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> VariableBytes | None:
        # What numpy.dtype(bytes) is.  Arrays of objects may hold anything, and do not come here.
        return cls() if dtype.kind == "S" and not dtype.itemsize else None

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("bytes", spelling="bytes")

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return _DTYPE

    @property
    def item_size(self) -> None:
        return None

    @property
    def has_byte_order(self) -> bool:
        return False

    def default_serializer(self) -> ExtensionDefinition:
        return ExtensionDefinition("vlen-bytes")

    def default_fill_value(self) -> np.ndarray[Any, Any]:
        """No bytes."""
        return np.array(b"", _DTYPE)

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        return np.array(bytes_from_json(value, "a fill value of type bytes"), _DTYPE)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return bytes_to_json(value.item())

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        given = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
        if type(given) is int and given == 0:  # what numpy.zeros has
            given = b""
        if not isinstance(given, bytes | bytearray | memoryview):
            raise ValueError(f"bytes can hold bytes, not {value!r}")
        return np.array(bytes(given), _DTYPE)
