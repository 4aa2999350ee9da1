"""Attributes as a table of HTML."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from zarr_core.display.html_table import CODE, folded, row, table
from zarr_core.display.markup import tag, text

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 50  # attributes that are shown
_SHORT, _LONG = 90, 3000  # characters of a value, in the table as well as unfolded


def attributes_html(attributes: Mapping[str, Any]) -> str:
    """A table of names and values; long values are folded, long tables cut."""
    if not attributes:
        return tag("div", "no attributes")
    rows = [
        row(text(name, _SHORT), _value(value)) for name, value in islice(attributes.items(), _MOST)
    ]
    if len(attributes) > _MOST:
        rows.append(row("…", f"{len(attributes) - _MOST} more"))
    return table(*rows)


def _value(value: Any) -> str:
    if isinstance(value, str):
        said = whole = value
    else:
        said = json.dumps(value, ensure_ascii=False)
        whole = json.dumps(value, ensure_ascii=False, indent=2)
    if len(said) <= _SHORT:
        return text(said)
    style = f"{CODE};white-space:pre-wrap;margin:0"
    lines = "\n".join(text(line, _LONG) for line in whole[:_LONG].splitlines())
    more = "\n…" if len(whole) > _LONG else ""
    return folded(text(said, _SHORT), tag("pre", lines, more, style=style))
