"""What is shown in terminals by the library rich, which is imported only if it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from zarr_core.display.colours import SCALE, WARNING
from zarr_core.display.map_text import BARS, FAILS, text

if TYPE_CHECKING:
    from zarr_core.display.chunk_map import ChunkMap


def of_map(found: ChunkMap) -> Text:
    """The map in colours."""
    shown = Text(no_wrap=True)
    for sign in text(found):
        if sign in BARS:
            shown.append(sign, style=SCALE[BARS.index(sign) + 1])
        else:
            shown.append(sign, style=WARNING if sign == FAILS else "")
    return shown
