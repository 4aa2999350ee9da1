"""Our own implementation over the whole corpus: every must, every should, no remark.

And the corpus over the clauses: what is not shown yet is listed, so that it can only shrink.
"""

import os
import sys
from pathlib import Path

import pytest
from zarr_conformance.adapters.known import KNOWN
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.reporting.coverage import coverage
from zarr_conformance.reporting.results import judged
from zarr_conformance.reporting.summary import line, summary
from zarr_conformance.running.run import Implementation, run

CASES = {case.id: case for case in all_cases()}

NOT_SHOWN = Path(__file__).with_name("not_shown.txt")
"""What ``zarr-conformance clauses --missing`` prints."""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "corpus"
    build(folder, CASES.values())
    ours = Implementation("zarr-core", KNOWN["zarr-core"].command())
    assert ours.command[0] == sys.executable
    return run(ours, folder, list(CASES.values()), jobs=min(2, os.cpu_count() or 1))


def test_every_must_and_should_passes(outcomes):
    done = judged(outcomes, ())
    wrong = {it.case: it.reason for it in done.results if it.grade in ("fail", "crash")}
    assert wrong == {}, line(done, CASES)
    assert summary(done, CASES).failing == {"must": (), "should": (), "may": ()}


def test_nothing_is_called_unsupported(outcomes):
    found = {it.case.id: it.verdict.reason for it in outcomes.outcomes}
    grades = {it.case.id for it in outcomes.outcomes if it.verdict.grade == "unsupported"}
    assert {it: found[it] for it in grades} == {}


def test_refusals_are_of_the_right_category(outcomes):
    assert {it.case.id: it.verdict.remark for it in outcomes.outcomes if it.verdict.remark} == {}


def test_no_case_takes_long(outcomes):
    assert [it.case.id for it in outcomes.outcomes if it.answer.seconds > 5] == []


def test_clauses_are_shown_by_cases_from_both_sides():
    gaps = {f"{name} {gap}" for name, it in coverage(CASES.values()).items() for gap in it.gaps}
    listed = set(NOT_SHOWN.read_text().split("\n")[:-1])
    assert sorted(gaps - listed) == [], "a clause without a case: write one"
    assert sorted(listed - gaps) == [], f"shown now: take it out of {NOT_SHOWN.name}"


def test_cases_of_clauses_that_are_not_judged_are_none():
    assert [name for name, it in coverage(CASES.values()).items()
            if not it.clause.judged and (it.positive or it.negative or it.open)] == []  # fmt: skip
