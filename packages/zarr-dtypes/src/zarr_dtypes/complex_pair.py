"""The data types of complex numbers whose parts are smaller than those of NumPy.

Name:           complex_bfloat16, complex_float16, complex_float8_*, complex_float6_*,
                complex_float4_e2m1fn
Specification:  zarr-extensions, data-types/<name>
Configuration:  none
Schema:         schemas/data_type/<name>.json
Fill value:     a list of real and imaginary part, each in a form of its data type
NumPy:          records of the fields "real" and "imag"

NumPy has complex numbers of 64 bits and more.  The 32-bit types of ml_dtypes (0.6 and
newer) are accepted as input, but not returned: byte swapping exchanges their parts, and
their ``.imag`` is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition, create_extension

from zarr_dtypes._ml_dtypes import complex_name

if TYPE_CHECKING:
    from zarr_core.extension import JSON

    NDArray = np.ndarray[Any, Any]

_PREFIX = "complex_"
_OF_ML_DTYPES = {"complex32": "complex_float16", "bcomplex32": "complex_bfloat16"}


@dataclass(frozen=True, slots=True)
class ComplexPair(DataType):
    """A complex number that is stored as two floating-point numbers.

    Parameters
    ----------
    part : DataType
        The data type of the real and of the imaginary part.
    """

    part: DataType
    _dtype: np.dtype[Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        part = self.part.numpy_dtype
        object.__setattr__(self, "_dtype", np.dtype([("real", part), ("imag", part)]))

    @property
    def name(self) -> str:
        """Name of the data type, such as ``"complex_bfloat16"``."""
        return _PREFIX + self.part.to_definition().name

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> ComplexPair:
        return cls(_part_of(definition.name))

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> ComplexPair | None:
        """Accept complex types of ml_dtypes; records are the data type ``struct``."""
        name = _name_of(dtype)
        return cls(_part_of(name)) if name else None

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition(self.name, spelling=self.name)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return self._dtype

    @property
    def has_byte_order(self) -> bool:
        return self.part.has_byte_order

    @property
    def unused_bits(self) -> bool:
        return self.part.unused_bits

    def clear_unused_bits(self, array: NDArray) -> NDArray:
        if not self.unused_bits:
            return array
        return self._joined(
            self.part.clear_unused_bits(array["real"]), self.part.clear_unused_bits(array["imag"])
        )

    def as_elements(self, value: Any) -> Any:
        """Convert numbers to records; NumPy would assign the number to both parts."""
        array = np.asarray(value)
        if array.dtype.names is not None:
            return array
        if name := _name_of(array.dtype):
            # A view keeps the bits of NaN; a cast to larger numbers would change them.
            parts = _part_of(name).numpy_dtype
            native = array.astype(array.dtype.newbyteorder("="), copy=False)
            array = native.view([("real", parts), ("imag", parts)])
            return self._joined(array["real"], array["imag"])
        if array.dtype.kind == "c":
            return self._joined(array.real, array.imag)
        return self._joined(array, np.zeros((), np.int8))

    def fill_value_from_json(self, value: JSON) -> NDArray:
        if not isinstance(value, list) or len(value) != 2:
            raise ValueError(
                f"a fill value of type {self.name} must be a list of real and imaginary part, "
                f"not {value!r}"
            )
        real, imaginary = (self.part.fill_value_from_json(item) for item in value)
        return self._joined(real, imaginary)

    def fill_value_to_json(self, value: NDArray) -> JSON:
        # As arrays, because NumPy scalars have native byte order.
        return [self.part.fill_value_to_json(np.asarray(value[name])) for name in ("real", "imag")]

    def cast(self, value: Any) -> NDArray:
        if isinstance(value, list | tuple):
            if len(value) != 2:
                raise ValueError(f"{self.name} cannot hold {value!r}; pass real and imaginary part")
            parts = tuple(value)
        elif isinstance(value, np.ndarray | np.generic):
            if value.ndim:
                raise ValueError(f"{self.name} cannot hold {value!r}; pass one number")
            element = np.asarray(value)
            names = element.dtype.names
            if names is not None and set(names) != {"real", "imag"}:
                raise ValueError(f"{self.name} requires the fields real and imag, not {names}")
            if element.dtype.kind == "c":
                parts = (element.real, element.imag)
            elif names is not None or complex_name(element.dtype):
                element = self.as_elements(element)
                parts = (element["real"], element["imag"])
            else:
                parts = (element, 0)
        elif isinstance(value, complex):
            parts = (value.real, value.imag)
        else:
            parts = (value, 0)
        return self._joined(self.part.cast(parts[0]), self.part.cast(parts[1]))

    def _joined(self, real: NDArray, imaginary: NDArray) -> NDArray:
        joined = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), self._dtype)
        joined["real"], joined["imag"] = real, imaginary
        return joined


def _part_of(name: str) -> DataType:
    part = ExtensionDefinition(name.removeprefix(_PREFIX))
    data_type: DataType | None = create_extension("data_type", part)
    assert data_type is not None  # a data type is never ignored
    return data_type


def _name_of(dtype: np.dtype[Any]) -> str | None:
    """Return the data type of a complex type of ml_dtypes, else None."""
    name = complex_name(dtype)
    return _OF_ML_DTYPES[name] if name else None
