"""Capabilities of the documents that this library follows: each has a test or a reason against it.

The documents are the documentation of zarr-python 2, the specification of version 2, the draft of
version 3 of December 2022, xarray's encoding, and TensorStore's zarr3 driver.  Clauses of the
specifications have tables of their own, and so have TensorStore's options.
"""

import ast
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from markdown_pages import BLOCK

ROOT = Path(__file__).parents[2]
ROWS = json.loads((Path(__file__).parent / "capabilities.json").read_text())


@cache
def names_of_tests(path):
    """The names of the tests in a file, also in its classes."""
    tree = ast.parse((ROOT / path).read_text())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {node.name for node in functions if node.name.startswith("test_")}


def has_examples(page, title):
    """Whether a section of a page, which other tests run, has Python code."""
    text = (ROOT / page).read_text()
    start = re.search(rf"^(#+) {re.escape(title)}$", text, re.MULTILINE)
    assert start, f"{page} has no section {title!r}"
    end = re.compile(rf"^#{{1,{len(start[1])}}} ", re.MULTILINE).search(text, start.end())
    section = text[start.end() : end.start() if end else None]
    return any(match[1] == "python" for match in BLOCK.finditer(section))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['document']}: {row['capability']}")
def test_a_capability_has_a_test_or_a_reason(row):
    assert row.keys() - {"test", "page", "not_wanted"} == {"document", "section", "capability"}
    assert len(row.keys() & {"test", "page", "not_wanted"}) == 1
    assert all(row.values())
    if "test" in row:
        path, name = row["test"].split("::")
        assert names_of_tests(path) if name == "*" else name in names_of_tests(path)
    elif "page" in row:
        assert has_examples(*row["page"].split("#"))
    else:
        assert row["not_wanted"].endswith(".")


def test_every_capability_has_one_row():
    counted = Counter((row["document"], row["capability"]) for row in ROWS)
    common = [("every clause"), ("the text is complete")]
    assert not [key for key, count in counted.items() if count > 1 and key[1] not in common]
    assert len({row["document"] for row in ROWS}) == 5
