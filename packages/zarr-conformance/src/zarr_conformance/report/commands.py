"""The commands that do not run implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS
from zarr_conformance.clauses.clause import specifications
from zarr_conformance.corpus.archive import corpus_version
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.errors import UsageError
from zarr_conformance.report.files import Files, read_results, write_files
from zarr_conformance.report.summary import summary_line
from zarr_conformance.report.terminal import show_case, show_clauses
from zarr_conformance.report.text import printable
from zarr_conformance.runner.case_filter import select_cases
from zarr_conformance.runner.protocol import write_store
from zarr_conformance.runner.run_command import read_cases

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_LISTED = 50


def _build(args: argparse.Namespace) -> int:
    try:
        target = args.target
        if "{version}" in target.name:
            name = target.name.replace("{version}", corpus_version(all_cases()))
            target = target.with_name(name)
        count = build(target)
    except OSError as error:
        raise UsageError(str(error)) from error
    print(f"{count} cases in {target}")
    return 0


def _show(args: argparse.Namespace) -> int:
    cases = select_cases(all_cases(), [args.case])
    if not cases:
        raise UsageError(f"no case matches {args.case}")
    if len(cases) > 1:
        for case in cases[:_LISTED]:
            print(f"{case.id}\n  {printable(case.summary)}")
        if len(cases) > _LISTED:
            print(f"… {len(cases) - _LISTED} more")
        return 0
    print(show_case(cases[0]))
    if args.store is not None:
        if args.store.exists():
            raise UsageError(f"{args.store} already exists")
        write_store(cases[0], args.store)
        print(f"\nstore written to {args.store}")
    return 0


def _clauses(args: argparse.Namespace) -> int:
    name = args.specification
    if name is not None and name not in specifications():
        raise UsageError(
            f"unknown specification {name!r}; expected one of {', '.join(specifications())}"
        )
    names = [name] if name else list(specifications())
    print(show_clauses(all_cases(), names))
    return 0


def _implementations(_: argparse.Namespace) -> int:
    for adapter in BUNDLED_ADAPTERS.values():
        print(f"{adapter.name:<16} {adapter.missing() or 'installed'}")
    return 0


def _report(args: argparse.Namespace) -> int:
    corpus = read_cases(args.corpus)
    by_id = {case.id: case for case in corpus}
    runs = read_results(args.results, corpus)
    for run in runs:
        print(printable(summary_line(run, by_id)))
    write_files(Files.from_arguments(args), runs, corpus)
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "implementations": _implementations,
    "build": _build,
    "show": _show,
    "clauses": _clauses,
    "report": _report,
}
"""The functions of the commands."""
