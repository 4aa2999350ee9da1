"""docs/conformance.md is up to date, and its findings have reasons."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from zarr_conformance.baseline import read_baseline
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Either

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "document_conformance.py"
RESULTS = ROOT / "docs" / "conformance.json"
HISTORY = ROOT / "docs" / "conformance-history.json"
PAGE = ROOT / "docs" / "conformance.md"
EXPECTED = ROOT / "packages" / "zarr-conformance" / "expected-failures"


@pytest.fixture(scope="module")
def cases():
    return {case.id: case for case in all_cases()}


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import conformance_page

    return conformance_page


def test_the_page_is_up_to_date():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zarr_core_passes_all_cases():
    assert RESULTS.stat().st_size < 800_000
    results = json.loads(RESULTS.read_text("utf-8"))
    ours = results["runs"][0]
    assert (ours["name"], ours["failures"]) == ("zarr-core", {})
    assert ours["totals"] == [len(results["cases"])] * 3
    assert set(ours["grades"]) == {"p"}


def test_each_kind_of_failure_has_a_reason(page, cases):
    reasons = tomllib.loads(page.FINDINGS.read_text("utf-8"))
    explained = {(clause, outcome) for clause, texts in reasons.items() for outcome in texts}
    runs = json.loads(RESULTS.read_text("utf-8"))["runs"]
    found = {(clause.id, outcome) for run in runs for clause, outcome in page.kinds(run, cases)}
    assert sorted(found - explained) == [], (
        "compare with the specification and add the reason, or fix the case"
    )
    assert sorted(explained - found) == [], (
        f"no implementation fails like this: remove it from {page.FINDINGS.name}"
    )
    assert [it for texts in reasons.values() for it in texts.values() if it[-1] != "."] == []


def test_a_failure_without_a_reason_is_an_error(page):
    results = json.loads(RESULTS.read_text("utf-8"))
    results["runs"][0]["failures"] = {"crash": {"v3-core/array/shape-number": "the process died"}}
    with pytest.raises(SystemExit, match="add the reason"):
        page.page(results, [], {"pairs": [], "implementations": {}})


def test_findings_are_compared_with_other_implementations(page):
    """A finding is published with the outcome of two implementations that are independent."""
    grades = {"zarr-python": {"a": "f"}, "zarr-core": {"a": "p"}, "zarrs-python": {"a": "p"}}
    grades |= {"tensorstore": {"a": "c"}, "zarrita.js": {"a": "u"}, "zarr-python 3.1.6": {"a": "p"}}
    found = page.others({"name": "zarr-python"}, "a", grades)
    assert found == {"zarr-core": "passes", "tensorstore": "crashes"}
    text = PAGE.read_text("utf-8")
    rows = [it for it in text.splitlines() if re.search(r"\| \*[a-z]+\*: ", it)]
    assert len(rows) > 100
    verdicts = [it.split(" | ")[-1] for it in rows]
    assert [
        it for it in verdicts if it.count("passes") + it.count("fails") + it.count("crashes") < 2
    ] == []


def test_expected_failures_are_baselines(page):
    """Each failure of an implementation is expected, with a reason."""
    results = json.loads(RESULTS.read_text("utf-8"))
    for run in results["runs"]:
        if run["failures"]:
            name = page.full_name(run).replace(" ", "-").replace("/", "-")
            baseline = read_baseline((EXPECTED / f"{name}.toml").read_text("utf-8"))
            ((_, known),) = baseline.items()
            assert set(known) == {case for it in run["failures"].values() for case in it}
            grades = page.grades_by_case(results)[run["name"]]
            assert set(known) == {case for case, it in grades.items() if it in "fc"}


def test_history_has_the_scores_of_the_page(page):
    entry = json.loads(HISTORY.read_text("utf-8"))[-1]
    results = json.loads(RESULTS.read_text("utf-8"))
    assert entry["date"] == results["date"]
    assert entry["corpus"] == results["corpus"]["version"]
    assert list(entry["scores"]) == [page.full_name(it) for it in results["runs"]]
    for scores in entry["scores"].values():
        assert scores["passed"] <= scores["judged"] <= scores["cases"] == len(results["cases"])


def test_frequent_questions_have_unambiguous_cases(page, cases):
    used = [case for row in page.PROBE for case in row[1:]]
    assert [it for it in used if isinstance(cases[it].expect, Either)] == []
