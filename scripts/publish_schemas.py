"""Copy the JSON Schemas of all packages to the top-level folder ``schemas``.

Every package has the schemas of its extensions next to its code, in
``src/<import name>/schemas/<extension_point>/<name>.json``.  Users of other languages find
them together in ``schemas/<extension_point>/<name>.json``.  ``schemas/examples`` and the
README there are written by hand and are kept.

Run it without arguments to publish, with ``--check`` to check that the copies are up to date.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BY_HAND = frozenset({"examples", "README.md"})


def sources(root: Path) -> dict[Path, Path]:
    """Find the schemas of all packages.

    Parameters
    ----------
    root : Path
        The workspace.

    Returns
    -------
    dict
        Path relative to ``schemas`` -> file in a package.

    Raises
    ------
    SystemExit
        If two packages describe the same extension.
    """
    found: dict[Path, Path] = {}
    for file in sorted(root.glob("packages/*/src/*/schemas/*/*.json")):
        place = file.relative_to(file.parent.parent)
        if place in found:
            raise SystemExit(f"{place} is in two packages: {found[place]} and {file}")
        found[place] = file
    return found


def differences(root: Path) -> list[str]:
    """Return messages about differences."""
    target = root / "schemas"
    found = sources(root)
    published = {
        file.relative_to(target)
        for file in target.rglob("*")
        if file.is_file() and file.relative_to(target).parts[0] not in BY_HAND
    }
    return [
        *(f"{place} is not published" for place in sorted(found.keys() - published)),
        *(f"{place} belongs to no package" for place in sorted(published - found.keys())),
        *(
            f"{place} differs from {found[place].relative_to(root)}"
            for place in sorted(published & found.keys())
            if (target / place).read_bytes() != found[place].read_bytes()
        ),
    ]


def publish(root: Path) -> None:
    """Copy the schemas of the packages to ``schemas``."""
    target = root / "schemas"
    target.mkdir(exist_ok=True)
    for entry in target.iterdir():
        if entry.is_dir() and entry.name not in BY_HAND:
            shutil.rmtree(entry)
    for place, file in sources(root).items():
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target / place)


def main() -> int:
    """Publish or check the schemas."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="fail if the folder is not up to date; do not write it"
    )
    if not parser.parse_args().check:
        publish(ROOT)
    found = differences(ROOT)
    for line in found:
        print(line)
    if found:
        print("Run: python scripts/publish_schemas.py")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
