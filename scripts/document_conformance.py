"""Generate docs/conformance.md from the results of a run.

    zarr-conformance run --impl all --json results.json
    python scripts/document_conformance.py --keep results.json

store the results for the page in ``docs/conformance.json``, and the scores in
``docs/conformance-history.json``. Without arguments, the script writes the page and the expected
failures of each implementation from these files. With ``--check``, it checks that they are up to
date. ``make conformance`` does all of this, with pinned versions.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import conformance_page
from zarr_conformance.clauses.clause import clauses, specifications
from zarr_conformance.corpus.archive import corpus_digest, corpus_version
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Reject
from zarr_conformance.report.files import read_results
from zarr_conformance.report.summary import (
    INVALID,
    STRENGTHS,
    failed_clauses,
    failure_kind,
    strength,
    summary,
    violations,
)
from zarr_conformance.report.text import truncate

if TYPE_CHECKING:
    from zarr_conformance.corpus.case import Case
    from zarr_conformance.report.results import ImplementationResults

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "conformance.json"
PAGE = ROOT / "docs" / "conformance.md"
HISTORY = ROOT / "docs" / "conformance-history.json"
EXCHANGE = ROOT / "docs" / "conformance-exchange.json"
EXPECTED = ROOT / "packages" / "zarr-conformance" / "expected-failures"
FAILED = ("fail", "crash")
OUTCOMES = {
    "wrong": "wrong",
    "refuses": "rejected",
    "accepts": "accepted",
    "crash": "crash",
    "resources": "crash",
}
"""What the findings call the kinds of failures."""


def page_results(files: list[Path], date: str) -> dict[str, Any]:
    """Return the results for the page, from files with one or more runs."""
    corpus = list(all_cases())
    by_id = {case.id: case for case in corpus}
    found = [_run(run, by_id) for run in read_results(files, corpus)]
    found.sort(key=lambda it: conformance_page.ORDER.index(it["name"]))
    return {
        "date": date,
        "corpus": {
            "version": corpus_version(corpus),
            "digest": corpus_digest(corpus),
        },
        "cases": list(by_id),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "runs": found,
    }


def _run(run: ImplementationResults, cases: dict[str, Case]) -> dict[str, Any]:
    """Return the results of one implementation: numbers by specification, failures with reasons."""
    judged: dict[str, set[tuple[str, str]]] = {}
    broken: dict[str, set[tuple[str, str]]] = {}
    grades = dict.fromkeys(cases, ".")
    failures: dict[str, dict[str, str]] = {}
    for result in run.results:
        case = cases[result.case]
        grades[result.case] = result.grade[0]
        if result.grade == "unsupported":
            continue
        for name in case.clauses:
            judged.setdefault(_text(name), set()).add((_group(name, case), name))
        if result.grade in FAILED:
            for group, name in violations(result, case):
                judged.setdefault(_text(name), set()).add((group, name))
                broken.setdefault(_text(name), set()).add((group, name))
            missing = failed_clauses(result, case) != case.clauses
            kind = "unsupported" if missing else OUTCOMES[failure_kind(result, case)]
            reason = " ".join(result.reason.split())
            failures.setdefault(kind, {})[result.case] = truncate(reason, 84)
    totals = summary(run, cases)
    return {
        "name": run.name,
        "version": run.version,
        "totals": [totals.passed, totals.judged, totals.cases],
        "kinds": dict(totals.failures),
        "clauses": {
            text: {
                group: [len(_of(judged, text, group) - _of(broken, text, group)),
                        len(_of(judged, text, group))]
                for group in (*STRENGTHS, INVALID)
            }
            for text in specifications()
        },
        "grades": "".join(grades.values()),  # in the order of the cases
        "failures": failures,
    }  # fmt: skip


def history_entry(results: dict[str, Any]) -> dict[str, Any]:
    """Return the scores of results for ``docs/conformance-history.json``."""
    return {
        "date": results["date"],
        "corpus": results["corpus"]["version"],
        "scores": {
            conformance_page.full_name(run): dict(
                zip(("passed", "judged", "cases"), run["totals"], strict=True), **run["kinds"]
            )
            for run in results["runs"]
        },
    }


def _text(clause: str) -> str:
    return clauses()[clause].specification


def _group(name: str, case: Case) -> str:
    """Return the group of a clause for a case, as `violations` does."""
    clause = clauses()[name]
    defines = isinstance(case.expect, Reject) and not clause.binds_reader
    return INVALID if defines else strength(clause.level)


def _of(found: dict[str, set[tuple[str, str]]], text: str, group: str) -> set[str]:
    return {name for kind, name in found.get(text, ()) if kind == group}


def main() -> int:
    """Write or check the page, or store results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=Path, nargs="+", metavar="F", help="results of runs")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if the page is not up to date"
    )
    args = parser.parse_args()
    if args.keep:
        results = page_results(args.keep, datetime.date.today().isoformat())
        RESULTS.write_text(json.dumps(results, indent=0, ensure_ascii=False) + "\n", "utf-8")
        entry = history_entry(results)
        history = [it for it in _history() if it["corpus"] != entry["corpus"]]
        HISTORY.write_text(json.dumps([*history, entry], indent=1) + "\n", "utf-8")
    results = json.loads(RESULTS.read_text("utf-8"))
    exchange = json.loads(EXCHANGE.read_text("utf-8"))
    written = {PAGE: conformance_page.page(results, _history(), exchange)}
    for run in results["runs"]:
        name = conformance_page.full_name(run).replace(" ", "-").replace("/", "-")
        if run["failures"]:
            written[EXPECTED / f"{name}.toml"] = conformance_page.expected_failures(run)
    if not args.check:
        for old in EXPECTED.glob("*.toml"):
            old.unlink()
        for file, text in written.items():
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
        return 0
    others = [it for it in EXPECTED.glob("*.toml") if it not in written]
    stale = [it for it, text in written.items() if not it.exists() or it.read_text("utf-8") != text]
    for file in (*stale, *others):
        print(f"{file.relative_to(ROOT)} is not up to date with docs/conformance.json.")
        print("Run: python scripts/document_conformance.py")
    return 1 if stale or others else 0


def _history() -> list[dict[str, Any]]:
    return list(json.loads(HISTORY.read_text("utf-8"))) if HISTORY.exists() else []


if __name__ == "__main__":
    sys.exit(main())
