"""The attributes of a node from whatever a user gave for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.errors import AttributeValueError, MetadataValidationError
from zarr_core.strictjson import plain

if TYPE_CHECKING:
    from zarr_core.definition import JSON


def checked(attributes: Any, where: str) -> dict[str, JSON]:
    """Attributes that a user gave, as plain JSON.

    Parameters
    ----------
    attributes : mapping, or iterable of pairs
        What the user gave.
    where : str
        The node, for errors.

    Raises
    ------
    AttributeValueError
        If a value has no JSON form, or a name is no string.
    """
    try:
        converted = plain(dict(attributes), where, "/attributes")
    except MetadataValidationError as error:
        raise AttributeValueError(where, error.problems) from error
    assert isinstance(converted, dict)
    return converted
