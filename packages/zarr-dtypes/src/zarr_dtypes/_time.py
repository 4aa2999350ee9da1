"""The base class of points in time and durations, which count units of time.

An element is a signed integer of 64 bits.  The smallest represents NaT.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition

if TYPE_CHECKING:
    from zarr_core.extension import JSON

Unit: TypeAlias = Literal[
    "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"
]
"""Units of time, as in NumPy; ``generic`` means without a unit."""

_UNITS: frozenset[str] = frozenset(Unit.__args__)  # type: ignore[attr-defined]  # of a Literal
_SPELLINGS = {"\N{GREEK SMALL LETTER MU}s": "us"}  # the specification allows both
_LARGEST_SCALE = 2**31 - 1
_NAT = -(2**63)


@dataclass(frozen=True, slots=True)
class TimeType(DataType):
    """A count of time steps.

    Parameters
    ----------
    unit : str
        ``"Y"``, ``"M"``, ``"W"``, ``"D"``, ``"h"``, ``"m"``, ``"s"``, ``"ms"``, ``"us"`` (or
        ``"μs"``), ``"ns"``, ``"ps"``, ``"fs"``, ``"as"`` or ``"generic"``.
    scale_factor : int
        Number of units per step, 1 to 2**31 - 1.
    """

    unit: Unit
    scale_factor: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", _SPELLINGS.get(self.unit, self.unit))
        if self.unit not in _UNITS:
            raise ValueError(
                f"unknown unit {self.unit!r}; expected one of {', '.join(sorted(_UNITS))}"
            )
        if not 1 <= self.scale_factor <= _LARGEST_SCALE:
            raise ValueError(
                f"the scale factor must be 1 to {_LARGEST_SCALE}, not {self.scale_factor}"
            )

    @classmethod
    @abstractmethod
    def _names(cls) -> tuple[str, str]:
        """Return the name in metadata and the name of the dtype."""

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        configuration: dict[str, Any] = dict(definition.configuration)
        return cls(**configuration)

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> Self | None:
        if dtype.type is not getattr(np, cls._names()[1]):
            return None
        unit, scale_factor = np.datetime_data(dtype)
        if unit == "generic":
            # Stored arrays without a unit are read, but nothing except NaT can be written to them.
            name = cls._names()[1]
            raise ValueError(f'it has no unit; pass one, such as dtype="{name}[ns]"')
        return cls(unit, scale_factor)  # type: ignore[arg-type]  # NumPy has only these units

    def to_definition(self) -> ExtensionDefinition:
        configuration: dict[str, JSON] = {"unit": self.unit, "scale_factor": self.scale_factor}
        return ExtensionDefinition(self._names()[0], configuration)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return np.dtype(f"{self._names()[1]}[{self.scale_factor}{self.unit}]")

    def default_fill_value(self) -> np.ndarray[Any, Any]:
        """Return NaT, as zero is a valid point in time."""
        return self._counted(_NAT)

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        if value == "NaT":
            return self._counted(_NAT)
        if not isinstance(value, int) or isinstance(value, bool) or not _NAT <= value < -_NAT:
            raise ValueError(
                f'a fill value of type {self._names()[0]} must be "NaT" or an integer from -2**63 to '
                f"2**63 - 1 written without fraction or exponent, not {value!r}"
            )
        return self._counted(value)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        count = int(value.view(np.int64))
        return "NaT" if count == _NAT else count

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, str) and value == "NaT":
            return self._counted(_NAT)
        if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
            return self.fill_value_from_json(int(value))
        try:
            element = np.asarray(self._to_numpy(value)).reshape(())
            if element.dtype.kind == "m" and self.numpy_dtype.kind == "M":
                raise ValueError("a duration is not a point in time")
            if np.isnat(element):
                return self._counted(_NAT)
            converted = element.astype(self.numpy_dtype)
            exact = not np.isnat(converted) and converted.astype(element.dtype) == element
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"{self.numpy_dtype} cannot hold {value!r}: {error}") from error
        if not exact:
            raise ValueError(f"{self.numpy_dtype} cannot hold {value!r} exactly")
        return converted

    @abstractmethod
    def _to_numpy(self, value: Any) -> Any:
        """Convert a value to a NumPy scalar of this kind, with its own unit."""

    def _counted(self, count: int) -> np.ndarray[Any, Any]:
        return np.array(count, np.int64).view(self.numpy_dtype)
