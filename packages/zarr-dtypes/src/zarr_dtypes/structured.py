"""The data type ``structured``, the former name of ``struct``.

Name:           structured
Specification:  zarr-extensions, data-types/structured
Configuration:  {"fields": [["x", "float32"], ...]}
Schema:         schemas/data_type/structured.json
Fill value:     as for struct; mostly the packed bytes in base64, in the byte order of the array
NumPy:          as for struct

Supported for reading only; new arrays have ``struct``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from zarr_dtypes.struct import Struct, field_data_type

if TYPE_CHECKING:
    import numpy as np
    from zarr_core.extension import JSON, ExtensionDefinition


@dataclass(frozen=True, slots=True)
class Structured(Struct):
    """Records in the form of zarr-python 3.0 and 3.1."""

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        listed: Any = definition.configuration["fields"]
        fields = []
        for number, item in enumerate(listed):
            if isinstance(item, dict):
                key, name, data_type = "data_type", item["name"], item["data_type"]
            else:
                key, (name, data_type) = "1", item
            fields.append((name, field_data_type(data_type, f"{number}/{key}")))
        return cls(tuple(fields))

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> Self | None:
        return None

    @property
    def implied_byte_order(self) -> Literal["little"]:
        """The byte order if the ``bytes`` codec has no ``endian`` (from the specification)."""
        return "little"

    def fill_value_as_stored(
        self, value: JSON, byte_order: Literal["little", "big"] | None
    ) -> np.ndarray[Any, Any]:
        """Decode a fill value; packed bytes have the byte order of the array."""
        decoded = self.fill_value_from_json(value)
        if byte_order != "big" or not isinstance(value, str):
            return decoded
        kept = self.numpy_dtype
        return decoded.astype(kept.newbyteorder("<")).view(kept.newbyteorder(">")).astype(kept)
