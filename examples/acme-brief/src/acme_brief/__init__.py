"""A short display: one line of HTML, and the share of chunks that are stored."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import Display
from zarr_core.tools import escape_controls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.text import Text
    from zarr_core.tools import StoredArray


@dataclass(frozen=True)
class StoredShare:
    """How many chunks (or shards) of an array are stored."""

    stored: int
    total: int

    def __repr__(self) -> str:
        return f"{self.stored} of {self.total} stored"


class Brief(Display):
    """An object of this class is created for each display."""

    def html(self, shown: Any) -> str:
        # Names and attributes are not trusted: both kinds of escapes are needed.
        line = escape_controls(" ".join(repr(shown).split()))
        return f"<code>{escape(line[:200])}</code>"

    def rich(self, shown: Any) -> Text:
        from rich.text import Text

        return Text(repr(shown), style="bold")

    def chunk_map(
        self,
        array: StoredArray,
        dims: Sequence[int | str] | None,
        at: Mapping[int | str, int] | None,
        *,
        sizes: bool,
        inner: bool,
        cells: int,
        most: int,
    ) -> StoredShare:
        total = prod(axis.count for axis in array.axes)
        return StoredShare(sum(1 for _ in array.stored_chunks()), total)
