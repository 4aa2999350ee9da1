"""The command ``run``: test implementations and print the results."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS
from zarr_conformance.baseline import BaselineError, compare, read_baseline, write_baseline
from zarr_conformance.corpus.archive import CorpusError, read_corpus, write_folder
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.errors import UsageError
from zarr_conformance.report.files import Files, write_files
from zarr_conformance.report.results import ImplementationResults, collect_results, with_unique_name
from zarr_conformance.report.summary import NOTHING_ACCEPTED, summary, summary_line
from zarr_conformance.report.text import printable, truncate
from zarr_conformance.runner.adapter_process import AdapterError, Limits
from zarr_conformance.runner.case_filter import select_cases
from zarr_conformance.runner.progress import Progress
from zarr_conformance.runner.run import Implementation, run

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from zarr_conformance.corpus.case import Case

_PRINTED = 20  # failures of one implementation that are printed without --verbose


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    who = parser.add_argument_group("implementations; each option can be repeated")
    who.add_argument(
        "--impl", action="append", default=[], metavar="NAME",
        help=f"one of {', '.join(BUNDLED_ADAPTERS)}; or all, for all that are installed",
    )  # fmt: skip
    who.add_argument(
        "--command", action="append", default=[], metavar="PROGRAM",
        help="the command of an adapter, as one argument: 'node my-adapter.mjs'",
    )  # fmt: skip
    add_corpus(parser)
    add("--jobs", type=int, default=_processors(), metavar="N", help="number of adapter processes (%(default)s)")  # fmt: skip
    add(
        "--only", action="append", default=[], metavar="TEXT",
        help="only cases with this text in their id or clauses; * and ? match any characters",
    )  # fmt: skip
    limits = Limits()
    add("--seconds", type=float, default=limits.seconds, metavar="S", help="time limit for a case (%(default)s)")  # fmt: skip
    add("--memory", type=int, default=limits.memory >> 20, metavar="M", help="memory limit in MiB (%(default)s); 0 for no limit")  # fmt: skip
    add("--baseline", type=Path, metavar="F", help="known failures (TOML)")
    add(
        "--write-baseline",
        type=Path,
        metavar="F",
        help="write the failures to F; existing reasons are kept",
    )
    add("--verbose", action="store_true", help="print all failures completely, and remarks")
    add_files(parser)


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the corpus."""
    parser.add_argument(
        "--corpus", type=Path, metavar="PATH",
        help="a directory or archive that the command build wrote; default: the own corpus",
    )  # fmt: skip


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for output files."""
    for name, what in Files.KINDS.items():
        parser.add_argument(f"--{name}", type=Path, metavar="F", help=what)


def run_command(args: argparse.Namespace) -> int:
    """Test implementations.

    Returns
    -------
    int
        0 if the results match the baseline; 1 for new failures, for baseline entries that no
        longer fail, or if no valid data is accepted; 2 if an implementation could not be tested.
    """
    corpus = read_cases(args.corpus)
    by_id = {case.id: case for case in corpus}
    cases = select_cases(corpus, args.only)
    files = Files.from_arguments(args)
    implementations, missing = _implementations(args)
    if not cases:
        raise UsageError(f"no case matches {' or '.join(args.only)}")
    baseline = _baseline(args.baseline)
    before = _baseline(args.write_baseline, required=False)
    limits = Limits(args.seconds, args.memory << 20)
    runs: list[ImplementationResults] = []
    status = 2 if missing else 0
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        corpus_path = Path(folder) / "corpus"
        write_folder(corpus_path, cases)
        for implementation in implementations:
            done = _test(implementation, corpus_path, cases, args.jobs, limits)
            if done is None:
                status = 2
                continue
            compared = compare(with_unique_name(done, runs), baseline, by_id)
            runs.append(compared.run)
            print(printable(summary_line(compared.run, by_id)))
            _print_failures(compared.run, args.verbose)
            for case in compared.repaired:
                print(printable(f"  {case}: no longer fails; remove it from {args.baseline}"))
            nothing = summary(compared.run, by_id).accepts_nothing
            if nothing:
                print(f"  {NOTHING_ACCEPTED}")
            if compared.new or compared.repaired or nothing:
                status = max(status, 1)
    write_files(files, runs, corpus)
    if args.write_baseline is not None:
        args.write_baseline.write_text(write_baseline(runs, before), "utf-8")
        return status if status == 2 else 0
    return status


def _test(
    implementation: Implementation, corpus: Path, cases: Sequence[Case], jobs: int, limits: Limits
) -> ImplementationResults | None:
    """Test one implementation; print an error and return None if it cannot be started."""
    progress = Progress(implementation.name or "…", len(cases))
    try:
        done = run(implementation, corpus, cases, jobs, progress, limits)
    except AdapterError as error:
        name = implementation.name or shlex.join(implementation.command)
        print(printable(f"zarr-conformance: {name} failed: {error}"), file=sys.stderr)
        return None
    finally:
        progress.close()
    if not implementation.name:
        done = replace(done, name=str(done.capabilities["implementation"]))
    return collect_results(
        done, () if implementation.name in BUNDLED_ADAPTERS else implementation.command
    )


def _print_failures(run: ImplementationResults, verbose: bool) -> None:
    wrong = [item for item in run.results if item.grade in ("fail", "crash") and not item.known]
    for result in wrong if verbose else wrong[:_PRINTED]:
        reason = result.reason if verbose else truncate(result.reason.split("\n")[0], 160)
        print(printable(f"  {result.case}: {reason}"))
    if len(wrong) > _PRINTED and not verbose:
        print(f"  … {len(wrong) - _PRINTED} more; --verbose prints all, --html shows them")
    for result in run.results if verbose else ():
        if result.known or result.remark or result.grade == "unsupported":
            known = f"known: {result.known}" if result.known else ""
            note = known or result.remark or result.reason
            print(printable(f"  {result.case} ({result.grade}): {note}"))


def _implementations(args: argparse.Namespace) -> tuple[list[Implementation], bool]:
    """Return the implementations to test, and whether any is not installed."""
    implementations: list[Implementation] = []
    absent = False
    for name in args.impl:
        if name == "all":
            installed = [adapter for adapter in BUNDLED_ADAPTERS.values() if not adapter.missing()]
            implementations += [Implementation(item.name, item.command()) for item in installed]
        elif name not in BUNDLED_ADAPTERS:
            raise UsageError(f"no adapter for {name!r}; available: {', '.join(BUNDLED_ADAPTERS)}")
        elif reason := BUNDLED_ADAPTERS[name].missing():
            absent = True
            print(f"zarr-conformance: {name} is not available: {reason}", file=sys.stderr)
        else:
            implementations.append(Implementation(name, BUNDLED_ADAPTERS[name].command()))
    implementations += [Implementation("", shlex.split(command)) for command in args.command]
    if not implementations and not absent:
        raise UsageError("no implementation; pass --impl NAME or --command PROGRAM")
    return implementations, absent


def _baseline(file: Path | None, required: bool = True) -> Any:
    if file is None or not (required or file.exists()):
        return {}
    try:
        return read_baseline(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, BaselineError) as error:
        raise UsageError(f"{file}: {error}") from error


def read_cases(corpus: Path | None) -> list[Case]:
    """Return the cases of a corpus: of a directory or an archive, or the own ones.

    Raises
    ------
    UsageError
        If it is not a corpus.
    """
    if corpus is None:
        return list(all_cases())
    try:
        return list(read_corpus(corpus).cases)
    except CorpusError as error:
        raise UsageError(str(error)) from error


def _processors() -> int:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(8, count or 1))
