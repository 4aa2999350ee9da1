"""Chunk grid ``acme.months``: one chunk for each month or year of a time series."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import numpy as np
from zarr_core.extension import (
    JSON,
    ChunkAxis,
    ChunkGrid,
    ExtensionConfigurationError,
    ExtensionDefinition,
    ValidationProblem,
)

Indices = np.ndarray[Any, np.dtype[np.intp]]
Unit = Literal["month", "year"]

_UNITS = {"month": "M8[M]", "year": "M8[Y]"}
_LAST = np.datetime64("9999-12-31")


class CalendarAxis(ChunkAxis):
    """Chunks of months or years; the last is a whole one, also beyond the end of the array.

    Parameters
    ----------
    size : int
        Length of the dimension, in elements.
    unit : {"month", "year"}
        Length of a chunk; the first contains the rest of the month or year.
    first : numpy.datetime64
        The day of the first element.
    per_day : int
        Number of elements per day.
    """

    def __init__(self, size: int, unit: Unit, first: np.datetime64, per_day: int) -> None:
        if size > (_days(_LAST - first) + 1) * per_day:
            raise ValueError(f"{size} elements from {first} end after the year 9999")
        self._first, self._per_day = first, per_day
        self._unit = np.dtype(_UNITS[unit])
        self._first_unit = int(first.astype(self._unit).astype(np.int64))
        self.size = size
        self.count = self.chunk_of(size - 1) + 1 if size else 0

    def start(self, chunk: int) -> int:
        begins = np.int64(self._first_unit + chunk).astype(self._unit).astype("M8[D]")
        return max(0, _days(begins - self._first)) * self._per_day

    def length(self, chunk: int) -> int:
        return self.start(chunk + 1) - self.start(chunk)

    def chunk_of(self, element: int) -> int:
        return int(self.chunks_of(np.asarray(element, np.intp)))

    def chunks_of(self, elements: Indices) -> Indices:
        days = self._first + (elements // self._per_day).astype("m8[D]")
        return np.asarray(days.astype(self._unit).astype(np.intp) - self._first_unit)


class EvenAxis(ChunkAxis):
    """Chunks of equal length, as in a regular grid."""

    uniform: int

    def __init__(self, size: int, uniform: int) -> None:
        self.size, self.uniform, self.count = size, uniform, -(-size // uniform)

    def start(self, chunk: int) -> int:
        return chunk * self.uniform

    def length(self, chunk: int) -> int:
        return self.uniform

    def chunk_of(self, element: int) -> int:
        return element // self.uniform

    def chunks_of(self, elements: Indices) -> Indices:
        return elements // self.uniform if self.uniform < self.size else elements * 0


@dataclass(frozen=True, slots=True)
class Months(ChunkGrid):
    """A grid in which some dimensions are time.

    Chunk edges depend on the calendar only, not on the length of the array, so arrays can
    grow by any number of elements.

    Parameters
    ----------
    lengths : tuple of (int, "month" or "year")
        Length of the chunks along each dimension.
    start : datetime.date
        The day of the first element.
    steps_per_day : int
        Number of elements per day.
    """

    lengths: tuple[int | Unit, ...]
    start: date
    steps_per_day: int

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Months:
        given: Any = definition.configuration
        try:
            start = date.fromisoformat(given["start"])
        except ValueError as error:  # such as 30 February, which a schema cannot detect
            problem = ValidationProblem("/configuration/start", str(error))
            raise ExtensionConfigurationError(
                "chunk_grid", definition.name, "", [problem]
            ) from error
        return cls(tuple(given["chunk_shape"]), start, given["steps_per_day"])

    def to_definition(self) -> ExtensionDefinition:
        configuration: dict[str, JSON] = {
            "chunk_shape": [*self.lengths],
            "start": self.start.isoformat(),
            "steps_per_day": self.steps_per_day,
        }
        return ExtensionDefinition("acme.months", configuration)

    def axes(self, shape: tuple[int, ...]) -> tuple[ChunkAxis, ...]:
        if len(shape) != len(self.lengths):
            raise ValueError(f"{len(self.lengths)} chunk lengths do not match shape {shape}")
        first = np.datetime64(self.start)
        return tuple(
            EvenAxis(size, part)
            if isinstance(part, int)
            else CalendarAxis(size, part, first, self.steps_per_day)
            for size, part in zip(shape, self.lengths, strict=True)
        )


def _days(time: np.timedelta64) -> int:
    return int(time.astype(np.int64))
