"""Check that the files of a release agree: versions, changelog, citation, golden stores.

``python scripts/check_release.py [TAG]``; ``make release-check`` runs this first. Each problem is
printed on one line; the exit status is then 1.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def problems(root: Path, tag: str = "") -> list[str]:
    """Find everything that prevents a release.

    Parameters
    ----------
    root
        The root of the repository.
    tag
        The tag of the release, such as ``v0.1.0``; the empty string skips its check.
    """
    found = []
    projects = {
        file.relative_to(root).as_posix(): tomllib.loads(file.read_text("utf-8"))["project"]
        for file in sorted(root.glob("packages/*/pyproject.toml"))
    }
    version = projects["packages/zarr-core/pyproject.toml"]["version"]
    for name, project in projects.items():
        if project["version"] != version:
            found.append(f"{name}: version is {project['version']}, not {version}")
    if tag and tag != f"v{version}":
        found.append(f"the tag is {tag}, not v{version}")
    heading = re.compile(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", re.MULTILINE)
    if not heading.search((root / "CHANGELOG.md").read_text("utf-8")):
        found.append(f"CHANGELOG.md: has no heading '## [{version}] - YYYY-MM-DD'")
    if f"\nversion: {version}\n" not in (root / "CITATION.cff").read_text("utf-8"):
        found.append(f"CITATION.cff: version is not {version}")
    golden = f"tests/fixtures/golden/zarr-core-{version.rpartition('.')[0]}"
    if not any((root / golden).glob("*.zip")):
        found.append(f"{golden}: contains no stores; run tests/fixtures/writers/golden.py")
    return found


def main(arguments: list[str]) -> int:
    """Print the problems; return the exit status."""
    found = problems(ROOT, *arguments[:1])
    for problem in found:
        print(problem, file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
