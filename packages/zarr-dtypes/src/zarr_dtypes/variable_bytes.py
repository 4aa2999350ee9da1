"""The data type ``bytes``: variable-length byte strings.

Name:           bytes; also variable_length_bytes, as zarr-python (3.1 and later) writes
Specification:  zarr-extensions, data-types/bytes
Configuration:  none
Fill value:     base64, or a list of integers from 0 to 255
NumPy:          object, with elements of type bytes
Codec:          vlen-bytes by default
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
    """Variable-length byte strings."""

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> VariableBytes:
        return cls()

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> VariableBytes | None:
        # This is numpy.dtype(bytes).  Object arrays can contain anything and are not accepted.
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
        """Return empty bytes."""
        return np.array(b"", _DTYPE)

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        return np.array(bytes_from_json(value, "a fill value of type bytes"), _DTYPE)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return bytes_to_json(value.item())

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        element = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
        if type(element) is int and element == 0:  # the elements of numpy.zeros
            element = b""
        if not isinstance(element, bytes | bytearray | memoryview):
            raise ValueError(f"bytes requires bytes, not {value!r}")
        return np.array(bytes(element), _DTYPE)
