"""Types of the results of stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

    # Not in the modules that use them, because ``list`` is a method within their classes.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]
