"""Tables that can be read with the style of the page as without."""

from __future__ import annotations

from zarr_core.display.markup import tag

# Notebooks stripe tables, centre them, set their letters on the right: said in each
# element, as sheets of style are taken away where a notebook is not trusted.
_TABLE = "border-collapse:collapse;margin:0;border:0;width:auto;font-size:inherit"
_SCROLLED = "overflow-x:auto;max-width:100%;min-width:0"
_ROW = "background:transparent;border:0"
_CELL = "text-align:left;vertical-align:top;padding:2px 14px 2px 0;border:0;white-space:normal"
_NAME = f"{_CELL};font-weight:600;white-space:nowrap"

MUTED = "opacity:.75"
"""What is less important; still read with ease on white and on black."""

CODE = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.95em;background:none;padding:0;color:inherit"


def table(*rows: str) -> str:
    """A table of rows that :func:`row` makes; one that is too wide is scrolled by itself."""
    return tag("div", tag("table", tag("tbody", *rows), style=_TABLE), style=_SCROLLED)


def row(name: str, *cells: str, span: int = 1) -> str:
    """A row.

    Parameters
    ----------
    name : str
        What stands in front; HTML, as the cells.
    *cells : str
        The others.
    span : int
        How many columns the last of them takes.
    """
    *most, last = cells
    parts = [tag("td", it, style=_CELL) for it in most]
    parts.append(tag("td", last, style=_CELL, colspan=span if span > 1 else None))
    return tag("tr", tag("th", name, scope="row", style=_NAME), *parts, style=_ROW)


def heading(*cells: str) -> str:
    """A row of names of columns, the first of which is that of the names."""
    style = f"{_NAME};{MUTED}"
    names = (tag("th", it, scope="col" if it else None, style=style) for it in cells)
    return tag("tr", *names, style=_ROW)


def folded(summary: str, content: str, is_open: bool = False) -> str:
    """What is shown once it is clicked on."""
    line = tag("summary", summary, style="cursor:pointer")
    return tag("details", line, content, open="" if is_open else None, style="margin:2px 0")
