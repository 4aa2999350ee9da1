"""The data type ``v2.subarray``: a small array in each field of a structured type.

Specification: version 2, "Data type encoding": ``[fieldname, datatype, shape]``.
Version 3 has no such type.
Configuration: ``{"data_type": "float32", "shape": [2, 2]}``
Fill value: nested lists of the fill values of the elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import (
    DataType,
    ExtensionDefinition,
    Location,
    create_extension,
    data_type_for,
)

if TYPE_CHECKING:
    from zarr_core.extension import JSON


@dataclass(frozen=True, slots=True)
class Subarray(DataType):
    """Elements that are arrays of a fixed shape.

    Parameters
    ----------
    data_type : DataType
        The data type of the inner elements, which has a fixed size.
    shape : tuple of int
        The shape of an element.
    """

    data_type: DataType
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.data_type.item_size is None:
            raise ValueError("the elements of a sub-array have a fixed size")

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Subarray:
        inner = ExtensionDefinition.from_json(definition.configuration["data_type"])
        data_type = create_extension(
            "data_type", inner, Location(pointer="/configuration/data_type")
        )
        assert data_type is not None, "data types are never ignored"
        shape: Any = definition.configuration["shape"]
        return cls(data_type, tuple(shape))

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> Subarray | None:
        if dtype.subdtype is None:
            return None
        inner, shape = dtype.subdtype
        return cls(data_type_for(inner), shape)

    def to_definition(self) -> ExtensionDefinition:
        inner = self.data_type.to_definition().to_json()
        return ExtensionDefinition("v2.subarray", {"data_type": inner, "shape": [*self.shape]})

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return np.dtype((self.data_type.numpy_dtype, self.shape))

    @property
    def item_size(self) -> int:
        return (self.data_type.item_size or 0) * prod(self.shape)

    @property
    def has_byte_order(self) -> bool:
        return self.data_type.has_byte_order

    def default_fill_value(self) -> np.ndarray[Any, Any]:
        return self._filled(self.data_type.default_fill_value())

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        result = self._filled(self.data_type.default_fill_value())
        for index in np.ndindex(*self.shape):
            item: Any = value
            for length, number in zip(self.shape, index, strict=True):
                if not isinstance(item, list) or len(item) != length:
                    raise ValueError(
                        f"a fill value of shape {self.shape} is nested lists of such lengths, "
                        f"not {value!r:.60}"
                    )
                item = item[number]
            result[index] = self.data_type.fill_value_from_json(item)
        return result

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        items = value if value.ndim else value[()]
        return self._nested(np.asarray(items, self.data_type.numpy_dtype))

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        return self._filled(np.asarray(value, self.data_type.numpy_dtype))

    def _filled(self, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return an array of the shape, for assignment to a field of this type."""
        result = np.empty(self.shape, self.data_type.numpy_dtype)
        result[...] = value
        return result

    def _nested(self, value: np.ndarray[Any, Any]) -> JSON:
        if value.ndim == 0:
            return self.data_type.fill_value_to_json(value)
        return [self._nested(value[number, ...]) for number in range(len(value))]
