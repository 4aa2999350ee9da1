"""The commands that ask no implementation: what there is, what has come out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_conformance.adapters.known import KNOWN
from zarr_conformance.clauses.clause import specifications
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.reporting.files import Files, read_results, write_files
from zarr_conformance.reporting.plain import plain
from zarr_conformance.reporting.showing import show_case, show_clauses, show_missing
from zarr_conformance.reporting.summary import line
from zarr_conformance.running.asking import lay_down
from zarr_conformance.running.choosing import chosen
from zarr_conformance.running.usage import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_LISTED = 50


def _build(asked: argparse.Namespace) -> int:
    try:
        count = build(asked.folder)
    except OSError as error:
        raise UsageError(str(error)) from error
    print(f"{count} cases in {asked.folder}")
    return 0


def _show(asked: argparse.Namespace) -> int:
    found = chosen(all_cases(), [asked.case])
    if not found:
        raise UsageError(f"there is no case {asked.case}")
    if len(found) > 1:
        for case in found[:_LISTED]:
            print(f"{case.id}\n  {plain(case.says)}")
        if len(found) > _LISTED:
            print(f"… {len(found) - _LISTED} more")
        return 0
    print(show_case(found[0]))
    if asked.store is not None:
        if asked.store.exists():
            raise UsageError(f"{asked.store} is there already")
        lay_down(found[0], asked.store)
        print(f"\nstore laid down in {asked.store}")
    return 0


def _clauses(asked: argparse.Namespace) -> int:
    name = asked.specification
    if name is not None and name not in specifications():
        raise UsageError(f"there is no {name!r}; there are {', '.join(specifications())}")
    names = [name] if name else list(specifications())
    print((show_missing if asked.missing else show_clauses)(all_cases(), names))
    return 0


def _implementations(_: argparse.Namespace) -> int:
    for known in KNOWN.values():
        print(f"{known.name:<16} {known.missing() or 'here'}")
    return 0


def _report(asked: argparse.Namespace) -> int:
    corpus = list(all_cases())
    by_id = {case.id: case for case in corpus}
    runs = read_results(asked.results, corpus)
    for run in runs:
        print(plain(line(run, by_id)))
    write_files(Files.asked(asked), runs, corpus)
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "implementations": _implementations,
    "build": _build,
    "show": _show,
    "clauses": _clauses,
    "report": _report,
}
"""What runs each of them."""
