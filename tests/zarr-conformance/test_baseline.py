"""Baselines of known failures."""

from dataclasses import replace

import pytest
from zarr_conformance.baseline import BaselineError, compare, read_baseline, write_baseline
from zarr_conformance.report.results import ImplementationResults, Result

RUN = ImplementationResults(
    "impl", "impl", "1", (3,), ("open",), (), 1.0,
    (Result("a", "pass"), Result("b", "fail", "wrong"), Result("c", "crash", "died\nso"),
     Result("d", "unsupported", "no")),
)  # fmt: skip
CORPUS = {"a", "b", "c", "d", "e"}


def test_unknown_failures_are_new():
    compared = compare(RUN, {"impl": {"b": "it is hard"}, "other": {"c": "theirs"}}, CORPUS)
    assert compared.new == ("c",)
    assert compared.repaired == ()
    assert [it.known for it in compared.run.results] == ["", "it is hard", "", ""]


def test_cases_that_no_longer_fail_are_repaired():
    known = dict.fromkeys(["a", "b", "c", "d", "e", "gone"], "old")
    compared = compare(RUN, {"impl": known}, CORPUS)
    assert compared.new == ()
    assert compared.repaired == ("a", "d", "gone")  # e was not asked


def test_round_trip():
    before = {"impl": {"b": "it is hard", "a": "was wrong", "e": "not asked"}, "other": {"x": "y"}}
    after = read_baseline(write_baseline([RUN], before))
    assert after == {
        "impl": {"b": "it is hard", "c": "not examined yet: died so", "e": "not asked"},
        "other": {"x": "y"},
    }
    assert compare(RUN, after, CORPUS).new == ()
    assert write_baseline([RUN], after) == write_baseline([RUN], before)


def test_untrusted_text_can_be_written():
    hostile = '"\\ \x00\x1b\x7f\ud800\u2028 é\t"""\'\'\''
    run = replace(RUN, name=f'a.b "{hostile}', results=(Result("x/y", "fail", hostile),))
    ((name, known),) = read_baseline(write_baseline([run], {})).items()
    assert name.startswith('a.b "')
    assert "é\t" in known["x/y"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = ", "not valid TOML"),
        ("", "version is None"),
        ("version = 2", "version is 2"),
        ('version = 1\n[failures.x]\n"a/b" = ""', "a/b has no reason"),
        ('version = 1\n[failures.x]\n"a/b" = 1', "a/b has no reason"),
        ("version = 1\nfailures = 1", "is not a table"),
        ("version = 1\n[failures]\nx = 1", "is not a table"),
    ],
)
def test_invalid_baselines(text, told):
    with pytest.raises(BaselineError, match=told):
        read_baseline(text)


def test_empty_baseline():
    assert read_baseline("version = 1") == {}
