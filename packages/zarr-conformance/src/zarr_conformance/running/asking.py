"""What is asked for a case, what an answer says."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either, Values
from zarr_conformance.judging.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CHANGES = ("update", "create", "erase", "store")
"""Operations that change a store: they are given a copy."""

_DOCUMENTS = (".zarray", ".zgroup", ".zattrs", ".zmetadata")
_LARGEST = 64 << 20  # bytes of one answer that are looked at; no case is that large


def lay_down(case: Case, store: Path) -> None:
    """Make the store of a case, a directory that is not there yet."""
    store.mkdir(parents=True)
    for key, value in case.store.items():
        file = store / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(value)


def values_of(case: Case) -> Values | None:
    """Elements that are to be read or written, if the case says so."""
    return case.expect.node.values if isinstance(case.expect, Accept | Either) else None


def request(case: Case, store: Path, into: Path, values: Path) -> dict[str, Any]:
    """The members of a request, all but its number and the operation.

    Parameters
    ----------
    case : Case
        What is asked.
    store : Path
        The directory store.
    into : Path
        Where elements go that are read.
    values : Path
        Where elements are that are to be written.
    """
    asked: dict[str, Any] = {
        "zarr_format": case.zarr_format,
        "store": str(store),
        "path": case.path,
    }
    if case.operation == "read":
        asked["into"] = str(into)
        asked["selection"] = case.selection
    if case.operation == "update":
        asked["attributes"] = {"harness": 1}
    if case.operation == "store":
        asked["calls"] = [list(call) for call in case.calls]
    if case.operation == "create":
        asked["document"] = case.document
        if (elements := values_of(case)) is not None:
            asked["values"] = str(values)
            asked["kind"] = elements.kind
    return asked


def answer_of(
    case: Case, reply: Mapping[str, Any], store: Path, into: Path, seconds: float
) -> Answer:
    """What a reply of the protocol says, with what the store holds now.

    Parameters
    ----------
    case : Case
        What was asked.
    reply : mapping
        With ``result`` or ``error``.
    store, into : Path
        As in the request.
    seconds : float
        How long it took.
    """
    if "error" in reply:
        told = reply["error"]
        return Answer(
            "memory" if told["type"] == "MemoryError" else "error",
            category=told["category"],
            message=f"{told['type']}: {told['message']}",
            seconds=seconds,
        )
    documents, stored = content(store) if case.operation in CHANGES else ({}, {})
    return Answer(
        "result",
        result=reply["result"],
        values=_head(into) if into.is_file() else None,
        documents=documents,
        stored=stored,
        seconds=seconds,
    )


def content(store: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """JSON documents in a directory store, with all that it holds."""
    documents: dict[str, Any] = {}
    stored = {}
    for file in sorted(it for it in store.rglob("*") if it.is_file()):
        key = file.relative_to(store).as_posix()
        stored[key] = _head(file)
        if file.name in _DOCUMENTS or file.suffix == ".json":
            documents[key] = None
            with suppress(ValueError, RecursionError):
                documents[key] = json.loads(stored[key])
    return documents, stored


def fresh(case: Case, store: Path) -> None:
    """Lay the store of a case down anew, whatever is there."""
    shutil.rmtree(store, ignore_errors=True)
    lay_down(case, store)


def _head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(_LARGEST)
