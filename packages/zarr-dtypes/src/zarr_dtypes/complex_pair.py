"""The data types of complex numbers whose parts are smaller than those of NumPy.

Name:           complex_bfloat16, complex_float16, complex_float8_*, complex_float6_*,
                complex_float4_e2m1fn
Specification:  zarr-extensions, data-types/<name>
Configuration:  none
Schema:         schemas/data_type/<name>.json
Fill value:     a list of real and imaginary part, each in a form that their type has
NumPy:          records of the fields "real" and "imag"

NumPy has complex numbers of 64 bits and more.  Those of 32 bits that ml_dtypes has
since 0.6 are taken where values are given, but not handed out: they change places
of the two parts where bytes are swapped, and their ``.imag`` is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition, make_extension

from zarr_dtypes._ml_dtypes import complex_name

if TYPE_CHECKING:
    from zarr_core.extension import JSON

    NDArray = np.ndarray[Any, Any]

_PREFIX = "complex_"
_OF_ML_DTYPES = {"complex32": "complex_float16", "bcomplex32": "complex_bfloat16"}


@dataclass(frozen=True, slots=True)
class ComplexPair(DataType):
    """A complex number: two floating-point numbers one after the other.

    Parameters
    ----------
    part : DataType
        The type of the real part, also of the imaginary part.
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
        """Complex numbers of ml_dtypes; records of any fields are the data type ``struct``."""
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
        """Records of the two parts of numbers, which NumPy would put into both."""
        given = np.asarray(value)
        if given.dtype.names is not None:
            return given
        if name := _name_of(given.dtype):
            # As records: a cast to larger numbers would change the bits of NaN.
            parts = _part_of(name).numpy_dtype
            native = given.astype(given.dtype.newbyteorder("="), copy=False)
            given = native.view([("real", parts), ("imag", parts)])
            return self._joined(given["real"], given["imag"])
        if given.dtype.kind == "c":
            return self._joined(given.real, given.imag)
        return self._joined(given, np.zeros((), np.int8))

    def fill_value_from_json(self, value: JSON) -> NDArray:
        if not isinstance(value, list) or len(value) != 2:
            raise ValueError(
                f"a fill value of type {self.name} is a list of real and imaginary part, "
                f"not {value!r}"
            )
        real, imaginary = (self.part.fill_value_from_json(item) for item in value)
        return self._joined(real, imaginary)

    def fill_value_to_json(self, value: NDArray) -> JSON:
        # As arrays: what NumPy makes scalars of are copies in native order.
        return [self.part.fill_value_to_json(np.asarray(value[name])) for name in ("real", "imag")]

    def cast(self, value: Any) -> NDArray:
        if isinstance(value, list | tuple):
            if len(value) != 2:
                raise ValueError(f"{self.name} can hold real and imaginary part, not {value!r}")
            parts = tuple(value)
        elif isinstance(value, np.ndarray | np.generic):
            if value.ndim:
                raise ValueError(f"{self.name} can hold one number, not {value!r}")
            element = np.asarray(value)
            names = element.dtype.names
            if names is not None and set(names) != {"real", "imag"}:
                raise ValueError(f"{self.name} has the fields real and imag, not {names}")
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
    data_type: DataType | None = make_extension("data_type", part)
    assert data_type is not None  # a data type is never left out
    return data_type


def _name_of(dtype: np.dtype[Any]) -> str | None:
    """The data type of complex numbers of ml_dtypes, if these are some."""
    name = complex_name(dtype)
    return _OF_ML_DTYPES[name] if name else None
