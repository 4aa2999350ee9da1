"""Rows of TOML files become cases, as writing-a-case.md of zarr-conformance describes."""

import re
import tomllib
from pathlib import Path

import pytest
from zarr_conformance.corpus import case_tables
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Either, Node

PAGE = Path(__file__).parents[2] / "packages" / "zarr-conformance" / "writing-a-case.md"


@pytest.fixture
def cases(monkeypatch):
    """A function that returns the cases of a file; members that all cases need may be omitted."""
    constants = case_tables._read("constants")

    def read(text, **arguments):
        plain = 'id = "spec/topic/name"\nclauses = ["spec.a"]\nsummary = "It is."\n'
        plain += "" if re.search("expect|values", text) else "expect.accept = {}\n"
        file = tomllib.loads(text.replace("[[case]]\n", f"[[case]]\n{plain}"))
        monkeypatch.setattr(
            case_tables, "_read", lambda topic: constants if topic == "constants" else file
        )
        return list(case_tables.table_cases("topic", **arguments))

    return read


@pytest.fixture(scope="module")
def corpus():
    return {case.id: case for case in all_cases()}


def test_examples_of_the_page(corpus, cases):
    examples = [
        case
        for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.S)
        for case in cases(text)
    ]
    assert [case.id for case in examples if corpus.get(case.id) == case] == [
        "v3-core/array/dimension-names",
        "v3-core/array/shape-number",
    ]
    assert examples[-1].summary == "fill_value of array metadata cannot be null."
    assert examples[-1].expect == Either(Node("array"))


@pytest.mark.parametrize(
    "members",
    [
        'array = "$nothing"',
        "nothing = 1",
        "store.a = { nothing = 1 }",
        "expect.nothing = {}",
        "expect.accept.nothing = 1",
        'expect.accept.values = "$values"',
        'columns = ["a"]\nrows = [[1]]\npath = "{b}"',
    ],
)
def test_invalid_rows_raise(cases, members):
    with pytest.raises(
        ValueError, match=r"topic\.toml: spec/topic/name: .*(nothing|'b'|no values)"
    ):
        cases(f"[[case]]\n{members}\n")
