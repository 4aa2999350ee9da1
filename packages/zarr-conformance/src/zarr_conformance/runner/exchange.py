"""The command ``exchange``: what one implementation writes, read by each other one.

Each writer creates the arrays of the cases that write elements, in both versions.  Each reader reads
all arrays that were created.  Every element must be that of the case.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS, bundled_command
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Accept, Case
from zarr_conformance.evaluation.evaluate import same_values
from zarr_conformance.report.text import printable, truncate
from zarr_conformance.runner.adapter_process import AdapterError, AdapterSession, Limits
from zarr_conformance.runner.case_filter import select_cases
from zarr_conformance.runner.protocol import case_values, create_request

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

VERSION = 1
"""The version of the form of the JSON file."""

OUTCOMES = ("same", "wrong", "refused", "unsupported", "crash")
"""What a reader makes of an array: the same elements, others, an error, an unsupported operation,
format or extension, or a crash."""


LOSSY = {
    *("bitround", "cast_value", "packbits", "scale_offset", "zfp"),
    *("numcodecs.bitround", "numcodecs.fixedscaleoffset", "numcodecs.packbits", "numcodecs.zfpy"),
}
"""Codecs that may change elements, so that what is read need not be what was written."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The results of one writer and one reader.

    Parameters
    ----------
    writer, reader : str
        Their names.
    outcomes : Counter of str
        The number of arrays by their outcome.
    differences : dict of str to str
        What is wrong, by the id of the case.
    """

    writer: str
    reader: str
    outcomes: Counter[str] = field(default_factory=Counter)
    differences: dict[str, str] = field(default_factory=dict)


def add_exchange_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "--impl", action="append", default=[], metavar="NAME",
        help="an implementation that writes and reads; default: all that are installed",
    )  # fmt: skip
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT", help="only these cases, as for run"
    )
    parser.add_argument("--json", type=Path, metavar="F", help="write the results as JSON")


def exchange_command(args: argparse.Namespace) -> int:
    """Exchange arrays between implementations; return 0 if all that are read are the same."""
    names = args.impl or [
        adapter.name for adapter in BUNDLED_ADAPTERS.values() if not adapter.missing()
    ]
    commands = {name: bundled_command(name) for name in names}
    versions, pairs = exchange(commands, written_cases(select_cases(all_cases(), args.only)))
    for pair in pairs:
        counts = ", ".join(
            f"{outcome}: {pair.outcomes[outcome]}" for outcome in OUTCOMES if pair.outcomes[outcome]
        )
        print(f"{pair.writer} -> {pair.reader}: {counts or 'nothing written'}")
        for case, problem in pair.differences.items():
            print(printable(f"  {case}: {truncate(problem, 160)}"))
    if args.json is not None:
        args.json.write_text(json.dumps(as_json(versions, pairs), indent=1) + "\n", "utf-8")
    wrong = any(pair.outcomes[kind] for pair in pairs for kind in ("wrong", "refused", "crash"))
    return 1 if wrong else 0


def as_json(versions: dict[str, str], pairs: Iterable[Pair]) -> dict[str, Any]:
    """Return the results as JSON."""
    return {
        "version": VERSION,
        "implementations": versions,
        "pairs": [
            {
                "writer": pair.writer,
                "reader": pair.reader,
                "outcomes": dict(sorted(pair.outcomes.items())),
                "differences": {
                    case: truncate(why, 200) for case, why in pair.differences.items()
                },
            }
            for pair in pairs
        ],
    }  # fmt: skip


def written_cases(cases: Iterable[Case]) -> list[Case]:
    """Return the cases that create an array with elements in an empty store, without loss."""
    return [
        case
        for case in cases
        if case.operation == "create"
        and isinstance(case.expect, Accept)
        and case_values(case) is not None
        and not case.store
        and not _codec_names(case.document) & LOSSY
    ]


def _codec_names(document: Any) -> set[str]:
    codecs = document.get("codecs", ()) if isinstance(document, dict) else ()
    return {
        codec["name"] if isinstance(codec, dict) and "name" in codec else str(codec)
        for codec in codecs
    }


def exchange(
    commands: Mapping[str, Sequence[str]], cases: Sequence[Case]
) -> tuple[dict[str, str], list[Pair]]:
    """Exchange arrays between implementations.

    Parameters
    ----------
    commands : mapping of str to sequence of str
        The commands of the adapters, by the names of the implementations.
    cases : sequence of Case
        The cases, as returned by :func:`written_cases`.

    Returns
    -------
    tuple
        The versions of the implementations by name, and the results of all pairs.
    """
    pairs: list[Pair] = []
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        sessions = {
            name: _Session(command, Path(folder) / f"log-{n}")
            for n, (name, command) in enumerate(commands.items())
        }
        try:
            for writer in sessions:
                written = _write(sessions[writer], cases, Path(folder) / "stores")
                pairs += [
                    _read(writer, reader, session, written, Path(folder))
                    for reader, session in sessions.items()
                ]
                shutil.rmtree(Path(folder) / "stores", ignore_errors=True)
            versions = {
                name: str(session.capabilities["version"]) for name, session in sessions.items()
            }
        finally:
            for session in sessions.values():
                session.close()
    return versions, pairs


def _write(session: _Session, cases: Sequence[Case], folder: Path) -> dict[Path, Case]:
    """Create the arrays of all cases that the writer supports."""
    written = {}
    for number, case in enumerate(cases):
        store, values = folder / str(number), folder / f"{number}.values"
        store.mkdir(parents=True)
        elements = case_values(case)
        assert elements is not None
        values.write_bytes(elements.data)
        request = create_request(case, store, folder / "into", values)
        if session.supports("create", case) and "result" in session.request("create", **request):
            written[store] = case
    return written


def _read(
    writer: str, reader: str, session: _Session, written: dict[Path, Case], folder: Path
) -> Pair:
    """Read all arrays of a writer."""
    pair = Pair(writer, reader)
    into = folder / "into"
    for store, case in written.items():
        outcome, problem = _compare(session, case, store, into)
        pair.outcomes[outcome] += 1
        if problem and outcome != "unsupported":
            pair.differences[case.id] = truncate(" ".join(problem.split()), 84)
    return pair


def _compare(session: _Session, case: Case, store: Path, into: Path) -> tuple[str, str]:
    if not session.supports("read", case):
        return "unsupported", ""
    into.unlink(missing_ok=True)
    request = {"zarr_format": case.zarr_format, "store": str(store), "path": case.path}
    reply = session.request("read", **request, into=str(into), selection=None)
    if "error" in reply:
        category = reply["error"]["category"]
        kind = {"extension": "unsupported", "unsupported": "unsupported", "crash": "crash"}
        return kind.get(
            category, "refused"
        ), f"{reply['error']['type']}: {reply['error']['message']}"
    expected = case_values(case)
    assert expected is not None
    if not into.is_file():
        return "crash", "the file of the elements was not written"
    return ("same", "") if same_values(expected, into.read_bytes()) else ("wrong", "other elements")


class _Session(AdapterSession):
    """A running adapter, whose crashes are errors of the category ``crash``."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        super().__init__(command, log, Limits())
        self.capabilities: dict[str, Any] = self.start()["result"]

    def supports(self, operation: str, case: Case) -> bool:
        """Return whether the adapter supports an operation in the format of a case."""
        can = self.capabilities
        return operation in can["operations"] and case.zarr_format in can["formats"]

    def request(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Return the response, also for a crash."""
        try:
            return super().request(operation, **arguments)
        except AdapterError as error:
            details = {"category": "crash", "type": type(error).__name__, "message": str(error)}
            return {"error": details}
