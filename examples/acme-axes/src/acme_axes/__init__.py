"""Metadata member ``acme.axes``: where the elements of an array are, at even distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ExtensionDefinition, MetadataExtension, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core import Array
    from zarr_core.extension import JSON

NAME = "acme.axes"


@dataclass(frozen=True, slots=True)
class Axes(MetadataExtension):
    """Coordinates that nobody need store, as they are computed.

    Parameters
    ----------
    start, step : tuple of float
        Coordinate of the first element along each dimension; distance to the next.
    unit : tuple of str
        What they are measured in.
    """

    start: tuple[float, ...]
    step: tuple[float, ...]
    unit: tuple[str, ...]

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Axes:
        given: Any = definition.configuration
        return cls(tuple(given["start"]), tuple(given["step"]), tuple(given["unit"]))

    def to_json(self) -> dict[str, JSON]:
        # Who does not know the member can read the array all the same.
        members: dict[str, JSON] = {"must_understand": False}
        return members | {"start": [*self.start], "step": [*self.step], "unit": [*self.unit]}

    def check(self, document: Mapping[str, JSON]) -> list[Problem]:
        shape = document.get("shape")
        if not isinstance(shape, list):
            return [Problem(f"/{NAME}", "describes arrays, and this is a group")]
        return [
            Problem(f"/{NAME}/{member}", f"has {len(found)} items for {len(shape)} dimensions")
            for member in ("start", "step", "unit")
            if len(found := getattr(self, member)) != len(shape)
        ]

    def coordinates(self, shape: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], ...]:
        """Coordinates of all elements, for each dimension."""
        parts = zip(self.start, self.step, shape, strict=True)
        return tuple(start + step * np.arange(count) for start, step, count in parts)

    def nearest(self, *coordinates: float) -> tuple[int, ...]:
        """The index of the element that is nearest to a place."""
        parts = zip(coordinates, self.start, self.step, strict=True)
        return tuple(round((place - start) / step) for place, start, step in parts)


def axes_of(array: Array) -> Axes | None:
    """What the metadata of an array say; it was checked when the array was opened."""
    value: Any = array.metadata.additional_fields.get(NAME)
    return None if value is None else Axes.from_definition(ExtensionDefinition(NAME, value))


def set_axes(array: Array, axes: Axes) -> None:
    """Write into the metadata of an array where its elements are.

    Raises
    ------
    MetadataValidationError
        If there are not as many axes as dimensions.
    """
    array.update_additional_fields({NAME: axes.to_json()})
