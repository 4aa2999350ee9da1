"""Write the page about what implementations do, from the results of a run.

    zarr-conformance run --impl all --json results.json
    python scripts/document_conformance.py --keep results.json

keeps of the results what the page takes, in ``docs/conformance.json``.  Without arguments the page
is written from that, with ``--check`` it is learnt whether it is in step.
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
from zarr_conformance.reporting.files import read_results
from zarr_conformance.reporting.plain import short
from zarr_conformance.reporting.results import digest
from zarr_conformance.reporting.summary import STRENGTHS, broken_by, strength

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "conformance.json"
PAGE = ROOT / "docs" / "conformance.md"
WRONG = ("fail", "crash")


def kept(files: list[Path], date: str) -> dict[str, Any]:
    """What the page takes of results, each file of one run or several."""
    corpus = list(all_cases())
    by_id = {case.id: case for case in corpus}
    runs = [_run(run, by_id) for run in read_results(files, corpus)]
    runs.sort(key=lambda it: conformance_page.ORDER.index(it["name"]))
    return {"date": date, "corpus": digest(corpus), "cases": len(corpus), "runs": runs}


def _run(run: Any, cases: dict[str, Any]) -> dict[str, Any]:
    """One implementation: numbers for each text, what is wrong with a reason each."""
    judged: dict[str, set[str]] = {}
    broken: dict[str, set[str]] = {}
    grades: dict[str, Counter[str]] = {}
    wrong: dict[str, dict[str, str]] = {}
    for result in run.results:
        case = cases[result.case]
        text = result.case.split("/")[0]
        grades.setdefault(text, Counter())[result.grade] += 1
        if result.grade == "unsupported":
            continue
        for name in case.clauses:
            judged.setdefault(clauses()[name].specification, set()).add(name)
        if result.grade in WRONG:
            hurt = broken_by(result, case)
            for name in hurt:
                broken.setdefault(clauses()[name].specification, set()).add(name)
            kind = "lacking" if hurt != case.clauses else _came(result, case)
            reason = " ".join(result.reason.split())
            wrong.setdefault(kind, {})[result.case] = short(reason, 84)
    numbers = {
        text: {
            group: [len(_of(judged, text, group) - broken.get(text, set())),
                    len(_of(judged, text, group))]
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
        "wrong": wrong,
    }


def _came(result: Any, case: Any) -> str:
    """What came instead of what had to come, in a word."""
    if result.grade == "crash":
        return "crash"
    if isinstance(case.expect, Reject):
        return "accepted"
    return "refused" if result.observed.get("outcome") == "error" else "wrong"


def _of(found: dict[str, set[str]], text: str, group: str) -> set[str]:
    return {it for it in found.get(text, ()) if strength(clauses()[it].level) == group}


def main() -> int:
    """Write, keep or check, as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=Path, nargs="+", metavar="F", help="results of runs")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if not in step")
    asked = parser.parse_args()
    if asked.keep:
        told = kept(asked.keep, datetime.date.today().isoformat())
        KEPT.write_text(json.dumps(told, indent=0, ensure_ascii=False) + "\n", "utf-8")
    text = conformance_page.page(json.loads(KEPT.read_text("utf-8")))
    if not asked.check:
        PAGE.write_text(text, "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != text:
        print(f"{PAGE.relative_to(ROOT)} is not what docs/conformance.json says.")
        print("Run: python scripts/document_conformance.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
