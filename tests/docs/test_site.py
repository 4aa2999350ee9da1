"""The documentation is built without warnings, with every page."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ENTRY = re.compile(r"^   ([A-Za-z_]\w*)$", re.M)
MODULE = re.compile(r"currentmodule:: ([\w.]+)")


@pytest.mark.parametrize("page", sorted((DOCS / "reference").glob("*.md")), ids=lambda it: it.stem)
def test_the_reference_lists_existing_names(page):
    _, *parts = MODULE.split(page.read_text())
    for module, text in zip(parts[::2], parts[1::2], strict=True):
        found = import_module(module)
        assert not [name for name in ENTRY.findall(text) if not hasattr(found, name)], module


@pytest.mark.slow
def test_the_site_has_every_page(tmp_path):
    pytest.importorskip("myst_parser")
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", tmp_path / "trees",
         DOCS, tmp_path / "site"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    pages = {file.relative_to(DOCS).with_suffix(".html") for file in DOCS.rglob("*.md")}
    there = {file.relative_to(tmp_path / "site") for file in (tmp_path / "site").rglob("*.html")}
    assert pages <= there
    quick = (tmp_path / "site" / "quick-start.html").read_text()
    assert "create_group" in quick
    reference = (tmp_path / "site" / "reference" / "zarr_core.html").read_text()
    assert "made/zarr_core.create_array.html" in reference
