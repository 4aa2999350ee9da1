"""Other names of NumPy's complex numbers.

Name:           complex_float32, complex_float64
Specification:  zarr-extensions, data-types/<name>
Configuration:  none
Schema:         schemas/data_type/<name>.json
Fill value:     a list of real and imaginary part
NumPy:          complex64, complex128

New arrays have the names of the core specification, which more readers support.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.extension import DataType, ExtensionDefinition, create_extension

if TYPE_CHECKING:
    import numpy as np
    from zarr_core.extension import JSON

_MEANING = {"complex_float32": "complex64", "complex_float64": "complex128"}


@dataclass(frozen=True, slots=True)
class ComplexAlias(DataType):
    """A complex number under another name.

    Parameters
    ----------
    meant : DataType
        ``complex64`` or ``complex128``.
    """

    meant: DataType

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> ComplexAlias:
        meant = ExtensionDefinition(_MEANING[definition.name])
        data_type: DataType | None = create_extension("data_type", meant)
        assert data_type is not None  # a data type is never ignored
        return cls(data_type)

    def to_definition(self) -> ExtensionDefinition:
        return self.meant.to_definition()

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return self.meant.numpy_dtype

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        return self.meant.fill_value_from_json(value)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return self.meant.fill_value_to_json(value)

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        return self.meant.cast(value)
