"""Attributes in metadata: conversion to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

from zarr_core.errors import AttributeValueError, MetadataValidationError, ValidationProblem
from zarr_core.strictjson import identical, keep_nonfinite, plain

if TYPE_CHECKING:
    from zarr_core.definition import JSON
    from zarr_core.location import Location


def check_attributes(
    attributes: Any, location: Location, known: Mapping[str, JSON] | None = None
) -> dict[str, JSON]:
    """Convert attributes, a mapping or pairs, to JSON; AttributeValueError if a value has no form.

    NaN and infinities are permitted where ``known``, the present attributes of the node, has them.
    """
    try:
        values = dict(attributes)
    except (TypeError, ValueError):
        message = f"must be a mapping of names to values, not {brief(attributes)}"
        raise AttributeValueError(location, [ValidationProblem("/attributes", message)]) from None
    try:
        converted = plain(values, location, "/attributes")
    except MetadataValidationError:
        try:
            converted = plain(_keep_known_nonfinite(values, known or {}), location, "/attributes")
        except MetadataValidationError as error:
            raise AttributeValueError(location, error.problems) from error
    assert isinstance(converted, dict)
    return converted


def _keep_known_nonfinite(value: Any, known: Any) -> Any:
    """Mark NaN and infinities that are equal to those at the same position in ``known``."""
    if isinstance(known, dict) and isinstance(value, Mapping):
        return {
            name: _keep_known_nonfinite(item, known[name]) if name in known else item
            for name, item in value.items()
        }
    if isinstance(known, list) and isinstance(value, list | tuple):
        pairs = zip_longest(value, known[: len(value)])
        return [_keep_known_nonfinite(item, other) for item, other in pairs]
    if isinstance(known, float) and isinstance(value, float) and identical(float(value), known):
        return keep_nonfinite(value)
    return value
