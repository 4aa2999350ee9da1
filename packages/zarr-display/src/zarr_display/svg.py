"""SVG pictures that use the text colour of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_display.html import number, tag, text

if TYPE_CHECKING:
    from collections.abc import Sequence

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"


def svg(size: Sequence[float], *content: str, description: str) -> str:
    """Return a picture, as part of a page.

    ``size`` is width and height in pixels; ``description`` the text alternative.
    """
    width, height = map(number, size)
    return tag(
        "svg", *content,
        width=width, height=height, viewBox=f"0 0 {width} {height}", role="img", aria_label=description,
        font_family=_FONT, font_size=11, fill="currentColor", style="max-width:100%",
    )  # fmt: skip


def label(x: float, y: float, content: str, *, anchor: str | None = None) -> str:
    """Return a line of text."""
    return tag("text", text(content), x=number(x), y=number(y), text_anchor=anchor)
