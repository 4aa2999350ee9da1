"""The command ``check-adapter``: whether an adapter follows the protocol.

It checks the adapter, not the implementation: the form of responses, and mistakes of adapters that
look like failures of implementations.
"""

from __future__ import annotations

import json
import shlex
import shutil
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS, bundled_command
from zarr_conformance.report.text import printable, truncate
from zarr_conformance.runner.adapter_process import (
    AdapterDiedError,
    AdapterError,
    AdapterSession,
    Limits,
)
from zarr_conformance.runner.schema import message_problems

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

OPERATIONS = (
    *("open", "validate", "read", "resolve", "list", "update", "create", "write", "resize"),
    *("erase", "store"),
)
"""All operations of the protocol but ``capabilities``."""

_ODD_NAME = "a b#c%20é"
"""A name of a directory that is not a valid part of a URL."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check.

    Parameters
    ----------
    name : str
        What is checked.
    problem : str
        What is wrong; empty if nothing is.
    skipped : bool
        Whether the adapter does not support what is checked.
    """

    name: str
    problem: str = ""
    skipped: bool = False


class _NotSupportedError(Exception):
    """The adapter does not support an operation or format."""


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--impl", metavar="NAME", help=f"one of {', '.join(BUNDLED_ADAPTERS)}")
    who.add_argument("--command", metavar="PROGRAM", help="the command of an adapter")
    parser.add_argument(
        "--seconds", type=float, default=Limits().seconds, metavar="S",
        help="time limit for a response (%(default)s)",
    )  # fmt: skip


def check_command(args: argparse.Namespace) -> int:
    """Check an adapter and print the results; return 0 if it follows the protocol, otherwise 1."""
    command = shlex.split(args.command) if args.impl is None else bundled_command(args.impl)
    results = list(check_adapter(command, args.seconds))
    for result in results:
        state = "skip" if result.skipped else "FAIL" if result.problem else "ok"
        problem = f": {truncate(result.problem, 400)}" if result.problem else ""
        print(printable(f"{state:<5}{result.name}{problem}"))
    failed = sum(1 for result in results if result.problem and not result.skipped)
    print(f"{failed} of {len(results)} checks fail" if failed else "follows the protocol")
    return 1 if failed else 0


def check_adapter(command: Sequence[str], seconds: float) -> Iterator[Check]:
    """Check an adapter.

    Parameters
    ----------
    command : sequence of str
        Its command.
    seconds : float
        The time limit for a response.

    Yields
    ------
    Check
        The result of each check.
    """
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        session = _Session(command, Path(folder), seconds)
        try:
            yield session.run("capabilities", session.read_capabilities)
            if not session.capabilities:
                return
            for name, check in _CHECKS.items():
                yield session.run(name, lambda check=check: check(session))  # type: ignore[misc] # the default argument binds the check
        finally:
            session.close()


