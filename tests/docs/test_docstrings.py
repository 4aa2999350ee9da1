"""The examples in docstrings have the documented output."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    ".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
    for source in (ROOT / "packages").glob("*/src")
    for file in source.rglob("*.py")
    if ">>> " in file.read_text()
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.attempted
    assert not results.failed
