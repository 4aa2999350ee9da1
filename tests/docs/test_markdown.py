"""Runs the examples of the documentation, and compares their output.

Python blocks of one document run in order, in an empty directory.  Blocks with ``>>>``
are doctests, others are run.  A block below ``<!-- from PATH -->`` shows a file of the
repository, or lines of it, word for word.
"""

import os
import re
from pathlib import Path

import pytest
from built_once import built_once
from example_distributions import install_examples
from markdown_pages import BLOCK, DOCUMENTS, ROOT, SHOWN, has_snippets, run_snippets
from waits import no_garbage_collection
from zarr_core.registry import discovery
from zarr_python_state import forget_offers

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def each_document(files):
    return pytest.mark.parametrize("document", files, ids=lambda file: str(file.relative_to(ROOT)))


@pytest.fixture(scope="module")
def installed_examples(tmp_path_factory):
    shown = ("acme-delta2", "acme-invert", "acme-rotate", "acme-xor")
    folder = built_once(
        tmp_path_factory, "documented-examples", lambda folder: install_examples(folder, *shown)
    )
    return folder / "site"


@pytest.fixture
def reader(installed_examples, tmp_path, monkeypatch):
    """An empty directory, with the example distribution installed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(installed_examples))
    discovery.refresh()
    yield
    monkeypatch.undo()
    discovery.refresh()
    forget_offers()  # and other changes of zarr-python by a page


@each_document([file for file in DOCUMENTS if has_snippets(file)])
def test_snippets_run(document, reader):
    with no_garbage_collection():
        failures = run_snippets(document)
    assert not failures, failures


@each_document(DOCUMENTS)
def test_files_are_shown_as_they_are(document):
    for place, code in SHOWN.findall(document.read_text()):
        assert code in (ROOT / place).read_text(), f"{place} reads differently"


@each_document(DOCUMENTS)
def test_links_lead_somewhere(document):
    for target in LINK.findall(BLOCK.sub("", document.read_text())):
        if "://" not in target and not target.startswith("#"):
            path = os.path.normpath(document.parent / target.partition("#")[0])
            assert Path(path).exists(), target


def test_the_readme_begins_with_the_two_commands():
    first = BLOCK.search((ROOT / "README.md").read_text())
    assert [line.split("#")[0].strip() for line in first[2].splitlines()] == [
        "make demo",
        "make test",
    ]
    assert first.start() < 600
