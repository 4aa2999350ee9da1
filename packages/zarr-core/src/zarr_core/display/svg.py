"""The frame of a picture, which takes its colour for lines from the page around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.display.markup import number, tag, text

if TYPE_CHECKING:
    from collections.abc import Sequence

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"

# In a page, lines and letters have the colour of its letters.  A file has no page.
_ALONE = (
    "<style>.zarr-picture{color:#1f2328}"
    "@media (prefers-color-scheme:dark){.zarr-picture{color:#e6edf3}}</style>"
)


def svg(size: Sequence[float], *content: str, said: str, alone: bool = False) -> str:
    """A picture.

    Parameters
    ----------
    size : (float, float)
        Width and height in pixels.
    *content : str
        Elements.
    said : str
        What there is to see, for those who do not see it.
    alone : bool
        Whether it is a file of its own.
    """
    width, height = map(number, size)
    own = {"xmlns": "http://www.w3.org/2000/svg", "class_": "zarr-picture"} if alone else {}
    return tag(
        "svg", _ALONE if alone else "", *content,
        width=width, height=height, viewBox=f"0 0 {width} {height}", role="img", aria_label=said,
        font_family=_FONT, font_size=11, fill="currentColor", style="max-width:100%", **own,
    )  # fmt: skip


def label(
    x: float,
    y: float,
    said: str,
    *,
    anchor: str | None = None,
    strong: bool = False,
    turned: bool = False,
) -> str:
    """A line of text; ``turned`` for one that is read from below."""
    place = {"x": number(x), "y": number(y)}
    turn = f"rotate(-90,{number(x)},{number(y)})" if turned else None
    weight = 600 if strong else None
    return tag("text", text(said), **place, text_anchor=anchor, font_weight=weight, transform=turn)
