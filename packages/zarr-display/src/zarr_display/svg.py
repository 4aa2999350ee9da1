"""SVG pictures that use the text colour of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_display.html import number, tag, text

if TYPE_CHECKING:
    from collections.abc import Sequence

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"

# Lines have the text colour of the page; standalone files define it themselves.
_ALONE = (
    "<style>.zarr-picture{color:#1f2328}"
    "@media (prefers-color-scheme:dark){.zarr-picture{color:#e6edf3}}</style>"
)


def svg(size: Sequence[float], *content: str, description: str, alone: bool = False) -> str:
    """Return a picture, as part of a page or standalone.

    ``size`` is width and height in pixels; ``description`` the text alternative.
    """
    width, height = map(number, size)
    own = {"xmlns": "http://www.w3.org/2000/svg", "class_": "zarr-picture"} if alone else {}
    return tag(
        "svg", _ALONE if alone else "", *content,
        width=width, height=height, viewBox=f"0 0 {width} {height}", role="img", aria_label=description,
        font_family=_FONT, font_size=11, fill="currentColor", style="max-width:100%", **own,
    )  # fmt: skip


def label(
    x: float,
    y: float,
    content: str,
    *,
    anchor: str | None = None,
    strong: bool = False,
    vertical: bool = False,
) -> str:
    """Return a line of text; with ``vertical`` it is rotated to read upwards."""
    position = {"x": number(x), "y": number(y)}
    rotation = f"rotate(-90,{number(x)},{number(y)})" if vertical else None
    weight = 600 if strong else None
    return tag(
        "text",
        text(content),
        **position,
        text_anchor=anchor,
        font_weight=weight,
        transform=rotation,
    )
