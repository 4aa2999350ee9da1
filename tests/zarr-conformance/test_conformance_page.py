"""docs/conformance.md is up to date, and its findings have reasons."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Either

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "document_conformance.py"
RESULTS = ROOT / "docs" / "conformance.json"
CASES = {case.id: case for case in all_cases()}


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import conformance_page

    return conformance_page


def test_the_page_is_up_to_date():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zarr_core_passes_all_cases():
    assert RESULTS.stat().st_size < 300_000
    ours = json.loads(RESULTS.read_text("utf-8"))["runs"][0]
    assert (ours["name"], ours["failures"]) == ("zarr-core", {})
    assert {grade for it in ours["cases"].values() for grade in it} == {"pass"}


def test_each_kind_of_failure_has_a_reason(page):
    reasons = tomllib.loads(page.FINDINGS.read_text("utf-8"))
    explained = {(clause, outcome) for clause, texts in reasons.items() for outcome in texts}
    runs = json.loads(RESULTS.read_text("utf-8"))["runs"]
    found = {(clause.id, outcome) for run in runs for clause, outcome in page.kinds(run, CASES)}
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
        page.page(results)


def test_frequent_questions_have_unambiguous_cases(page):
    used = [case for row in page.PROBE for case in row[1:]]
    assert [it for it in used if isinstance(CASES[it].expect, Either)] == []
