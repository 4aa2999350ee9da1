"""The configuration ``length_bytes``, which several data types have alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.extension import ExtensionDefinition

LARGEST = 2**31 - 1
"""Bytes that an element of a NumPy array may have."""


def length_of(definition: ExtensionDefinition) -> int:
    """The member ``length_bytes``, which the schema has found to be an integer."""
    length = definition.configuration["length_bytes"]
    assert isinstance(length, int)
    return length


def check_length(length: int) -> None:
    """Refuse what no element can have.

    Raises
    ------
    ValueError
        If it is not 1 to 2**31 - 1.
    """
    if not 1 <= length <= LARGEST:
        raise ValueError(f"an element has 1 to {LARGEST} bytes, not {length}")
