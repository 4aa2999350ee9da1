"""The data type ``v2.object``: any Python object that an object codec can store.

Specification: none; version 2 has NumPy's ``|O``, and zarr-python stores such arrays
with a filter that converts objects to bytes.  Version 3 has no such type.
Fill value: any JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition, strictjson

if TYPE_CHECKING:
    from zarr_core.extension import JSON

_DTYPE = np.dtype(object)


@dataclass(frozen=True, slots=True)
class PythonObject(DataType):
    """Python objects; the codec defines which are supported."""

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> PythonObject:
        return cls()

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> PythonObject | None:
        return cls() if dtype.kind == "O" else None

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("v2.object")

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return _DTYPE

    @property
    def item_size(self) -> None:
        return None

    @property
    def has_byte_order(self) -> bool:
        return False

    def default_fill_value(self) -> np.ndarray[Any, Any]:
        """None, the form of version 2 for no fill value."""
        return self.cast(None)

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        return self.cast(value)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return strictjson.plain(value[()], "fill value")

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        # Assigned, because NumPy would convert a list to an array.
        cell = np.empty((), _DTYPE)
        cell[()] = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
        return cell
