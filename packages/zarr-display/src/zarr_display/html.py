"""HTML and SVG elements and tables; text from stores is always escaped."""

from __future__ import annotations

from html import escape

from zarr_core.extension import escape_controls

MOST_TEXT = 200  # maximum number of characters of a name or value

# Overrides the table styles of notebooks.  Styles are inline, because style sheets are
# removed from notebooks that are not trusted.
_TABLE = "border-collapse:collapse;margin:0;border:0;width:auto;font-size:inherit"
_SCROLLED = "overflow-x:auto;max-width:100%;min-width:0"
_ROW = "background:transparent;border:0"
_CELL = "text-align:left;vertical-align:top;padding:2px 14px 2px 0;border:0;white-space:normal"
_NAME = f"{_CELL};font-weight:600;white-space:nowrap"

MUTED = "opacity:.75"
"""Less important text; readable on white and on black."""

CODE = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.95em;background:none;padding:0;color:inherit"


def text(value: object, most: int = MOST_TEXT) -> str:
    """Return a value as HTML text, truncated, with control characters escaped as in messages."""
    shown = str(value)
    if len(shown) > most:
        shown = f"{shown[:most]}…"
    return escape(escape_controls(shown))


def tag(name: str, *content: str, **attributes: object) -> str:
    """Return an element with HTML content; attributes are escaped.

    In the names of attributes, a trailing underscore is removed, others become dashes.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(escape_controls(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{''.join(content)}</{name}>"


def number(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def table(*rows: str) -> str:
    """Return a table of rows; tables that are too wide can be scrolled."""
    return tag("div", tag("table", tag("tbody", *rows), style=_TABLE), style=_SCROLLED)


def row(name: str, *cells: str, span: int = 1) -> str:
    """Return a table row of HTML cells; the last one spans ``span`` columns."""
    *most, last = cells
    parts = [tag("td", item, style=_CELL) for item in most]
    parts.append(tag("td", last, style=_CELL, colspan=span if span > 1 else None))
    return tag("tr", tag("th", name, scope="row", style=_NAME), *parts, style=_ROW)


def heading(*cells: str) -> str:
    """Return a row of column headers; the first is that of the row headers."""
    style = f"{_NAME};{MUTED}"
    names = (tag("th", cell, scope="col" if cell else None, style=style) for cell in cells)
    return tag("tr", *names, style=_ROW)


def folded(summary: str, content: str, is_open: bool = False) -> str:
    """Return content that is shown when the summary is clicked."""
    line = tag("summary", summary, style="cursor:pointer")
    return tag("details", line, content, open="" if is_open else None, style="margin:2px 0")
