"""Generate docs/conformance.md from the results of a run.

    zarr-conformance run --impl all --json results.json
    python scripts/document_conformance.py --keep results.json

store the results for the page in ``docs/conformance.json``. Without arguments, the script writes
the page from this file. With ``--check``, it checks that the page is up to date.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import conformance_page
from zarr_conformance.clauses.clause import clauses, specifications
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Reject
from zarr_conformance.report.files import read_results
from zarr_conformance.report.results import corpus_digest
from zarr_conformance.report.summary import STRENGTHS, failed_clauses, strength
from zarr_conformance.report.text import truncate

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "conformance.json"
PAGE = ROOT / "docs" / "conformance.md"
FAILED = ("fail", "crash")


def page_results(files: list[Path], date: str) -> dict[str, Any]:
    """Return the results for the page, from files with one or more runs."""
    corpus = list(all_cases())
    by_id = {case.id: case for case in corpus}
    runs = [_run(run, by_id) for run in read_results(files, corpus)]
    runs.sort(key=lambda it: conformance_page.ORDER.index(it["name"]))
    return {"date": date, "corpus": corpus_digest(corpus), "cases": len(corpus), "runs": runs}


def _run(run: Any, cases: dict[str, Any]) -> dict[str, Any]:
    """Return the results of one implementation: numbers by specification, failures with reasons."""
    tested: dict[str, set[str]] = {}
    broken: dict[str, set[str]] = {}
    grades: dict[str, Counter[str]] = {}
    failures: dict[str, dict[str, str]] = {}
    for result in run.results:
        case = cases[result.case]
        text = result.case.split("/")[0]
        grades.setdefault(text, Counter())[result.grade] += 1
        if result.grade == "unsupported":
            continue
        for name in case.clauses:
            tested.setdefault(clauses()[name].specification, set()).add(name)
        if result.grade in FAILED:
            failed = failed_clauses(result, case)
            for name in failed:
                broken.setdefault(clauses()[name].specification, set()).add(name)
            kind = "unsupported" if failed != case.clauses else _outcome(result, case)
            reason = " ".join(result.reason.split())
            failures.setdefault(kind, {})[result.case] = truncate(reason, 84)
    numbers = {
        text: {
            group: [len(_of(tested, text, group) - broken.get(text, set())),
                    len(_of(tested, text, group))]
            for group in STRENGTHS
        }
        for text in specifications()
    }  # fmt: skip
    shown = {it for row in conformance_page.PROBE for it in row[1:] if it in cases}
    return {
        "name": run.name,
        "version": run.version,
        "clauses": numbers,
        "cases": {text: dict(sorted(found.items())) for text, found in grades.items()},
        "probe": {it.case: it.grade for it in run.results if it.case in shown},
        "failures": failures,
    }


def _outcome(result: Any, case: Any) -> str:
    """Return the kind of failure."""
    if result.grade == "crash":
        return "crash"
    if isinstance(case.expect, Reject):
        return "accepted"
    return "rejected" if result.observed.get("outcome") == "error" else "wrong"


def _of(found: dict[str, set[str]], text: str, group: str) -> set[str]:
    return {it for it in found.get(text, ()) if strength(clauses()[it].level) == group}


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
    text = conformance_page.page(json.loads(RESULTS.read_text("utf-8")))
    if not args.check:
        PAGE.write_text(text, "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != text:
        print(f"{PAGE.relative_to(ROOT)} is not up to date with docs/conformance.json.")
        print("Run: python scripts/document_conformance.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
