"""Base class of stores that wrap another store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import WrapperStore

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

    # Defined here, because ``list`` is a method within the classes.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]

__all__ = ["WrapperStore"]
