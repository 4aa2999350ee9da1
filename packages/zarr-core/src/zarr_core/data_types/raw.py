"""The data types ``r8``, ``r16``, ``r24`` ...: opaque bytes.

Specification: v3.1, "Data types", "Fill values".
Fill value: a list of integers from 0 to 255, one per byte.  Base64 strings, which TensorStore
writes, can be read, too.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError, ValidationProblem, json_pointer
from zarr_core.interfaces.data_type import DataType

if TYPE_CHECKING:
    from zarr_core.definition import JSON

_NAME = re.compile(r"r([1-9][0-9]*)", re.ASCII).fullmatch

_LARGEST = 2**31 - 1
"""Maximum number of bytes of an element of a NumPy array."""


@dataclass(frozen=True, slots=True)
class RawBits(DataType):
    """Opaque elements of a fixed size.

    Parameters
    ----------
    size : int
        Bytes per element, 1 to 2**31 - 1.
    """

    size: int

    def __post_init__(self) -> None:
        if not 1 <= self.size <= _LARGEST:
            raise ValueError(f"an element must have 1 to {_LARGEST} bytes, not {self.size}")

    @property
    def name(self) -> str:
        """Name of the data type, such as ``"r24"``."""
        return f"r{8 * self.size}"

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> RawBits:
        # The schemas of other data types have their names; a family has no schema.
        problems = [
            ValidationProblem(
                json_pointer("configuration", name), "is not a member here; none is known"
            )
            for name in definition.configuration
        ]
        match = _NAME(definition.name)
        # The largest number of bits has 11 digits.
        bits = int(match[1]) if match and len(match[1]) <= 11 else 0
        if not bits or bits % 8 or bits // 8 > _LARGEST:
            problem = f"the number of bits must be a multiple of 8, at most {8 * _LARGEST}"
            problems.append(ValidationProblem("", problem))
        if problems:
            raise ExtensionConfigurationError("data_type", definition.name, "", problems)
        return cls(bits // 8)

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> RawBits | None:
        # Data types registered by other packages also have the kind V.
        is_raw = dtype.type is np.void and dtype.fields is None and dtype.subdtype is None
        return cls(dtype.itemsize) if is_raw and dtype.itemsize else None

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition(self.name, spelling=self.name)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return np.dtype((np.void, self.size))

    @property
    def item_size(self) -> int:
        return self.size

    @property
    def has_byte_order(self) -> bool:
        return False

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        data: bytes | None = None
        if isinstance(value, list) and all(
            type(item) is int and 0 <= item <= 255 for item in value
        ):
            data = bytes(value)  # type: ignore[arg-type] # checked above
        elif isinstance(value, str):
            try:
                data = base64.b64decode(value, validate=True)
            except (binascii.Error, ValueError):
                data = None
        if data is None or len(data) != self.size:
            raise ValueError(
                f"a fill value of type {self.name} must be a list of {self.size} integers from 0 to 255 "
                f"(or those bytes in base64), not {value!r}"
            )
        return np.frombuffer(data, self.numpy_dtype).reshape(())

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return list(value.tobytes())

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, int) and value == 0:
            return self.default_fill_value()
        if isinstance(value, (np.generic, np.ndarray)):
            data = value.tobytes() if value.dtype.kind in "VS" and not value.ndim else b""
        else:
            data = bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else b""
        if len(data) != self.size:
            raise ValueError(f"{self.name} requires {self.size} bytes, not {value!r}")
        return np.frombuffer(data, self.numpy_dtype).reshape(())
