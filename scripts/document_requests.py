"""Write the tables of requests in ``docs/clouds.md``: what operations cost in each kind of store.

``python scripts/document_requests.py`` measures them with the servers of the tests, behind a proxy
that counts; a test checks that the tables are current.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import request_counts  # type: ignore[import-not-found]  # noqa: E402 - beside the tests

if TYPE_CHECKING:
    from collections.abc import Callable

    from request_counts import Counts

PAGE = ROOT / "docs" / "clouds.md"
BEGIN, END = "<!-- requests -->\n", "<!-- end of requests -->\n"
QUANTITIES: dict[str, Callable[[Counts], int]] = {
    "requests": lambda counts: counts.requests,
    "round trips": lambda counts: counts.trips,
    "kB": lambda counts: round(counts.nbytes / 1000),
}


def tables(found: dict[str, dict[str, Counts]]) -> str:
    """Return a table for each quantity, of counts by store and operation."""
    parts = []
    for title, quantity in QUANTITIES.items():
        lines = [f"| {title} | {' | '.join(found)} |", f"|---|{'---:|' * len(found)}"]
        for operation in request_counts.OPERATIONS:
            cells = [
                f"{quantity(counts[operation]):,}" if operation in counts else "-"
                for counts in found.values()
            ]
            lines.append(f"| {operation} | {' | '.join(cells)} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def documented() -> dict[str, dict[str, list[int]]]:
    """Return the documented numbers by store and operation, in the order of the tables."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    numbers: dict[str, dict[str, list[int]]] = {}
    for part in text.strip().split("\n\n"):
        (_, *stores), _, *rows = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in part.split("\n")
        ]
        for operation, *cells in rows:
            for store, cell in zip(stores, cells, strict=True):
                if cell != "-":
                    known = numbers.setdefault(store, {}).setdefault(operation, [])
                    known.append(int(cell.replace(",", "")))
    return numbers


def main() -> None:
    """Measure all stores, and write the tables."""
    silence = request_counts.SILENCES[-1]
    found = {name: request_counts.measure(name, silence) for name in request_counts.STORES}
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{tables(found)}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
