"""scale_offset codec (array -> array): numbers minus an offset, times a scale.

Name:           scale_offset
Specification:  zarr-extensions, codecs/scale_offset
Configuration:  {"offset": 5, "scale": 0.1}
Schema:         schemas/codec/scale_offset.json
Partial decode: no
Compatible:     zarr-python
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToArrayCodec, ChunkDecodeError, data_type_for

from zarr_codecs._conversion import Rule, cast
from zarr_codecs._number_types import Floats, Integers, number_type

if TYPE_CHECKING:
    from zarr_core.extension import JSON, ArrayRepresentation, DataType

    Array = np.ndarray[Any, Any]

_NAME = "scale_offset"
_FLOAT64 = Floats(53, -1022, (2 - 2.0**-52) * 2.0**1023)


@dataclass(frozen=True, slots=True)
class ScaleOffsetCodec(ArrayToArrayCodec):
    """Store ``(element - offset) * scale``, computed in the data type of the array.

    Parameters
    ----------
    offset, scale : JSON, optional
        Numbers in the form of fill values of the data type; 0 and 1 if not given.
    """

    offset: JSON = None
    scale: JSON = None
    _arithmetics: dict[np.dtype[Any], _IntegerArithmetic | _FloatArithmetic] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration without unset members."""
        members = {"offset": self.offset, "scale": self.scale}
        return {name: value for name, value in members.items() if value is not None}

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Return the representation with the encoded fill value.

        Raises
        ------
        ValueError
            If the data type is not supported, ``offset`` or ``scale`` is invalid, or the
            fill value cannot be encoded.
        """
        arithmetic = self._arithmetic(decoded.data_type)
        try:
            fill_value = arithmetic.encode(decoded.fill_value.reshape(1)).reshape(())
        except ValueError as error:
            raise ValueError(
                f"the fill value {decoded.fill_value} cannot be encoded: {error}"
            ) from error
        return replace(decoded, fill_value=fill_value)

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        """Subtract the offset, then multiply."""
        arithmetic = self._arithmetics.get(array.dtype)
        if arithmetic is None:  # encoded_representation was not called
            arithmetic = self._arithmetic(data_type_for(array.dtype))
        return arithmetic.encode(np.atleast_1d(array)).reshape(array.shape)

    def decode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        """Divide, then add the offset."""
        try:
            result = self._arithmetic(decoded.data_type).decode(np.atleast_1d(array))
        except ValueError as error:
            raise ChunkDecodeError(str(error), _NAME) from error
        return result.reshape(decoded.shape)

    def _arithmetic(self, data_type: DataType) -> _IntegerArithmetic | _FloatArithmetic:
        arithmetic = self._arithmetics.get(data_type.numpy_dtype)
        if arithmetic is None:
            numbers, dtype = number_type(data_type), data_type.numpy_dtype
            offset = _scalar(data_type, "offset", self.offset)
            scale = _scalar(data_type, "scale", self.scale)
            if scale == 0 or not all(isfinite(number or 0) for number in (offset, scale)):
                raise ValueError(
                    f"offset {offset} and scale {scale} must be finite, and scale must not be 0"
                )
            arithmetic = (
                _IntegerArithmetic(numbers, dtype, offset or 0, 1 if scale is None else scale)
                if isinstance(numbers, Integers)
                else _FloatArithmetic(numbers, dtype, offset, scale)
            )
            self._arithmetics[data_type.numpy_dtype] = arithmetic
        return arithmetic

    def __hash__(self) -> int:
        return hash((str(self.offset), str(self.scale)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.offset, self.scale)


@dataclass(frozen=True, slots=True)
class _IntegerArithmetic:
    """Integer arithmetic; only the minimum and maximum of a chunk are checked."""

    numbers: Integers
    dtype: np.dtype[Any]
    offset: int
    scale: int

    def encode(self, array: Array) -> Array:
        if not array.size:
            return array
        wide, low, high = self._wide(array)
        self._check(low - self.offset, high - self.offset)
        self._check((low - self.offset) * self.scale, (high - self.offset) * self.scale)
        number = wide.dtype.type
        result: Array = (wide - number(self.offset)) * number(self.scale)
        return result.astype(self.dtype, copy=False)

    def decode(self, array: Array) -> Array:
        if not array.size:
            return array
        wide, low, high = self._wide(array)
        self._check(low // self.scale, high // self.scale)
        self._check(low // self.scale + self.offset, high // self.scale + self.offset)
        number = wide.dtype.type
        if abs(self.scale) != 1 and (wide % number(self.scale)).any():
            raise ValueError(f"a stored number is not divisible by the scale {self.scale}")
        result: Array = wide // number(self.scale) + number(self.offset)
        return result.astype(self.dtype, copy=False)

    def _wide(self, array: Array) -> tuple[Array, int, int]:
        """Return the numbers in a dtype of NumPy, the smallest and the largest."""
        if self.numbers.bits < 8:
            array = array.astype(np.int8 if self.numbers.signed else np.uint8)
        return array, int(array.min()), int(array.max())

    def _check(self, *ends: int) -> None:
        for end in ends:
            if not self.numbers.low <= end <= self.numbers.high:
                raise ValueError(
                    f"{end} is out of range: the data type has {self.numbers.low} to "
                    f"{self.numbers.high}"
                )


@dataclass(frozen=True, slots=True)
class _FloatArithmetic:
    """Floating-point arithmetic, rounded to the data type after each step."""

    numbers: Floats
    dtype: np.dtype[Any]
    offset: float | None
    scale: float | None

    def encode(self, array: Array) -> Array:
        with np.errstate(all="ignore"):
            return self._steps(array, (np.subtract, self.offset), (np.multiply, self.scale))

    def decode(self, array: Array) -> Array:
        with np.errstate(all="ignore"):
            return self._steps(array, (np.divide, self.scale), (np.add, self.offset))

    def _steps(self, array: Array, *steps: tuple[Any, float | None]) -> Array:
        result = array
        native = self.dtype.kind == "f"
        for step, number in steps:
            if number is None:
                continue
            if native:
                into = None if result is array else result
                result = step(result, self.dtype.type(number), out=into)
            else:  # computed in float64 and rounded once
                exact = step(result.astype(np.float64), number)
                result = cast(exact, _FLOAT64, self.numbers, self.dtype, Rule())
        if native and result is not array:
            sound = np.isfinite(result)
            if not sound.all() and (np.isfinite(array) & ~sound).any():
                raise ValueError(f"a result is out of the range of {self.dtype}")
        return result


def _scalar(data_type: DataType, name: str, value: JSON) -> Any:
    """Parse a number like a fill value; None stays None."""
    if value is None:
        return None
    try:
        number = data_type.fill_value_from_json(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return int(number[()]) if isinstance(number_type(data_type), Integers) else float(number[()])
