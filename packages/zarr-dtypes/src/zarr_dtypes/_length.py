"""The configuration ``length_bytes`` of several data types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.extension import ExtensionDefinition

LARGEST = 2**31 - 1
"""Maximum number of bytes of an element of a NumPy array."""


def length_of(definition: ExtensionDefinition) -> int:
    """Return ``length_bytes``, which the schema requires to be an integer."""
    length = definition.configuration["length_bytes"]
    assert isinstance(length, int)
    return length


def check_length(length: int) -> None:
    """Raise ValueError if the length of an element is not between 1 and 2**31 - 1."""
    if not 1 <= length <= LARGEST:
        raise ValueError(f"an element must have 1 to {LARGEST} bytes, not {length}")
