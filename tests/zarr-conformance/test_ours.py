"""zarr-core passes all cases of the corpus."""

import os
import statistics
import sys

from waits import PATIENCE
from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.report.results import collect_results
from zarr_conformance.report.summary import summary, summary_line
from zarr_conformance.runner.adapter_process import Limits
from zarr_conformance.runner.run import Implementation, run


def outcomes_of_zarr_core(folder):
    build(folder, all_cases())
    ours = Implementation("zarr-core", BUNDLED_ADAPTERS["zarr-core"].command())
    assert ours.command[0] == sys.executable
    jobs = min(2, os.cpu_count() or 1)
    limits = Limits(seconds=PATIENCE)  # for machines that are busy
    return run(ours, folder, list(all_cases()), jobs=jobs, limits=limits)


def test_all_cases_pass_with_the_right_category_in_little_time(tmp_path):
    """One test, because the run takes half a minute, which several workers would repeat."""
    outcomes = outcomes_of_zarr_core(tmp_path / "corpus")
    cases = {case.id: case for case in all_cases()}
    done = collect_results(outcomes, ())
    wrong = {it.case: it.reason for it in done.results if it.grade in ("fail", "crash")}
    assert wrong == {}, summary_line(done, cases)
    assert summary(done, cases).failing == {"must": (), "should": (), "may": (), "invalid": ()}
    verdicts = {it.case.id: it.verdict for it in outcomes.outcomes}
    assert {name: it.reason for name, it in verdicts.items() if it.grade == "unsupported"} == {}
    assert {name: it.remark for name, it in verdicts.items() if it.remark} == {}
    taken = {it.case.id: it.response.seconds for it in outcomes.outcomes}
    # Of a busy machine all cases take longer.
    most = max(5, 1000 * statistics.median(taken.values()))
    assert [name for name, seconds in taken.items() if seconds > most] == []
