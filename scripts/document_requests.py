"""Write the table of requests in ``docs/clouds.md``: what operations cost in each kind of store.

``python scripts/document_requests.py`` measures them with the servers of the tests, behind a proxy
that counts; a test checks that the table is current.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import request_counts  # type: ignore[import-not-found]  # noqa: E402 - beside the tests

if TYPE_CHECKING:
    from request_counts import Counts

PAGE = ROOT / "docs" / "clouds.md"
BEGIN, END = "<!-- requests -->\n", "<!-- end of requests -->\n"


def table(found: dict[str, dict[str, Counts]]) -> str:
    """Return the table of counts by store and operation."""
    lines = [f"| | {' | '.join(found)} |", f"|---|{'---|' * len(found)}"]
    for operation in request_counts.OPERATIONS:
        cells = [str(counts.get(operation, "-")) for counts in found.values()]
        lines.append(f"| {operation} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def documented() -> dict[str, dict[str, str]]:
    """Return the cells of the documented table by store and operation."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    head, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line
    ]
    return {
        store: {row[0]: row[column] for row in rows} for column, store in enumerate(head) if store
    }


def main() -> None:
    """Measure all stores, and write the table."""
    silence = request_counts.SILENCES[-1]
    found = {name: request_counts.measure(name, silence) for name in request_counts.STORES}
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{table(found)}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
