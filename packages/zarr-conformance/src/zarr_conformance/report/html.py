"""The report as a self-contained HTML file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from html import escape
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from zarr_conformance.clauses.clause import specifications
from zarr_conformance.report.coverage import coverage
from zarr_conformance.report.details import details, rerun_command
from zarr_conformance.report.summary import (
    FAILURES,
    clauses_text,
    strength,
    summary,
    summary_line,
)
from zarr_conformance.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_conformance.clauses.clause import Specification
    from zarr_conformance.corpus.case import Case
    from zarr_conformance.report.results import ImplementationResults, Result


def html(runs: Sequence[ImplementationResults], corpus: Sequence[Case]) -> str:
    """Return a page with its data, styles and program.

    Untrusted text is only in the compressed data, which the program inserts as text, not as
    markup.  The content security policy of the page permits no other program.

    Parameters
    ----------
    runs : sequence of ImplementationResults
        The results.
    corpus : sequence of Case
        All cases, including those that were not run.
    """
    parts = {name: _part(name) for name in ("page.html", "page.css", "page.js")}
    by_id = {case.id: case for case in corpus}
    data = json.dumps(_printable(page_data(runs, corpus)), separators=(",", ":")).encode()
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    allowed = base64.b64encode(hashlib.sha256(parts["page.js"].encode()).digest()).decode()
    lines = "".join(f"<li>{escape(printable(summary_line(run, by_id)))}</li>" for run in runs)
    page = parts["page.html"]
    for name, text in (
        ("POLICY", f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'"),
        ("STYLE", parts["page.css"]),
        ("DATA", packed),
        ("PROGRAM", parts["page.js"]),
        ("SUMMARY", lines),  # last, because it contains untrusted text
    ):
        page = page.replace(f"@{name}@", text, 1)
    return page


def page_data(runs: Iterable[ImplementationResults], corpus: Sequence[Case]) -> dict[str, Any]:
    """Return the data of the page as JSON."""
    by_id = {case.id: case for case in corpus}
    number = {case.id: n for n, case in enumerate(corpus)}
    covered = coverage(corpus)
    return {
        "harness": version("zarr-conformance"),
        "specifications": [
            {
                "name": text.name,
                "title": text.title,
                "url": text.url,
                "clauses": [
                    {
                        "id": clause.id,
                        "section": clause.section,
                        "level": clause.level,
                        "strength": strength(clause.level),
                        "text": clause.text,
                        "link": text.link(clause),
                        "binds": clause.binds_reader,
                        "untested": clause.untested,
                        "negative": clause.negative,
                        "cases": [
                            number[case]
                            for kind in ("positive", "negative", "open")
                            for case in getattr(covered[clause.id], kind)
                        ],
                        "counts": [
                            len(covered[clause.id].positive),
                            len(covered[clause.id].negative),
                            len(covered[clause.id].open),
                        ],
                        "gaps": covered[clause.id].gaps,
                    }
                    for clause in text.clauses
                ],
            }
            for text in sorted(specifications().values(), key=_order)
        ],
        "cases": [details(case) for case in corpus],
        "runs": [_run(run, number, by_id) for run in runs],
    }


def _order(text: Specification) -> tuple[bool, ...]:
    """Return the sort key of a specification: version 3, older versions, registered extensions."""
    name = text.name
    draft, three = name.endswith("-draft"), name.startswith("v3-")
    return (name.startswith("ext-"), draft, not three, name != "v3-core")


def _run(
    run: ImplementationResults, number: dict[str, int], by_id: dict[str, Case]
) -> dict[str, Any]:
    totals = summary(run, by_id)
    results: list[Any] = [None] * len(number)
    for result in run.results:
        results[number[result.case]] = _result(result)
    return {
        "name": run.name,
        "implementation": run.implementation,
        "version": run.version,
        "formats": run.formats,
        "operations": run.operations,
        "seconds": run.seconds,
        "again": rerun_command("@CASE@", run.name, run.command),
        "grades": dict(totals.grades),
        "passed": totals.passed,
        "judged": totals.judged,
        "total": totals.cases,
        "percent": totals.percent,
        "known": totals.known,
        "acceptsNothing": totals.accepts_nothing,
        "failures": {FAILURES[kind]: number for kind, number in totals.failures.items()},
        "violated": clauses_text(totals.failing),
        "results": results,
    }


def _result(result: Result) -> Any:
    """Return a result as JSON; 1 for a pass without remarks, to keep the page small."""
    entry = {
        "grade": result.grade,
        "reason": result.reason,
        "remark": result.remark,
        "known": result.known,
        "observed": result.observed,
    }
    entry = {name: item for name, item in entry.items() if item}
    return 1 if entry == {"grade": "pass"} else entry


def _printable(value: Any) -> Any:
    """Escape control characters in all strings of a JSON value."""
    if isinstance(value, dict):
        return {printable(name): _printable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(item) for item in value]
    return printable(value) if isinstance(value, str) else value


def _part(name: str) -> str:
    return (files("zarr_conformance.report") / name).read_text("utf-8")
