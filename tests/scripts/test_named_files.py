"""Files that tests, scripts, the Makefile and the workflows name exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Schemas are generated, and several packages have a folder of this name.
FOLDERS = {
    folder.name: base
    for base in (ROOT / "tests", ROOT)
    for folder in base.iterdir()
    if folder.is_dir() and folder.name not in ("schemas", "build", "dist", "__pycache__")
}
"""A folder -> where it is; those of the root come last, and are preferred."""
NAME = re.compile(
    rf"(?<![\w./{{}}*$-])({'|'.join(map(re.escape, FOLDERS))})/[\w./-]*\w\.(?:py|c|md|toml|json|txt|yml)\b"
)
OTHERS = ("scripts/downstream.py",)
"""These name files of other projects."""


def named(text):
    return [(match[0], match[1]) for match in NAME.finditer(text)]


def test_names_of_files_are_recognized():
    text = (
        'make pytest PYTEST=\'tests/zarr-core/test_a.py\' ("zarr-core/test_b.py", "x/scripts/c.py")'
    )
    assert [name for name, _ in named(text)] == ["tests/zarr-core/test_a.py", "zarr-core/test_b.py"]


def test_named_files_exist():
    files = [ROOT / name for name in ("Makefile", ".ci/run", "CONTRIBUTING.md", "pyproject.toml")]
    files += [*(ROOT / ".github").rglob("*.yml"), *(ROOT / "scripts").glob("*.*")]
    files += [file for file in (ROOT / "tests").rglob("*.py") if file != Path(__file__)]
    missing = {
        (str(file.relative_to(ROOT)), name)
        for file in files
        if str(file.relative_to(ROOT)) not in OTHERS
        for name, folder in named(file.read_text("utf-8"))
        if not any((base / name).exists() for base in (ROOT, FOLDERS[folder], file.parent))
    }
    assert not missing