class _Session(AdapterSession):
    """A running adapter, with a folder for stores."""

    def __init__(self, command: Sequence[str], folder: Path, seconds: float) -> None:
        super().__init__(command, folder / "log", Limits(seconds))
        self.folder = folder
        self.capabilities: dict[str, Any] = {}

    def run(self, name: str, check: Callable[[], str]) -> Check:
        """Run a check, which returns what is wrong."""
        try:
            return Check(name, check())
        except _NotSupportedError as error:
            return Check(name, str(error), skipped=True)
        except AdapterError as error:
            return Check(name, str(error))

    def read_capabilities(self) -> str:
        """Return what is wrong with the capabilities."""
        response = self.start()
        capabilities = response.get("result", {})
        problems = message_problems("result-capabilities", capabilities)
        problems += [
            f"unknown operation {operation!r}"
            for operation in capabilities.get("operations", ())
            if operation not in (*OPERATIONS, "capabilities")
        ]
        if "error" in response:
            return f"error: {response['error']}"
        if {"formats", "operations"} <= capabilities.keys():
            self.capabilities = capabilities
        return "; ".join(problems)

    def on(self, operation: str, store: Path, path: str = "", **arguments: Any) -> dict[str, Any]:
        """Return the response to a request for a node of format 3 or 2."""
        if operation not in self.capabilities["operations"]:
            raise _NotSupportedError(f"{operation} is not supported")
        response = self.request(
            operation, zarr_format=self.format, store=str(store), path=path, **arguments
        )
        result = response.get("result")
        known = operation in OPERATIONS
        if "error" in response:
            problems = message_problems("error", response["error"])
        else:
            problems = message_problems(f"result-{operation}", result) if known else []
        if problems:
            raise AdapterDiedError(f"invalid response to {operation}: {'; '.join(problems)}")
        return response

    @property
    def format(self) -> int:
        """The newest format that the adapter supports of 3 and 2."""
        supported = [item for item in (3, 2) if item in self.capabilities["formats"]]
        if not supported:
            raise _NotSupportedError("neither format 3 nor 2 is supported")
        return supported[0]

    def store(self, values: list[int], name: str = "store", big: bool = False) -> Path:
        """Write an array of shape (n,) and the data type int16 in chunks of 2."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        order = ">" if big else "<"
        chunks = [struct.pack(f"{order}2h", *values[n : n + 2]) for n in range(0, len(values), 2)]
        if self.format == 3:
            document = {
                "zarr_format": 3,
                "node_type": "array",
                "shape": [len(values)],
                "data_type": "int16",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                "fill_value": 0,
                "codecs": [
                    {"name": "bytes", "configuration": {"endian": "big" if big else "little"}}
                ],
                "attributes": {"values": values},
            }
            files = {"zarr.json": json.dumps(document).encode()}
            files |= {f"c/{n}": chunk for n, chunk in enumerate(chunks)}
        else:
            document = {
                "zarr_format": 2, "shape": [len(values)], "chunks": [2], "dtype": f"{order}i2",
                "compressor": None, "filters": None, "fill_value": 0, "order": "C",
            }  # fmt: skip
            files = {".zarray": json.dumps(document).encode()}
            files |= {str(n): chunk for n, chunk in enumerate(chunks)}
        for key, value in files.items():
            (folder / key).parent.mkdir(parents=True, exist_ok=True)
            (folder / key).write_bytes(value)
        return folder

    def elements(self, store: Path, **arguments: Any) -> tuple[int, ...]:
        """Read elements and return them."""
        into = self.folder / "into"
        into.unlink(missing_ok=True)
        response = self.on("read", store, into=str(into), **arguments)
        if "error" in response:
            raise AdapterDiedError(f"read: {response['error']}")
        if response["result"]["kind"] != "raw":
            raise AdapterDiedError("read: kind is not 'raw' for elements of fixed size")
        if not into.is_file():
            raise AdapterDiedError("read: the file 'into' was not written")
        data = into.read_bytes()
        if len(data) % 2:
            raise AdapterDiedError(f"read: {len(data)} bytes for elements of 2 bytes")
        return struct.unpack(f"<{len(data) // 2}h", data)


def _expect(actual: Any, expected: Any) -> str:
    return "" if actual == expected else f"{actual!r} instead of {expected!r}"


def _opens(session: _Session) -> str:
    response = session.on("open", session.store([1, 2, 3, 4]))
    if "error" in response:
        return f"a valid array is an error: {response['error']}"
    result = response["result"]
    return _expect(result["node_type"], "array") or _expect(result.get("shape", [4]), [4])


def _reads(session: _Session) -> str:
    return _expect(session.elements(session.store([1, -2, 300, 4])), (1, -2, 300, 4))


def _reads_little_endian(session: _Session) -> str:
    return _expect(session.elements(session.store([1, -2, 300, 4], big=True)), (1, -2, 300, 4))


def _selects(session: _Session) -> str:
    store = session.store([1, 2, 3, 4])
    return _expect(session.elements(store, selection=[[1, 3, 1]]), (2, 3)) or _expect(
        session.elements(store, selection=None), (1, 2, 3, 4)
    )


def _keeps_no_state(session: _Session) -> str:
    first = session.elements(session.store([1, 2]))
    second = session.elements(session.store([5, 6, 7, 8]))
    return _expect(first, (1, 2)) or _expect(second, (5, 6, 7, 8))


def _opens_odd_directories(session: _Session) -> str:
    return _expect(session.elements(session.store([1, 2], _ODD_NAME)), (1, 2))


def _reports_missing_nodes(session: _Session) -> str:
    folder = session.folder / "empty"
    folder.mkdir(exist_ok=True)
    for path in ("", "no/such/node"):
        if "result" in session.on("open", folder, path):
            return f"opening the node {path!r}, which does not exist, is not an error"
    return _expect(list(folder.iterdir()), [])


def _rejects_unknown_operations(session: _Session) -> str:
    response = session.request("no-such-operation")
    if "result" in response:
        return "an unknown operation is not an error"
    return _expect(response["error"]["category"], "unsupported")


def _changes_nothing_on_reading(session: _Session) -> str:
    store = session.store([1, 2])
    before = {item: item.read_bytes() for item in store.rglob("*") if item.is_file()}
    session.on("open", store)
    session.elements(store)
    return _expect({item: item.read_bytes() for item in store.rglob("*") if item.is_file()}, before)


def _survives_deep_attributes(session: _Session) -> str:
    """Check that the response is valid, and the next one too, whatever the adapter responds."""
    if session.format != 3:
        raise _NotSupportedError("format 3 is not supported")
    store = session.store([1, 2])
    document = json.loads((store / "zarr.json").read_bytes())
    deep = "[" * 5000 + "]" * 5000
    text = json.dumps(document | {"attributes": {"deep": "@"}}).replace('"@"', deep)
    (store / "zarr.json").write_text(text)
    session.on("open", store)
    return _opens(session)


def _writes(session: _Session) -> str:
    store = session.store([1, 2, 3, 4])
    values = session.folder / "values"
    values.write_bytes(struct.pack("<2h", -5, -6))
    response = session.on(
        "write", store, selection=[[1, 3, 1]], values=str(values), kind="raw"
    )  # fmt: skip
    if "error" in response:
        return f"writing to a valid array is an error: {response['error']}"
    return _expect(session.elements(store), (1, -5, -6, 4))


def _resizes(session: _Session) -> str:
    store = session.store([1, 2, 3, 4])
    response = session.on("resize", store, shape=[6])
    if "error" in response:
        return f"resizing a valid array is an error: {response['error']}"
    return _expect(session.elements(store), (1, 2, 3, 4, 0, 0))


_CHECKS: dict[str, Callable[[_Session], str]] = {
    "opens an array": _opens,
    "reads an array": _reads,
    "returns elements in little-endian order": _reads_little_endian,
    "applies a selection": _selects,
    "keeps no state between requests": _keeps_no_state,
    "accepts any name of a directory": _opens_odd_directories,
    "reports missing nodes": _reports_missing_nodes,
    "rejects unknown operations": _rejects_unknown_operations,
    "changes nothing on reading": _changes_nothing_on_reading,
    "responds to deeply nested attributes": _survives_deep_attributes,
    "writes a part of an array": _writes,
    "resizes an array": _resizes,
}
