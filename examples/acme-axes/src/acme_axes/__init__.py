"""Additional field ``acme.axes``: evenly spaced coordinates of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import (
    ExtensionDefinition,
    MetadataExtension,
    ValidationProblem,
    update_additional_fields,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core import Array
    from zarr_core.extension import JSON

NAME = "acme.axes"


@dataclass(frozen=True, slots=True)
class Axes(MetadataExtension):
    """Evenly spaced coordinates, which are computed instead of stored.

    Parameters
    ----------
    start, step : tuple of float
        Coordinate of the first element along each dimension; distance to the next.
    unit : tuple of str
        Unit of the coordinates along each dimension.
    """

    start: tuple[float, ...]
    step: tuple[float, ...]
    unit: tuple[str, ...]

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Axes:
        given: Any = definition.configuration
        return cls(tuple(given["start"]), tuple(given["step"]), tuple(given["unit"]))

    def to_json(self) -> dict[str, JSON]:
        # Readers that do not know the field can read the array.
        members: dict[str, JSON] = {"must_understand": False}
        return members | {"start": [*self.start], "step": [*self.step], "unit": [*self.unit]}

    def check(self, document: Mapping[str, JSON]) -> list[ValidationProblem]:
        shape = document.get("shape")
        if not isinstance(shape, list):
            return [ValidationProblem(f"/{NAME}", "is for arrays only, but this is a group")]
        return [
            ValidationProblem(
                f"/{NAME}/{member}", f"has {len(found)} items for {len(shape)} dimensions"
            )
            for member in ("start", "step", "unit")
            if len(found := getattr(self, member)) != len(shape)
        ]

    def coordinates(self, shape: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], ...]:
        """Return the coordinates of all elements, for each dimension."""
        parts = zip(self.start, self.step, shape, strict=True)
        return tuple(start + step * np.arange(count) for start, step, count in parts)

    def nearest(self, *coordinates: float) -> tuple[int, ...]:
        """Return the index of the element that is nearest to a position."""
        parts = zip(coordinates, self.start, self.step, strict=True)
        return tuple(round((position - start) / step) for position, start, step in parts)


def axes_of(array: Array) -> Axes | None:
    """Return the axes of an array; they were validated when the array was opened."""
    value: Any = array.metadata.additional_fields.get(NAME)
    return None if value is None else Axes.from_definition(ExtensionDefinition(NAME, value))


def set_axes(array: Array, axes: Axes) -> None:
    """Store axes in the metadata of an array.

    Raises
    ------
    MetadataValidationError
        If the number of axes differs from the number of dimensions.
    """
    update_additional_fields(array, {NAME: axes.to_json()})
