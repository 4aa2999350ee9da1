"""zarr-core passes all cases of the corpus."""

import os
import statistics
import sys

import pytest
from waits import PATIENCE
from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.report.results import collect_results
from zarr_conformance.report.summary import summary, summary_line
from zarr_conformance.runner.adapter_process import Limits
from zarr_conformance.runner.run import Implementation, run

CASES = {case.id: case for case in all_cases()}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "corpus"
    build(folder, CASES.values())
    ours = Implementation("zarr-core", BUNDLED_ADAPTERS["zarr-core"].command())
    assert ours.command[0] == sys.executable
    jobs = min(2, os.cpu_count() or 1)
    limits = Limits(seconds=PATIENCE)  # for machines that are busy
    return run(ours, folder, list(CASES.values()), jobs=jobs, limits=limits)


def test_every_must_and_should_passes(outcomes):
    done = collect_results(outcomes, ())
    wrong = {it.case: it.reason for it in done.results if it.grade in ("fail", "crash")}
    assert wrong == {}, summary_line(done, CASES)
    assert summary(done, CASES).failing == {"must": (), "should": (), "may": (), "invalid": ()}


def test_nothing_is_called_unsupported(outcomes):
    found = {it.case.id: it.verdict.reason for it in outcomes.outcomes}
    grades = {it.case.id for it in outcomes.outcomes if it.verdict.grade == "unsupported"}
    assert {it: found[it] for it in grades} == {}


def test_refusals_are_of_the_right_category(outcomes):
    assert {it.case.id: it.verdict.remark for it in outcomes.outcomes if it.verdict.remark} == {}


def test_no_case_takes_long(outcomes):
    taken = {it.case.id: it.response.seconds for it in outcomes.outcomes}
    # Of a busy machine all cases take longer.
    most = max(5, 1000 * statistics.median(taken.values()))
    assert [name for name, seconds in taken.items() if seconds > most] == []
