"""The page of findings is what the kept results say, of cases and kinds that have been read."""

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
KEPT = ROOT / "docs" / "conformance.json"
CASES = {case.id: case for case in all_cases()}


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import conformance_page

    return conformance_page


def test_the_page_is_in_step():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ours_breaks_nothing_and_is_asked_everything():
    assert KEPT.stat().st_size < 300_000
    ours = json.loads(KEPT.read_text("utf-8"))["runs"][0]
    assert (ours["name"], ours["wrong"]) == ("zarr-core", {})
    assert {grade for it in ours["cases"].values() for grade in it} == {"pass"}


def test_of_every_kind_of_failure_it_is_said_why_it_is_one(page):
    read = tomllib.loads(page.READ.read_text("utf-8"))
    said = {(clause, came) for clause, sentences in read.items() for came in sentences}
    runs = json.loads(KEPT.read_text("utf-8"))["runs"]
    found = {(clause.id, came) for run in runs for clause, came in page.kinds(run, CASES)}
    assert sorted(found - said) == [], "read the text again, then say why, or mend the case"
    assert sorted(said - found) == [], f"nobody fails like that: take it out of {page.READ.name}"
    assert [it for sentences in read.values() for it in sentences.values() if it[-1] != "."] == []


def test_a_failure_that_nobody_has_read_is_not_put_on_the_page(page):
    told = json.loads(KEPT.read_text("utf-8"))
    told["runs"][0]["wrong"] = {"crash": {"v3-core/array/shape-number": "the process died"}}
    with pytest.raises(SystemExit, match="read the text"):
        page.page(told)


def test_what_may_go_either_way_answers_no_question(page):
    asked = [case for row in page.PROBE for case in row[1:]]
    assert [it for it in asked if isinstance(CASES[it].expect, Either)] == []
