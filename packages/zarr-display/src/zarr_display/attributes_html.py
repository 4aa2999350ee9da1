"""The HTML representation of attributes."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from zarr_core.extension import strictjson
from zarr_core.messages import pluralize

from zarr_display.html import CODE, folded, row, table, tag, text

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 50  # attributes
_SHORT, _LONG = 90, 3000  # characters of a value: folded, unfolded


def attributes_html(attributes: Mapping[str, Any]) -> str:
    """Return a table of names and values; long values are folded, long tables truncated."""
    if not attributes:
        return tag("div", "no attributes")
    rows = [
        row(text(name, _SHORT), _value(value)) for name, value in islice(attributes.items(), _MOST)
    ]
    if len(attributes) > _MOST:
        rows.append(row("…", f"{len(attributes) - _MOST} more"))
    return table(*rows)


def folded_attributes(attributes: Mapping[str, Any]) -> str:
    """Return the folded table of attributes; empty if there are none."""
    if not attributes:
        return ""
    plain = {name: strictjson.plain_floats(value) for name, value in attributes.items()}
    return folded(pluralize(len(plain), "attribute"), attributes_html(plain))


def _value(value: Any) -> str:
    if isinstance(value, str):
        line = whole = value
    else:
        line = json.dumps(value, ensure_ascii=False)
        whole = json.dumps(value, ensure_ascii=False, indent=2)
    if len(line) <= _SHORT:
        return text(line)
    style = f"{CODE};white-space:pre-wrap;margin:0"
    lines = "\n".join(text(splitline, _LONG) for splitline in whole[:_LONG].splitlines())
    more = "\n…" if len(whole) > _LONG else ""
    return folded(text(line, _SHORT), tag("pre", lines, more, style=style))
