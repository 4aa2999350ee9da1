"""The report as one file that asks for nothing from elsewhere."""

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
from zarr_conformance.reporting.coverage import coverage
from zarr_conformance.reporting.details import details
from zarr_conformance.reporting.plain import plain
from zarr_conformance.reporting.reproducing import command_for
from zarr_conformance.reporting.summary import line, strength, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_conformance.clauses.clause import Specification
    from zarr_conformance.corpus.case import Case
    from zarr_conformance.reporting.results import Judged, Result


def html(runs: Sequence[Judged], corpus: Sequence[Case]) -> str:
    """A page with everything in it: data, styles, program.

    What strangers have written comes into the page as compressed data only, out of which its
    program makes text, never markup; the page's own policy lets no other program run.

    Parameters
    ----------
    runs : sequence of Judged
        The results.
    corpus : sequence of Case
        All cases; those that nobody was asked are shown as well.
    """
    parts = {name: _part(name) for name in ("page.html", "page.css", "page.js")}
    by_id = {case.id: case for case in corpus}
    data = json.dumps(_plain(page_data(runs, corpus)), separators=(",", ":")).encode()
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    allowed = base64.b64encode(hashlib.sha256(parts["page.js"].encode()).digest()).decode()
    summed = "".join(f"<li>{escape(plain(line(run, by_id)))}</li>" for run in runs)
    page = parts["page.html"]
    for name, text in (
        ("POLICY", f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'"),
        ("STYLE", parts["page.css"]),
        ("DATA", packed),
        ("PROGRAM", parts["page.js"]),
        ("SUMMARY", summed),  # the last, since strangers have written in it
    ):
        page = page.replace(f"@{name}@", text, 1)
    return page


def page_data(runs: Iterable[Judged], corpus: Sequence[Case]) -> dict[str, Any]:
    """What the page's program makes the page of, as JSON."""
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
                        "judged": clause.judged,
                        "negative": clause.negative,
                        "cases": [
                            number[it]
                            for kind in ("positive", "negative", "open")
                            for it in getattr(covered[clause.id], kind)
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
            for text in sorted(specifications().values(), key=_place)
        ],
        "cases": [details(case) for case in corpus],
        "runs": [_run(run, number, by_id) for run in runs],
    }


def _place(text: Specification) -> tuple[bool, ...]:
    """Where a text stands: version 3 with its core at the head, older ones, the registry."""
    name = text.name
    draft, three = name.endswith("-draft"), name.startswith("v3-")
    return (name.startswith("ext-"), draft, not three, name != "v3-core")


def _run(run: Judged, number: dict[str, int], by_id: dict[str, Case]) -> dict[str, Any]:
    told = summary(run, by_id)
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
        "again": command_for("@CASE@", run.name, run.command),
        "grades": dict(told.grades),
        "asked": told.asked,
        "percent": told.percent,
        "known": told.known,
        "failing": {group: len(it) for group, it in told.failing.items()},
        "results": results,
    }


def _result(result: Result) -> Any:
    """A pass with nothing to say is a 1, to keep the page small."""
    told = {
        "grade": result.grade,
        "reason": result.reason,
        "remark": result.remark,
        "known": result.known,
        "observed": result.observed,
    }
    told = {name: it for name, it in told.items() if it}
    return 1 if told == {"grade": "pass"} else told


def _plain(value: Any) -> Any:
    """JSON whose texts have nothing in them that is no character to read."""
    if isinstance(value, dict):
        return {plain(name): _plain(it) for name, it in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(it) for it in value]
    return plain(value) if isinstance(value, str) else value


def _part(name: str) -> str:
    return (files("zarr_conformance.reporting") / name).read_text("utf-8")
