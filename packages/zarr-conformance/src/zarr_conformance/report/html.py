"""The report as an HTML file, which needs no other file and no program."""

from __future__ import annotations

from html import escape
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from zarr_conformance.clauses.clause import specifications
from zarr_conformance.report.coverage import coverage
from zarr_conformance.report.summary import summary_line
from zarr_conformance.report.terminal import rerun_command, show_case
from zarr_conformance.report.text import pretty_json, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from zarr_conformance.clauses.clause import Specification
    from zarr_conformance.corpus.case import Case
    from zarr_conformance.report.coverage import Coverage
    from zarr_conformance.report.results import ImplementationResults, Result

# The content security policy permits no program, in case that a text is not escaped.
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Zarr conformance</title>
"""


def html(runs: Sequence[ImplementationResults], corpus: Sequence[Case]) -> str:
    """Return a page: a table of clauses and implementations, and all failures.

    Parameters
    ----------
    runs : sequence of ImplementationResults
        The results.
    corpus : sequence of Case
        All cases, including those that were not run.
    """
    by_id = {case.id: case for case in corpus}
    covered = coverage(corpus)
    style = (files("zarr_conformance.report") / "page.css").read_text("utf-8")
    parts = [
        f"{_HEAD}<style>\n{style}</style>\n</head>\n<body>\n<h1>Zarr conformance</h1>",
        f"<p>{len(corpus)} cases, zarr-conformance {version('zarr-conformance')}</p>\n<ul>",
        *(f"<li>{_text(summary_line(run, by_id))}</li>" for run in runs),
        "</ul>",
    ]
    for specification in specifications().values():
        parts += _matrix(specification, covered, runs)
    for number, run in enumerate(runs):
        parts += _failures(number, run, by_id)
    return "\n".join((*parts, "</body>", "</html>", ""))


def _text(text: str) -> str:
    """Return untrusted text for the page."""
    return escape(printable(text))


def _matrix(
    specification: Specification,
    covered: Mapping[str, Coverage],
    runs: Sequence[ImplementationResults],
) -> Iterator[str]:
    """Yield the table of a specification: a row for each clause, a column for each run."""
    results = [{result.case: result for result in run.results} for run in runs]
    names = "".join(f"<th>{_text(run.name)}</th>" for run in runs)
    title = f'<a href="{escape(specification.url)}">{_text(specification.title)}</a>'
    yield f"<h2>{title}</h2>\n<table>\n<tr><th>clause</th>{names}</tr>"
    for clause in specification.clauses:
        coverage = covered[clause.id]
        cases = (*coverage.positive, *coverage.negative, *coverage.open)
        link = f'<a href="{escape(specification.link(clause))}">{_text(clause.id)}</a>'
        cells = "".join(
            _cell(number, [own[case] for case in cases if case in own])
            for number, own in enumerate(results)
        )
        yield f"<tr><th>{clause.level}: {_text(clause.text)}<br>{link}</th>{cells}</tr>"
    yield "</table>"


def _cell(number: int, results: Sequence[Result]) -> str:
    """Return the cell of a clause and a run, with a link to the first case that fails."""
    failed = [result for result in results if result.grade in ("fail", "crash")]
    passed = [result for result in results if result.grade == "pass"]
    if failed:
        kind = "known" if all(result.known for result in failed) else "fail"
        anchor = escape(f"#{number}/{failed[0].case}")
        return f'<td class="{kind}"><a href="{anchor}">✗ {len(failed)}/{len(results)}</a></td>'
    if passed:
        return f'<td class="pass">✓ {len(passed)}/{len(results)}</td>'
    return f'<td class="none">{"not supported" if results else ""}</td>'


def _failures(number: int, run: ImplementationResults, by_id: Mapping[str, Case]) -> Iterator[str]:
    """Yield the failed cases of a run, with what was expected and what was observed."""
    yield f"<h2>{_text(f'{run.name} {run.version}')}: failures</h2>"
    for result in _failed(run.results):
        known = f"known: {result.known}\n\n" if result.known else ""
        command = rerun_command(result.case, run.name, run.command)
        text = (
            f"{known}{result.reason}\n\nobserved\n{pretty_json(dict(result.observed))}\n\n"
            f"{show_case(by_id[result.case])}\n  {command}"
        )
        anchor, name = escape(f"{number}/{result.case}"), _text(result.case)
        yield f'<details id="{anchor}"><summary>{name}</summary><pre>{_text(text)}</pre></details>'


def _failed(results: Iterable[Result]) -> list[Result]:
    """Return the failures, those that are not known first."""
    failed = [result for result in results if result.grade in ("fail", "crash")]
    return sorted(failed, key=lambda result: bool(result.known))
