"""A case, or the clauses, for people at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.clauses.clause import clauses, specifications
from zarr_conformance.reporting.coverage import coverage
from zarr_conformance.reporting.details import details
from zarr_conformance.reporting.plain import plain
from zarr_conformance.reporting.reproducing import command_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_conformance.corpus.case import Case

OUTCOMES = {
    "accept": "has to work",
    "reject": "has to be refused",
    "either": "may be refused, has to be right if not",
}


def show_case(case: Case) -> str:
    """A case in full: what is stored, asked, expected, and how to try it."""
    return plain("\n".join(_case(details(case))))


def _case(told: dict[str, Any]) -> Iterator[str]:
    yield f"{told['id']}  ({told['strength']})"
    yield f"  {told['says']}"
    yield "\nclauses"
    for name in told["clauses"]:
        clause = clauses()[name]
        yield f"  {name}  ({clause.level}; {clause.section})"
        yield f"    {clause.text}"
    yield "\nasked"
    path = told["path"] or "the root"
    yield f"  {told['operation']} {path} of a store of format {told['zarr_format']}"
    if told["needs"]:
        yield f"  needs {', '.join(told['needs'])}"
    if "selection" in told:
        yield f"  selection {told['selection']}"
    if "document" in told:
        yield from _indented(told["document"], 2)
    yield "\nstore" if told["texts"] or told["stored"] else "\nstore: empty"
    for key, text in told["texts"].items():
        yield f"  {key}"
        yield from _indented(text, 4)
    for key, value in told["stored"].items():
        yield f"  {key}"
        yield f"    {_bytes(value)}"
    yield f"\nexpected: {OUTCOMES[told['outcome']]}"
    yield from _indented(told["expect"], 2)
    if "values" in told:
        values = told["values"]
        yield f"  elements: {values['text'] if 'text' in values else _bytes(values)}"
    yield "\nagain"
    yield f"  {command_for(told['id'], 'NAME')}"


def _indented(text: str, count: int) -> Iterator[str]:
    return (" " * count + line for line in text.splitlines())


def _bytes(value: dict[str, Any]) -> str:
    """The beginning of some bytes, four by four."""
    digits = value["head"]
    groups = " ".join(digits[n : n + 8] for n in range(0, len(digits), 8))
    more = " …" if 2 * value["bytes"] > len(digits) else ""
    return f"{value['bytes']} bytes: {groups}{more}"


def show_clauses(cases: Iterable[Case], names: Iterable[str]) -> str:
    """Clauses with the number of their cases: positive, negative, open."""
    covered = coverage(cases)
    lines = []
    for name in names:
        text = specifications()[name]
        mine = [covered[clause.id] for clause in text.clauses]
        lines.append(f"{text.title} ({name})\n  {text.url}")
        section = ""
        for it in mine:
            clause = it.clause
            if clause.section != section:
                section = clause.section
                lines.append(f"\n  {section}")
            counts = f"{len(it.positive)}+ {len(it.negative)}- {len(it.open)}?"
            told = counts if clause.judged else "not judged"
            gaps = f"  no {' and no '.join(it.gaps)} case" if it.gaps else ""
            lines.append(f"    {clause.level:<10} {clause.id}  [{told}]{gaps}")
            lines.append(f"               {clause.text}")
        judged = [it for it in mine if it.clause.judged]
        whole = sum(1 for it in judged if not it.gaps)
        lines.append(
            f"\n  {len(mine)} clauses, {len(judged)} of them judged, {whole} of these with all "
            "cases that they take (+ accepted, - refused, ? either)\n"
        )
    return plain("\n".join(lines))


def show_missing(cases: Iterable[Case], names: Iterable[str]) -> str:
    """Clauses with what no case shows of them, a line each: ``<clause> positive``."""
    wanted = set(names)
    found = coverage(cases).values()
    gaps = (f"{it.clause.id} {gap}" for it in found if it.clause.specification in wanted for gap in it.gaps)  # fmt: skip
    return "\n".join(sorted(gaps))
