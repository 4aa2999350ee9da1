"""The command ``run``: implementations are judged, results are told."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.adapters.known import KNOWN
from zarr_conformance.baseline import BaselineError, compare, read_baseline, write_baseline
from zarr_conformance.corpus.build import all_cases, as_json, build
from zarr_conformance.reporting.files import Files, write_files
from zarr_conformance.reporting.plain import plain, short
from zarr_conformance.reporting.results import Judged, judged, own_name
from zarr_conformance.reporting.summary import line
from zarr_conformance.running.choosing import chosen
from zarr_conformance.running.conversation import (
    AdapterDiedError,
    AdapterMemoryError,
    AdapterTimeoutError,
    Limits,
)
from zarr_conformance.running.progress import Progress
from zarr_conformance.running.run import Implementation, run
from zarr_conformance.running.usage import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from zarr_conformance.corpus.case import Case

_TOLD = 20  # failures of one implementation that are told without --verbose


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    add = parser.add_argument
    who = parser.add_argument_group("who is judged; any of these, as often as wanted")
    who.add_argument(
        "--impl", action="append", default=[], metavar="NAME",
        help=f"one of {', '.join(KNOWN)}; or all, for those that are installed",
    )  # fmt: skip
    who.add_argument(
        "--command", action="append", default=[], metavar="PROGRAM",
        help="an adapter, with its arguments in one word: 'node my-adapter.mjs'",
    )  # fmt: skip
    add("--corpus", type=Path, metavar="DIR", help="what the command build has made, not a new one")
    add("--jobs", type=int, default=_processors(), metavar="N", help="adapters at once (%(default)s)")  # fmt: skip
    add(
        "--only", action="append", default=[], metavar="TEXT",
        help="cases with this id, or whose ids or clauses have it in them; * and ? match",
    )  # fmt: skip
    limits = Limits()
    add("--seconds", type=float, default=limits.seconds, metavar="S", help="that a case may take (%(default)s)")  # fmt: skip
    add("--memory", type=int, default=limits.memory >> 20, metavar="M", help="MiB that it may have (%(default)s); 0 for no limit")  # fmt: skip
    add("--baseline", type=Path, metavar="F", help="failures that are known (TOML)")
    add("--write-baseline", type=Path, metavar="F", help="write what fails; reasons in F are kept")
    add("--verbose", action="store_true", help="tell every failure in full, and remarks")
    add_files(parser)


def add_files(parser: argparse.ArgumentParser) -> None:
    """Say which files can be asked for."""
    for name, what in Files.KINDS.items():
        parser.add_argument(f"--{name}", type=Path, metavar="F", help=what)


def run_command(asked: argparse.Namespace) -> int:
    """Judge implementations.

    Returns
    -------
    int
        0 if nothing fails that no baseline knows, and nothing of the baseline is repaired;
        1 if something does; 2 if something could not be done.
    """
    corpus = list(all_cases())
    by_id = {case.id: case for case in corpus}
    cases = chosen(corpus, asked.only)
    files = Files.asked(asked)
    implementations, missing = _implementations(asked)
    if not cases:
        raise UsageError(f"there is no case with {' or '.join(asked.only)} in it")
    baseline = _baseline(asked.baseline)
    before = _baseline(asked.write_baseline, there=False)
    limits = Limits(asked.seconds, asked.memory << 20)
    runs: list[Judged] = []
    status = 2 if missing else 0
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        place = _corpus(asked.corpus, corpus, cases, Path(folder) / "corpus")
        for implementation in implementations:
            done = _judged(implementation, place, cases, asked.jobs, limits)
            if done is None:
                status = 2
                continue
            compared = compare(own_name(done, runs), baseline, by_id)
            runs.append(compared.run)
            print(plain(line(compared.run, by_id)))
            _tell(compared.run, asked.verbose)
            for case in compared.repaired:
                print(plain(f"  {case}: does not fail any more; take it out of {asked.baseline}"))
            if compared.new or compared.repaired:
                status = max(status, 1)
    write_files(files, runs, corpus)
    if asked.write_baseline is not None:
        asked.write_baseline.write_text(write_baseline(runs, before), "utf-8")
        return status if status == 2 else 0
    return status


def _judged(
    implementation: Implementation, place: Path, cases: Sequence[Case], jobs: int, limits: Limits
) -> Judged | None:
    """What comes out for one implementation; None, told, if it cannot be started."""
    progress = Progress(implementation.name or "…", len(cases))
    try:
        done = run(implementation, place, cases, jobs, progress, limits)
    except (AdapterDiedError, AdapterTimeoutError, AdapterMemoryError) as error:
        name = implementation.name or shlex.join(implementation.command)
        print(plain(f"zarr-conformance: {name} cannot be asked: {error}"), file=sys.stderr)
        return None
    finally:
        progress.close()
    if not implementation.name:
        done = replace(done, name=str(done.capabilities["implementation"]))
    return judged(done, () if implementation.name in KNOWN else implementation.command)


def _tell(run: Judged, verbose: bool) -> None:
    wrong = [it for it in run.results if it.grade in ("fail", "crash") and not it.known]
    for result in wrong if verbose else wrong[:_TOLD]:
        reason = result.reason if verbose else short(result.reason.split("\n")[0], 160)
        print(plain(f"  {result.case}: {reason}"))
    if len(wrong) > _TOLD and not verbose:
        print(f"  … {len(wrong) - _TOLD} more; --verbose tells all of them, --html shows them")
    for result in run.results if verbose else ():
        if result.known or result.remark or result.grade == "unsupported":
            known = f"known: {result.known}" if result.known else ""
            told = known or result.remark or result.reason
            print(plain(f"  {result.case} ({result.grade}): {told}"))


def _implementations(asked: argparse.Namespace) -> tuple[list[Implementation], bool]:
    """Who is to be asked, whether somebody is not there."""
    found: list[Implementation] = []
    absent = False
    for name in asked.impl:
        if name == "all":
            there = [it for it in KNOWN.values() if not it.missing()]
            found += [Implementation(it.name, it.command()) for it in there]
        elif name not in KNOWN:
            raise UsageError(f"there is no adapter for {name!r}; there are {', '.join(KNOWN)}")
        elif reason := KNOWN[name].missing():
            absent = True
            print(f"zarr-conformance: {name} is not here: {reason}", file=sys.stderr)
        else:
            found.append(Implementation(name, KNOWN[name].command()))
    found += [Implementation("", shlex.split(command)) for command in asked.command]
    if not found and not absent:
        raise UsageError("say whom to judge: --impl NAME or --command PROGRAM")
    return found, absent


def _baseline(file: Path | None, there: bool = True) -> Any:
    if file is None or not (there or file.exists()):
        return {}
    try:
        return read_baseline(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, BaselineError) as error:
        raise UsageError(f"{file}: {error}") from error


def _corpus(given: Path | None, corpus: Sequence[Case], cases: Sequence[Case], new: Path) -> Path:
    """The folder of the corpus: the one that is given, or a new one."""
    if given is None:
        build(new, cases)
        return new
    try:
        listed = json.loads((given / "manifest.json").read_text("utf-8"))["cases"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{given} is no corpus: {type(error).__name__}: {error}") from error
    if listed != json.loads(json.dumps([as_json(case) for case in corpus])):
        raise UsageError(f"{given} is of another version; make one by: zarr-conformance build DIR")
    return given


def _processors() -> int:
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(8, there or 1))
