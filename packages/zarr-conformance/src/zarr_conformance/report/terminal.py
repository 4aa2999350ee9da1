"""Text representations of cases and clauses."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from zarr_conformance.clauses.clause import clauses, specifications
from zarr_conformance.corpus.archive import as_json
from zarr_conformance.report.coverage import coverage
from zarr_conformance.report.results import HEAD
from zarr_conformance.report.summary import strength_of
from zarr_conformance.report.text import pretty_json, printable, truncate
from zarr_conformance.runner.protocol import case_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_conformance.corpus.case import Case, Values

_LONGEST = 4000

OUTCOMES = {
    "accept": "must succeed",
    "reject": "must raise an error",
    "either": "may raise an error; otherwise the result must be correct",
}


def show_case(case: Case) -> str:
    """Return a case as text: its store, the request, the expectation, how to run it."""
    return printable("\n".join(_case(case)))


def rerun_command(case: str, name: str, adapter: Sequence[str] = ()) -> str:
    """Return the command that runs one case; with an adapter that is not a bundled one, if given."""
    who = ["--command", shlex.join(adapter)] if adapter else ["--impl", name]
    return shlex.join(["zarr-conformance", "run", *who, "--only", case, "--verbose"])


def _case(case: Case) -> Iterator[str]:
    entry = as_json(case)
    expect = dict(entry["expect"])
    yield f"{case.id}  ({strength_of(case)})"
    yield f"  {case.summary}"
    yield "\nclauses"
    for name in case.clauses:
        clause = clauses()[name]
        yield f"  {name}  ({clause.level}; {clause.section})"
        yield f"    {clause.text}"
        yield f"    {specifications()[clause.specification].link(clause)}"
    yield "\nrequest"
    path = case.path or "the root"
    yield f"  {case.operation} {path} of a store of format {case.zarr_format}"
    if case.needs:
        yield f"  needs {', '.join(case.needs)}"
    if case.selection is not None:
        yield f"  selection {[list(part) for part in case.selection]}"
    request = {name: entry[name] for name in ("calls", "shape", "spelling") if name in entry}
    if case.document is not None or request:
        yield from _json(entry.get("document", request), 2)
    if case.elements is not None:
        yield f"  elements: {_elements(case.elements)}"
    yield "\nstore" if case.store else "\nstore: empty"
    for key, value in sorted(case.store.items()):
        yield f"  {key}"
        yield from _indented(_document(key, value) or _bytes(value), 4)
    yield f"\nexpected: {OUTCOMES[expect.pop('outcome')]}"
    values = case_values(case)
    expect.pop("values", None)
    if expect:
        yield from _json(expect, 2)
    if values is not None:
        yield f"  elements: {_elements(values)}"
    yield "\nrun"
    yield f"  {rerun_command(case.id, 'NAME')}"


def _json(value: Any, indent: int) -> Iterator[str]:
    return _indented(pretty_json(value), indent)


def _indented(text: str, count: int) -> Iterator[str]:
    return (" " * count + line for line in truncate(text, _LONGEST).splitlines())


def _document(key: str, value: bytes) -> str | None:
    """Return a metadata document as text, unformatted if formatting would lose details."""
    name = key.rpartition("/")[2]
    if not (name.endswith(".json") or name.startswith(".z")):
        return None
    try:
        text = value.decode()
        read = json.loads(text)
        if (
            json.dumps(read, ensure_ascii=False, indent=1).encode() != value
        ):  # duplicate members, white space, forms of numbers
            return text
        return pretty_json(read)
    except UnicodeDecodeError:
        return None
    except (ValueError, RecursionError):
        return text


def _elements(values: Values) -> str:
    return values.data.decode() if values.kind == "json" else _bytes(values.data)


def _bytes(value: bytes) -> str:
    """Return the length and the first bytes in groups of four."""
    groups = value[:HEAD].hex(" ", -4)
    return f"{len(value)} bytes: {groups}{' …' if len(value) > HEAD else ''}"


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
