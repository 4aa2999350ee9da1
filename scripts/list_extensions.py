"""Generate the table of the extensions of the distributions in this repository.

The file ``known_extensions.json`` of the core contains the names of extensions, the extras
of distributions, what formats declare, and what the arguments of the core select.  The core
needs them for extensions that are not installed, or not imported yet.  They are read from the entry points in
``packages/*/pyproject.toml``, the tables ``[tool.zarr-core]`` there, and the classes of formats.
``published_extensions.toml`` of zarr-compat has the extensions of distributions of others.

Run it without arguments to write the file, with ``--check`` to compare, with ``--published`` to
update ``published_extensions.toml`` from the distributions that are installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "packages/zarr-core/src/zarr_core/known_extensions.json"

PUBLISHED = ROOT / "packages/zarr-compat/src/zarr_compat/published_extensions.toml"
GROUPS = {
    "zarr.codecs": "zarr.codec",
    "zarr.data_type": "zarr.data_type",
    "zarr.chunk_key_encoding": "zarr.chunk_key_encoding",
    "numcodecs.codecs": "numcodecs.codec",
}

NAMES = [
    "core_entry_points", "extensions", "extras", "arguments", "url_chains", "file_suffixes",
    "functions", "other_objects", "detection_order", "metadata_keys", "conflicts",
    "format_extensions",
]  # fmt: skip
"""The members of the file, in this order; the module beside it describes them."""


def tables() -> dict[str, Any]:
    """Collect the content of the file."""
    found: dict[str, Any] = {name: {} for name in NAMES}
    formats = []
    for file in sorted((ROOT / "packages").glob("*/pyproject.toml")):
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        name = content["project"]["name"]
        own = content.get("tool", {}).get("zarr-core", {})
        groups = content["project"].get("entry-points", {})
        if name == "zarr-core":
            formats += groups["zarr_core.format"].values()
            found["core_entry_points"] = {
                group.removeprefix("zarr_core."): targets for group, targets in groups.items()
            }
            continue
        kinds: dict[str, set[str]] = {}
        for group, lines in groups.items():
            library, _, kind = group.partition(".")
            if library == "zarr_core" and kind != "hooks":
                kinds.setdefault(kind.partition(".")[0], set()).update(lines)
        for kind, names in own.get("other-names", {}).items():
            kinds.setdefault(kind, set()).update(names)
        if kinds:
            found["extensions"][name] = {
                kind: _without_covered(kinds[kind]) for kind in sorted(kinds)
            }
        if "extras" in own:
            found["extras"][name] = {
                extra: " ".join(sorted(names)) for extra, names in own["extras"].items()
            }
        found["arguments"] |= own.get("arguments", {})
        for function, target in own.get("functions", {}).items():
            found["functions"][function] = (name, target)
        found["format_extensions"] |= own.get("format-extensions", {})
        found["other_objects"] |= own.get("other-objects", {})
        if "locations" in own:
            found["url_chains"] = own["locations"]["url-chains"]
            found["file_suffixes"] = tuple(own["locations"]["file-suffixes"])
        formats += groups.get("zarr_core.format", {}).values()
    classes = [_load(target) for target in formats]
    classes.sort(key=lambda format_: -format_.detection_priority)
    found["detection_order"] = tuple(format_.name for format_ in classes)
    for format_ in classes:
        found["metadata_keys"][format_.name] = format_.metadata_keys
        found["conflicts"] |= dict.fromkeys(format_.conflicting_formats, format_.name)
    return found


def _without_covered(names: set[str]) -> str:
    """Return the names that no pattern matches, sorted."""
    starts = tuple(name[:-1] for name in names if name.endswith("*"))
    return " ".join(
        sorted(name for name in names if name.endswith("*") or not name.startswith(starts))
    )


def _load(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def update_published() -> None:
    """Add the extensions of installed distributions of others for zarr-python and numcodecs."""
    published: dict[str, Any] = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))
    own = {file.parent.name for file in (ROOT / "packages").glob("*/pyproject.toml")}
    for distribution in distributions():
        kinds: dict[str, set[str]] = {}
        for point in distribution.entry_points:
            if point.group in GROUPS:
                kinds.setdefault(GROUPS[point.group], set()).add(point.name)
        if kinds and distribution.name not in {*own, "zarr", "numcodecs"}:
            published[distribution.name] = {
                kind: " ".join(sorted(names)) for kind, names in sorted(kinds.items())
            }
    lines = ["# Written by scripts/list_extensions.py --published; others may be added by hand."]
    for name, kinds in sorted(published.items()):
        lines += [f"\n[{name}]", *(f'"{kind}" = "{names}"' for kind, names in kinds.items())]
    PUBLISHED.write_text("\n".join(lines) + "\n", encoding="utf-8")


def text() -> str:
    """Return the text of the file."""
    return json.dumps(tables(), indent=1) + "\n"


def main() -> int:
    """Write or check the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    parser.add_argument("--published", action="store_true", help="update the published ones")
    arguments = parser.parse_args()
    if arguments.published:
        update_published()
    elif not arguments.check:
        FILE.write_text(text(), encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != text():
        print(f"{FILE} is out of date; run scripts/list_extensions.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
