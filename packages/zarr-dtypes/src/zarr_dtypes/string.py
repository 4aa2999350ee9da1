"""The data type ``string``: variable-length Unicode strings.

Name:           string
Specification:  zarr-extensions, data-types/string
Configuration:  none
Fill value:     a string
NumPy:          StringDType(), without a missing value
Codec:          vlen-utf8 by default
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition

if TYPE_CHECKING:
    from zarr_core.extension import JSON

_DTYPE = np.dtypes.StringDType()


@dataclass(frozen=True, slots=True)
class String(DataType):
    """Variable-length strings."""

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> String:
        return cls()

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> String | None:
        if isinstance(dtype, np.dtypes.StringDType):
            if hasattr(dtype, "na_object"):
                raise ValueError(
                    f"{dtype} has a missing value, which the data type string does not "
                    "support; cast to numpy.dtypes.StringDType() first"
                )
            return cls()
        # This is numpy.dtype(str).
        return cls() if dtype.kind == "U" and not dtype.itemsize else None

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("string", spelling="string")

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
        return ExtensionDefinition("vlen-utf8")

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        if not isinstance(value, str):
            raise ValueError(f"a fill value of type string must be a string, not {value!r}")
        return np.array(value, _DTYPE)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return str(value[()])

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        element = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
        if type(element) is int and element == 0:  # the elements of numpy.zeros
            element = ""
        if not isinstance(element, str):
            raise ValueError(f"string requires a string, not {value!r}")
        return np.array(element, _DTYPE)
