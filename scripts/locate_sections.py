"""Write the places of sections into the clause files: the file and line in a pinned commit.

    python scripts/locate_sections.py zarr-specs.git zarr-extensions.git

takes two clones, reads the commits that the clause files name, and writes their tables
``[sections]``. Change ``commit`` in a clause file after comparing its clauses with the new text.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLAUSES = ROOT / "packages" / "zarr-conformance" / "src" / "zarr_conformance" / "clauses"
DRAFT = {
    "Datetime data types": "docs/extensions/data-types/datetime/v1.0.rst",
    "String data types": "docs/extensions/data-types/string/v1.0.rst",
    "Struct data types": "docs/extensions/data-types/struct/v1.0.rst",
    "Sharding storage transformer": "docs/extensions/storage-transformers/sharding/v1.0.rst",
    "Endian codec": "docs/codecs/endian/v1.0.rst",
    "Blosc codec": "docs/codecs/blosc/v1.0.rst",
    "Gzip codec": "docs/codecs/gzip/v1.0.rst",
    "File system store": "docs/stores/filesystem/v1.0.rst",
}
CHUNKS = {
    "Default chunk key encoding": "docs/v3/chunk-key-encodings/default/index.rst",
    "v2 chunk key encoding": "docs/v3/chunk-key-encodings/v2/index.rst",
    "Regular grid": "docs/v3/chunk-grids/regular-grid/index.rst",
}
FILES = {
    "v1": "docs/v1/v1.0.rst",
    "v3-stores": "docs/v3/stores/filesystem/index.rst",
    "v2": "docs/v2/v2.0.rst",
    "v3-core": "docs/v3/core/index.rst",
    "v3-data-types": "docs/v3/data-types/index.rst",
}
FOLDERS = {
    "ext-codecs": "codecs",
    "ext-data-types": "data-types",
    "ext-grids": "chunk-grids",
    "ext-key-encodings": "chunk-key-encodings",
}


def path_of(name: str, section: str) -> str:
    """Return the file of a section in its repository."""
    first = section.split(", ")[0]
    if name == "v3-draft":
        return DRAFT.get(section, "docs/core/v3.0.rst")
    if name == "v3-chunks":
        return CHUNKS[section]
    if name == "v3-codecs":
        return f"docs/v3/codecs/{first.replace('_', '-')}/index.rst"
    if name == "ext-grids":
        return f"chunk-grids/{'regular' if section == 'regular' else 'rectilinear'}/README.md"
    if name in FOLDERS:
        several = (
            section in ("Chunk key encodings", "bool, int8 and others") or ", bytes, " in section
        )
        return f"{FOLDERS[name]}/README.md" if several else f"{FOLDERS[name]}/{first}/README.md"
    return FILES[name]


def headings(text: str) -> list[tuple[int, str]]:
    """Return the lines and titles of the headings of a Markdown or reStructuredText file."""
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines, 1):
        after = lines[number] if number < len(lines) else ""
        markdown = re.match(r"#+ (.*)", line)
        if markdown:
            found.append((number, plain(markdown[1])))
        elif line.strip() and re.fullmatch(r"([=\-~^\"'*+])\1{2,}", after.strip()):
            found.append((number, plain(line)))
    return found


def plain(title: str) -> str:
    """Return a title without markup."""
    return re.sub(r"[`*:]", "", title).strip().lower()


def line_of(text: str, section: str) -> int:
    """Return the line of the heading of a section, or of the closest part that has one."""
    found = headings(text)
    parts = [plain(it) for it in (*section.split(", "), section)]
    for wanted in reversed(parts):
        lines = [line for line, title in found if title == wanted]
        if not lines and len(parts) == 2:  # a section without subsection, and itself
            lines = [line for line, title in found if title.startswith(f"{wanted} ")]
        if lines:
            parent = min((line for line, title in found if title == parts[0]), default=0)
            return next((line for line in lines if line >= parent), lines[0])
    return found[0][0] if found else 1


def main(repositories: list[str]) -> int:
    """Write the tables."""
    if len(repositories) != 2:
        raise SystemExit(__doc__)
    clones = {Path(it).resolve().parent.name + Path(it).name: it for it in repositories}

    @cache
    def read(repository: str, commit: str, path: str) -> str:
        name = repository.rpartition("/")[2]
        clone = next(it for key, it in clones.items() if name in key)
        command = ["git", "-C", clone, "show", f"{commit}:{path}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    for file in sorted(CLAUSES.glob("*.toml")):
        content = tomllib.loads(file.read_text("utf-8"))
        places = {}
        for section in dict.fromkeys(it["section"] for it in content["clause"]):
            path = path_of(file.stem, section)
            text = read(content["repository"], content["commit"], path)
            places[section] = f"{path}#L{line_of(text, section)}"
        table = "\n".join(f'"{section}" = "{place}"' for section, place in places.items())
        head, _, clauses = file.read_text("utf-8").partition("[[clause]]")
        before, mark, comment = head.partition("[sections]\n")
        comment = comment.partition("\n\n")[2] if mark else ""
        rest = f"{comment}[[clause]]{clauses}"
        file.write_text(f"{before.rstrip()}\n\n[sections]\n{table}\n\n{rest}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
