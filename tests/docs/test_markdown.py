"""What the documents tell a reader to type is run, and its output compared.

Python blocks of one document run in order, in an empty directory.  Blocks with ``>>>``
are doctests, others are run.  A block below ``<!-- from PATH -->`` shows a file of the
repository, or lines of it, word for word.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from zarr_core.registry import discovery
from zarr_python_state import forget_offers

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("packages/*/README.md")),
    *sorted(ROOT.glob("examples/*/README.md")),
]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^<!-- from (\S+) -->\n+```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def each_document(found):
    return pytest.mark.parametrize(
        "document", found, ids=lambda document: str(document.relative_to(ROOT))
    )


def snippets(text):
    """Python blocks with the line before each; those that show a file are left out."""
    shown = {match.start(2) for match in SHOWN.finditer(text)}
    for match in BLOCK.finditer(text):
        if match[1] == "python" and match.start(2) not in shown:
            yield text.count("\n", 0, match.start(2)), match[2]


@pytest.fixture(scope="module")
def installed_examples(tmp_path_factory):
    target = tmp_path_factory.mktemp("examples")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(target)]
    shown = [str(ROOT / "examples" / name) for name in ("acme-delta2", "acme-xor")]
    subprocess.run([*pip, *options, *shown], check=True)
    return target


@pytest.fixture
def reader(installed_examples, tmp_path, monkeypatch):
    """A reader's place: an empty directory, with the example distribution installed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(installed_examples))
    discovery.refresh()
    yield
    monkeypatch.undo()
    discovery.refresh()
    forget_offers()  # and what else a document may have changed in zarr-python


@each_document([file for file in DOCUMENTS if list(snippets(file.read_text()))])
def test_snippets_run(document, reader):
    names = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    report = []
    for line, code in snippets(document.read_text()):
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(
                code, names, document.name, str(document), line
            )
            runner.run(test, out=report.append, clear_globs=False)
            names = test.globs
        else:
            exec(compile("\n" * line + code, str(document), "exec"), names)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


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
