"""A short display: one line of HTML."""

from __future__ import annotations

from html import escape
from typing import Any

from zarr_core.extension import Display, escape_controls


class Brief(Display):
    """An object of this class is created for each display."""

    def html(self, shown: Any) -> str:
        # Names and attributes are not trusted: both kinds of escapes are needed.
        line = escape_controls(" ".join(repr(shown).split()))
        return f"<code>{escape(line[:200])}</code>"
