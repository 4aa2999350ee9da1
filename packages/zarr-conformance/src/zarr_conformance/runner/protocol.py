"""Requests and responses of the adapter protocol."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either, Values
from zarr_conformance.evaluation.response import Response

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROTOCOL = 1
"""The version of the protocol; adapters that return none have version 1."""

CHANGES = ("update", "create", "write", "resize", "erase", "store")
"""Operations that change a store; they get a copy."""

READS = ("read", "resolve")
"""Operations that return elements."""

_DOCUMENTS = (".zarray", ".zgroup", ".zattrs", ".zmetadata")
_LARGEST = 64 << 20  # bytes of a file that are read; no case is that large


def write_store(case: Case, store: Path) -> None:
    """Write the store of a case to a new directory."""
    store.mkdir(parents=True)
    for key, value in case.store.items():
        file = store / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(value)


def written_values(case: Case) -> Values | None:
    """Return the elements that a case writes, if any."""
    return case.elements if case.operation == "write" else case_values(case)


def case_values(case: Case) -> Values | None:
    """Return the elements that a case reads, or all elements after it wrote, if any."""
    return case.expect.node.values if isinstance(case.expect, Accept | Either) else None


def create_request(case: Case, store: Path, into: Path, values: Path) -> dict[str, Any]:
    """Return the members of a request, without its id and operation.

    Parameters
    ----------
    case : Case
        The case.
    store : Path
        The directory store.
    into : Path
        The file for elements that are read.
    values : Path
        The file with elements to write.
    """
    request: dict[str, Any] = {
        "zarr_format": case.zarr_format,
        "store": str(store),
        "path": case.path,
    }
    if case.operation in READS:
        request["into"] = str(into)
    if case.operation in ("read", "write"):
        request["selection"] = case.selection
    if case.operation == "resolve":
        request["spelling"] = case.spelling
    if case.operation == "resize":
        request["shape"] = case.shape
    if case.operation == "update":
        request["attributes"] = {"harness": 1}
    if case.operation == "store":
        request["calls"] = [list(call) for call in case.calls]
    if case.operation == "create":
        request["document"] = case.document
    if case.operation in ("create", "write") and (elements := written_values(case)) is not None:
        request["values"] = str(values)
        request["kind"] = elements.kind
    return request


def parse_response(
    case: Case, reply: Mapping[str, Any], store: Path, into: Path, seconds: float
) -> Response:
    """Convert a response of the protocol, with the contents of the store.

    Parameters
    ----------
    case : Case
        The case.
    reply : mapping
        The response, with ``result`` or ``error``.
    store, into : Path
        As in the request.
    seconds : float
        The duration.
    """
    if "error" in reply:
        error = reply["error"]
        return Response(
            "memory" if error["type"] == "MemoryError" else "error",
            category=error["category"],
            message=f"{error['type']}: {error['message']}",
            seconds=seconds,
        )
    documents, stored = read_store(store) if case.operation in CHANGES else ({}, {})
    return Response(
        "result",
        result=reply["result"],
        values=_head(into) if into.is_file() else None,
        documents=documents,
        stored=stored,
        seconds=seconds,
    )


def read_store(store: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the metadata documents and all values in a directory store."""
    documents: dict[str, Any] = {}
    stored = {}
    for file in sorted(item for item in store.rglob("*") if item.is_file()):
        key = file.relative_to(store).as_posix()
        stored[key] = _head(file)
        if file.name in _DOCUMENTS or file.suffix == ".json":
            documents[key] = None
            with suppress(ValueError, RecursionError):
                documents[key] = json.loads(stored[key])
    return documents, stored


def recreate_store(case: Case, store: Path) -> None:
    """Write the store of a case, replacing an existing directory."""
    shutil.rmtree(store, ignore_errors=True)
    write_store(case, store)


def _head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(_LARGEST)
