"""Text representations of cases and clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.clauses.clause import clauses, specifications
from zarr_conformance.report.coverage import coverage
from zarr_conformance.report.details import details, rerun_command
from zarr_conformance.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_conformance.corpus.case import Case

OUTCOMES = {
    "accept": "must succeed",
    "reject": "must raise an error",
    "either": "may raise an error; otherwise the result must be correct",
}


def show_case(case: Case) -> str:
    """Return a case as text: its store, the request, the expectation, how to run it."""
    return printable("\n".join(_case(details(case))))


def _case(case: dict[str, Any]) -> Iterator[str]:
    yield f"{case['id']}  ({case['strength']})"
    yield f"  {case['summary']}"
    yield "\nclauses"
    for name in case["clauses"]:
        clause = clauses()[name]
        yield f"  {name}  ({clause.level}; {clause.section})"
        yield f"    {clause.text}"
        yield f"    {specifications()[clause.specification].link(clause)}"
    yield "\nrequest"
    path = case["path"] or "the root"
    yield f"  {case['operation']} {path} of a store of format {case['zarr_format']}"
    if case["needs"]:
        yield f"  needs {', '.join(case['needs'])}"
    if "selection" in case:
        yield f"  selection {case['selection']}"
    if "document" in case:
        yield from _indented(case["document"], 2)
    yield "\nstore" if case["texts"] or case["stored"] else "\nstore: empty"
    for key, text in case["texts"].items():
        yield f"  {key}"
        yield from _indented(text, 4)
    for key, value in case["stored"].items():
        yield f"  {key}"
        yield f"    {_bytes(value)}"
    yield f"\nexpected: {OUTCOMES[case['outcome']]}"
    yield from _indented(case["expect"], 2)
    if "values" in case:
        values = case["values"]
        yield f"  elements: {values['text'] if 'text' in values else _bytes(values)}"
    yield "\nrun"
    yield f"  {rerun_command(case['id'], 'NAME')}"


def _indented(text: str, count: int) -> Iterator[str]:
    return (" " * count + line for line in text.splitlines())


def _bytes(value: dict[str, Any]) -> str:
    """Return the first bytes in groups of four."""
    digits = value["head"]
    groups = " ".join(digits[n : n + 8] for n in range(0, len(digits), 8))
    more = " …" if 2 * value["bytes"] > len(digits) else ""
    return f"{value['bytes']} bytes: {groups}{more}"


def show_clauses(cases: Iterable[Case], names: Iterable[str]) -> str:
    """Return clauses with the number of their positive, negative and open cases."""
    covered = coverage(cases)
    lines = []
    for name in names:
        text = specifications()[name]
        mine = [covered[clause.id] for clause in text.clauses]
        lines.append(f"{text.title} ({name})\n  {text.url}")
        section = ""
        for covering in mine:
            clause = covering.clause
            if clause.section != section:
                section = clause.section
                lines.append(f"\n  {section}")
            counts = f"{len(covering.positive)}+ {len(covering.negative)}- {len(covering.open)}?"
            status = counts if clause.tested else "not tested"
            gaps = f"  no {' and no '.join(covering.gaps)} case" if covering.gaps else ""
            lines.append(f"    {clause.level:<10} {clause.id}  [{status}]{gaps}")
            lines.append(f"               {clause.text}")
            if clause.untested:
                lines.append(f"               Not tested: {clause.untested}")
        tested = [item for item in mine if item.clause.tested]
        whole = sum(1 for item in tested if not item.gaps)
        lines.append(
            f"\n  {len(mine)} clauses, {len(tested)} of them tested, {whole} of these with all "
            "required cases (+ success, - error, ? either)\n"
        )
    return printable("\n".join(lines))
