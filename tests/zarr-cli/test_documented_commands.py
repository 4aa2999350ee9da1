"""The documentation shows the actual output of commands."""

import pytest
from markdown_pages import ROOT, run_commands


@pytest.mark.parametrize("document", ["docs/command-line.md", "docs/integrity.md"])
def test_commands_print_the_documented_output(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failures = run_commands(ROOT / document)
    assert not failures, failures
