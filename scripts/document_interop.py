"""Write the page about who reads what, from the table that is tested.

The table is ``tests/interop/extensions.txt``; every cell of it is a test.

Run it without arguments to write the page, with ``--check`` to learn whether it is in step.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "interop"))
TABLE: Any = import_module("extension_table")

PAGE = ROOT / "docs" / "interoperability.md"
TITLES = {
    "data_type": "Data types",
    "codec": "Codecs",
    "chunk_grid": "Chunk grids",
    "chunk_key_encoding": "Chunk key encodings",
}
COLUMNS = {
    "zarr": "zarr-python",
    "zarrs": "zarr-python with zarrs",
    "zarrista": "zarrs",
    "tensorstore": "TensorStore",
}

INTRODUCTION = """\
# Who reads what

<!-- Made by scripts/document_interop.py from tests/interop/extensions.txt; do not edit by hand. -->

Everything of version 3 that this project knows, with every other library that can be installed
beside it. Each cell is a test with arrays of several forms (both byte orders, shards, chunks that
are not stored, several configurations), in both directions.

**yes** means: the library reads what is written here, and here is read what it writes, the same to
the bit; both store the same bytes, where they are not left to the writer as in compression; and
after it has written the document again, it means the same. **-** means that it does not know the
name. Whatever else happens is said, with the reason below.

The versions are the newest that there are for each Python; what older releases of zarr-python do,
which Python 3.11 still has, stands in brackets. "zarr-python with zarrs" is zarr-python with the
codec pipeline of zarrs, "zarrs" its own Python package, zarrista.

All data types, chunkings, shards, chains of the core specification's codecs are tried with one
another in a matrix of their own, `tests/interop/test_matrix.py`; versions 1 and 2, the drafts and
N5 with the libraries that wrote them: [formats](formats.md).
"""


def page() -> str:
    """Put the whole page together."""
    table = TABLE.rows()
    reasons = list(dict.fromkeys(row.why for row in table if row.why))
    text = [INTRODUCTION]
    for kind, title in TITLES.items():
        text += [f"## {title}", ""]
        text += _table(
            ["", *COLUMNS.values(), ""],
            [_line(row, reasons) for row in table if row.kind == kind],
        )
        text.append("")
    text += [f"{number}. {reason}." for number, reason in enumerate(reasons, 1)]
    text += [
        "",
        "## Not in new arrays of version 3",
        "",
        "These are read, and written where the format has them.",
        "",
        *_table(["", "of"], [[f"`{name}`", origin] for (_, name), origin in TABLE.BEYOND.items()]),
        "",
    ]
    return "\n".join(text)


def _line(row: Any, reasons: list[str]) -> list[str]:
    note = f"({reasons.index(row.why) + 1})" if row.why else ""
    return [f"`{row.name}`", *(_shown(row.cells[peer]) for peer in COLUMNS), note]


def _shown(cell: Any) -> str:
    now, before = ("-" if word == "no" else word for word in (cell.now, cell.before))
    if not cell.release:
        return now
    return f"{now} [before {'.'.join(map(str, cell.release))}: {before}]"


def _table(head: list[str], body: list[list[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *body]
    return ["| " + " | ".join(line) + " |" for line in lines]


def main() -> int:
    """Write or check, as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if not in step")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        print(f"{PAGE.relative_to(ROOT)} is not what the table says.")
        print("Run: python scripts/document_interop.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
