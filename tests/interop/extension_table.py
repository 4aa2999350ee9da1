"""The table of extensions and libraries, which the tests check; the page is generated from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).parent / "extensions.txt"
BEYOND = {
    ("data_type", "structured"): "written by zarr-python 3.0 and 3.1; only read",
    ("data_type", "v2.object"): "version 2",
    ("data_type", "v2.subarray"): "version 2",
    ("codec", "numcodecs.categorize"): "version 2: encodes objects",
    ("codec", "numcodecs.json2"): "version 2: encodes objects",
    ("codec", "numcodecs.msgpack2"): "version 2: encodes objects",
    ("codec", "numcodecs.vlen-array"): "version 2: encodes objects",
    ("codec", "v2.filters"): "version 2",
    ("codec", "n5.block"): "N5",
    ("codec", "n5.lz4"): "N5",
    ("chunk_key_encoding", "n5"): "N5",
    ("chunk_key_encoding", "v3_draft"): "the drafts of version 3",
}
"""What no new array of version 3 has; where it is from."""

PEERS = ("zarr", "zarrs", "zarrista", "tensorstore")
_CELL = re.compile(r"(?P<now>[^[]+?)(?: \[before (?P<release>[\d.]+): (?P<before>[^]]+)\])?")


@dataclass(frozen=True, slots=True)
class Cell:
    """The support of an extension by another library.

    Parameters
    ----------
    now : str
        Support by the newest release.
    release : tuple of int
        The first release of zarr-python with this support; empty for all releases.
    before : str
        Support by earlier releases.
    """

    now: str
    release: tuple[int, ...] = ()
    before: str = ""

    def of(self, release: tuple[int, ...]) -> str:
        """Return the support by a release of zarr-python."""
        return self.before if self.release and release < self.release else self.now


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table."""

    kind: str
    name: str
    cells: dict[str, Cell]
    why: str

    def __str__(self) -> str:
        return f"{self.kind}-{self.name}"


def rows() -> list[Row]:
    """Read the table."""
    found = []
    for line in TABLE.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        kind, name, *cells, why = (part.strip() for part in line.split("|"))
        found.append(Row(kind, name, dict(zip(PEERS, map(_cell, cells), strict=True)), why))
    return found


def _cell(text: str) -> Cell:
    match = _CELL.fullmatch(text)
    assert match, f"{text!r} is no cell"
    release = tuple(map(int, (match["release"] or "").split("."))) if match["release"] else ()
    return Cell(match["now"], release, match["before"] or "")
