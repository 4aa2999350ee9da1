"""cast_value codec (array -> array): conversion of numbers to another data type.

Name:           cast_value
Specification:  zarr-extensions, codecs/cast_value
Configuration:  {"data_type": "uint8", "rounding": "nearest-even", "out_of_range": "clamp",
                "scalar_map": {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}}
Schema:         schemas/codec/cast_value.json
Partial decode: no
Compatible:     zarr-python
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from zarr_core.extension import (
    ArrayToArrayCodec,
    ChunkDecodeError,
    DataType,
    ExtensionDefinition,
    Location,
    create_extension,
)

from zarr_codecs._conversion import ROUNDINGS, Rule, cast
from zarr_codecs._number_types import Floats, Integers, number_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import JSON, ArrayRepresentation

    Array = np.ndarray[Any, Any]
    Pairs = tuple[tuple[Array, Array], ...]

ScalarMap: TypeAlias = "Mapping[str, Sequence[Sequence[JSON]]]"

_NAME = "cast_value"
_DIRECTIONS = ("encode", "decode")


@dataclass(frozen=True, slots=True)
class CastValueCodec(ArrayToArrayCodec):
    """Convert every number to the equal or nearest number of another data type.

    Parameters
    ----------
    data_type : str, mapping or DataType
        Data type of the stored elements: an integer or real float type.
    rounding : {"nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"}
        How numbers are rounded that the stored type cannot represent.
    out_of_range : {"clamp", "wrap"}, optional
        Conversion of numbers beyond the range of the stored type: to the end of the
        range (or to infinity, if the type has it), or to the lowest bits of the
        integer.  Without it such numbers raise an error.
    scalar_map : mapping, optional
        Lists under ``encode`` and ``decode`` with pairs of a number and its
        replacement, as fill values in JSON.  They take precedence over the other
        parameters.
    """

    data_type: Any
    rounding: Literal[
        "nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"
    ] = "nearest-even"
    out_of_range: Literal["clamp", "wrap"] | None = None
    scalar_map: ScalarMap | None = None
    _target: DataType = field(init=False, repr=False, compare=False)
    _casts: dict[np.dtype[Any], _Casts] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        target = self.data_type
        if not isinstance(target, DataType):
            target = create_extension(
                "data_type",
                ExtensionDefinition.from_json(target),
                Location(pointer="/configuration/data_type"),
            )
            assert isinstance(target, DataType)  # a data type is never ignored
        if self.rounding not in ROUNDINGS:
            raise ValueError(
                f"rounding must be one of {', '.join(ROUNDINGS)}, not {self.rounding!r}"
            )
        if self.out_of_range not in (None, "clamp", "wrap"):
            raise ValueError(f'out_of_range must be "clamp" or "wrap", not {self.out_of_range!r}')
        numbers = number_type(target)
        if self.out_of_range == "wrap" and not isinstance(numbers, Integers):
            raise ValueError('out_of_range "wrap" requires an integer data_type')
        for direction, pairs in (self.scalar_map or {}).items():
            if direction not in _DIRECTIONS or any(len(pair) != 2 for pair in pairs):
                raise ValueError(
                    'scalar_map must contain lists of pairs under "encode" and "decode"'
                )
        put = object.__setattr__
        if isinstance(self.data_type, DataType):
            put(self, "data_type", target.to_definition().to_json())
        put(self, "_target", target)

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration without unset members."""
        configuration: dict[str, JSON] = {"data_type": self.data_type, "rounding": self.rounding}
        if self.out_of_range is not None:
            configuration["out_of_range"] = self.out_of_range
        if self.scalar_map is not None:
            configuration["scalar_map"] = {
                direction: [list(pair) for pair in pairs]
                for direction, pairs in self.scalar_map.items()
            }
        return configuration

    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Return the representation with the stored data type and the converted fill value.

        Raises
        ------
        ValueError
            If the data type is not supported, ``scalar_map`` contains an invalid number,
            or the fill value does not survive encoding and decoding.
        """
        casts = self._get_casts(decoded.data_type)
        fill = decoded.fill_value
        try:
            stored = casts.encode(fill)
            again = casts.decode(stored)
        except ValueError as error:
            raise ValueError(f"the fill value {fill} cannot be converted: {error}") from error
        if again != fill and not (again != again and fill != fill):
            raise ValueError(
                f"the fill value {fill} is encoded as {stored}, which decodes to {again}"
            )
        return replace(decoded, data_type=self._target, fill_value=stored)

    def encode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        """Convert to the stored data type."""
        return self._get_casts(decoded.data_type).encode(array)

    def decode(self, array: Array, decoded: ArrayRepresentation) -> Array:
        """Convert to the data type of the array."""
        try:
            return self._get_casts(decoded.data_type).decode(array)
        except ValueError as error:
            raise ChunkDecodeError(str(error), _NAME) from error

    def _get_casts(self, source: DataType) -> _Casts:
        casts = self._casts.get(source.numpy_dtype)
        if casts is None:
            rule = Rule(self.rounding, self.out_of_range)
            scalars = self.scalar_map or {}
            casts = self._casts[source.numpy_dtype] = _Casts(
                _Cast.of(source, self._target, rule, scalars, "encode"),
                _Cast.of(self._target, source, rule, scalars, "decode"),
            )
        return casts

    def __hash__(self) -> int:
        return hash((str(self.data_type), self.rounding, self.out_of_range))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.data_type, self.rounding, self.out_of_range, self.scalar_map)


@dataclass(frozen=True, slots=True)
class _Cast:
    """Conversion in one direction, for one data type of the array."""

    source: Integers | Floats
    target: Integers | Floats
    dtype: np.dtype[Any]
    rule: Rule
    pairs: Pairs

    @classmethod
    def of(
        cls, source: DataType, target: DataType, rule: Rule, scalars: ScalarMap, direction: str
    ) -> _Cast:
        mapped: list[tuple[Array, Array]] = []
        for number, (before, after) in enumerate(scalars.get(direction, ())):
            member = f"scalar_map/{direction}/{number}"
            mapped.append((_scalar(source, before, member), _scalar(target, after, member)))
        # The first of equal keys takes precedence, so it is assigned last.
        pairs = tuple(reversed(mapped))
        numbers = number_type(source), number_type(target)
        return cls(*numbers, target.numpy_dtype, rule, pairs)

    def __call__(self, array: Array) -> Array:
        if not self.pairs:
            return cast(array, self.source, self.target, self.dtype, self.rule)
        matches = [array != array if key != key else array == key for key, _ in self.pairs]
        mapped = np.logical_or.reduce(matches)
        if not mapped.any():
            return cast(array, self.source, self.target, self.dtype, self.rule)
        # Mapped numbers may not be convertible, so only the others are converted.
        rest = array[~mapped]
        result = np.empty(array.shape, self.dtype)
        result[~mapped] = cast(rest, self.source, self.target, self.dtype, self.rule)
        for match, (_, value) in zip(matches, self.pairs, strict=True):
            result[match] = value
        return result


@dataclass(frozen=True, slots=True)
class _Casts:
    """Conversion in both directions, for one data type of the array."""

    encode: _Cast
    decode: _Cast


def _scalar(data_type: DataType, value: JSON, member: str) -> Array:
    """Parse a number like a fill value; the specification also allows "+Infinity"."""
    try:
        return data_type.fill_value_from_json("Infinity" if value == "+Infinity" else value)
    except ValueError as error:
        raise ValueError(f"{member}: {error}") from error
