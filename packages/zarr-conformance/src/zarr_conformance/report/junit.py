"""Results as JUnit XML, for CI systems."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

from zarr_conformance.report.summary import NOTHING_ACCEPTED, summary
from zarr_conformance.report.terminal import rerun_command
from zarr_conformance.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zarr_conformance.corpus.case import Case
    from zarr_conformance.report.results import ImplementationResults, Result


def junit(runs: Iterable[ImplementationResults], cases: Mapping[str, Case]) -> str:
    """Return results as JUnit XML: a suite for each implementation, a test for each case.

    Failed cases are failures, crashes are errors; cases that are not supported or in a
    baseline are skipped.  An implementation that accepts no valid data has one more failure.

    Parameters
    ----------
    runs : iterable of ImplementationResults
        The results.
    cases : mapping of str to Case
        By id.
    """
    root = Xml.Element("testsuites", name="zarr-conformance")
    for run in runs:
        suite = Xml.SubElement(root, "testsuite", name=printable(f"{run.name} {run.version}"))
        counts: Counter[str] = Counter()
        seconds = 0.0
        for result in run.results:
            case = cases[result.case]
            group, _, name = case.id.rpartition("/")
            test = Xml.SubElement(
                suite,
                "testcase",
                classname=f"{printable(run.name)}.{group.replace('/', '.')}",
                name=name,
                time=f"{result.seconds:.4f}",
            )
            seconds += result.seconds
            kind = _kind(result)
            counts[kind] += 1
            if kind:
                _add_message(Xml.SubElement(test, kind), result, case, run.name)
        totals = summary(run, cases)
        if totals.accepts_nothing:
            counts["failure"] += 1
            test = Xml.SubElement(
                suite, "testcase", classname=printable(run.name), name="accepts-valid-data"
            )
            Xml.SubElement(test, "failure", type="fail", message=NOTHING_ACCEPTED)
        suite.attrib |= {
            "tests": str(len(run.results) + totals.accepts_nothing),
            "failures": str(counts["failure"]),
            "errors": str(counts["error"]),
            "skipped": str(counts["skipped"]),
            "time": f"{seconds:.3f}",
        }
    Xml.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{Xml.tostring(root, 'unicode')}\n"


def _kind(result: Result) -> str:
    if result.grade == "unsupported" or (result.known and result.grade != "pass"):
        return "skipped"
    return {"pass": "", "fail": "failure", "crash": "error"}[result.grade]


def _add_message(element: Xml.Element, result: Result, case: Case, name: str) -> None:
    known = f"known: {result.known}; " if result.known else ""
    element.set("message", printable(f"{known}{result.reason}").replace("\n", " "))
    if element.tag == "skipped":
        return
    element.set("type", result.grade)
    element.text = printable(
        f"{case.summary}\n{result.reason}\nclauses: {', '.join(case.clauses)}\n"
        f"run again: {rerun_command(case.id, name)}"
    )
