"""Adapters with one planted fault each, and the search for a case that finds it.

A fault changes what an implementation without it has read or written: the store before an
operation (a reader that accepts too much), the store after an operation (a writer that writes
something else), or the reported result.  The faults therefore do not depend on the code of the
implementation, and each can be as narrow as the clause that it violates.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.adapters.zarr_core import ZarrCore
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Reject
from zarr_conformance.evaluation.evaluate import evaluate
from zarr_conformance.evaluation.response import Response
from zarr_conformance.runner.in_process import capabilities_of, run_case
from zarr_conformance.runner.protocol import create_request, read_store, write_store, written_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

READING = ("open", "read", "list", "validate")
DOCUMENTS = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")

CASES = tuple(all_cases())
BY_ID = {case.id: case for case in CASES}
WRITER = ZarrCore()
CAPABILITIES = capabilities_of(WRITER)


class Stored(dict):
    """The values of a directory store by their keys, with what faults need."""

    def documents(self, *names):
        """Yield the keys and contents of the metadata documents with these names."""
        for key in sorted(self):
            if is_document(key) and key.rpartition("/")[2].endswith(names or (*DOCUMENTS, ".json")):
                try:
                    document = json.loads(self[key])
                except (ValueError, RecursionError):
                    continue
                if isinstance(document, dict):
                    yield key, document

    def put(self, key, document):
        self[key] = json.dumps(document).encode()

    def chunks(self):
        return [key for key in sorted(self) if not is_document(key)]


def is_document(key):
    name = key.rpartition("/")[2]
    return name in DOCUMENTS or name.endswith((".array.json", ".group.json", ".meta"))


@dataclass(frozen=True)
class Fault:
    """A planted fault.

    Parameters
    ----------
    name : str
        A unique name, which says what is wrong.
    hint : str
        A part of the ids of cases that are tried first.
    before, after : callable, optional
        Called with the store and the request; change the store before or after the operation.
    result : callable, optional
        Called with the result and the elements of an operation that reads; returns both.
    operations : tuple of str
        The operations that the fault affects.
    """

    name: str
    hint: str = ""
    before: Callable[[Stored, Mapping[str, Any]], None] | None = None
    after: Callable[[Stored, Mapping[str, Any]], None] | None = None
    result: Callable[..., Any] | None = None
    operations: tuple[str, ...] = READING


@dataclass(frozen=True)
class Written:
    """The request of a case that changes a store, and the store after the operation."""

    request: dict[str, Any]
    stored: Stored


@cache
def written(name):
    """Run a case that changes a store, once for all faults; None if it does not succeed."""
    case = BY_ID[name]
    with tempfile.TemporaryDirectory() as folder:
        store, values = Path(folder) / "store", Path(folder) / "values"
        write_store(case, store)
        if (elements := written_values(case)) is not None:
            values.write_bytes(elements.data)
        request = create_request(case, store, Path(folder) / "into", values)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reply = WRITER.respond({"id": 1, "operation": case.operation, **request})
        if "result" not in reply:
            return None
        _, stored = read_store(store)
        request["stored_before"] = Stored(case.store)
        return Written(request, Stored(stored))


class FaultyReader(ZarrCore):
    """zarr-core with one fault in reading."""

    def __init__(self, fault):
        self.fault = fault

    def _execute(self, request):
        result = super()._execute(request)
        if self.fault.result and request["operation"] in ("open", "list"):
            result = self.fault.result(result, None)[0]
        return result

    def read(self, request):
        told, elements = super().read(request)
        return self.fault.result(told, elements) if self.fault.result else (told, elements)


# --- changes of a metadata document or of a configuration: functions that return another one ---


def without(document, *names):
    return {name: value for name, value in document.items() if name not in names}


def drop(*names):
    return lambda document: without(document, *names)


def put(**members):
    return lambda document: {**document, **members}


def replace(**members):
    """Replace members that exist."""
    return lambda document: (
        document | {name: value for name, value in members.items() if name in document}
    )


def change(member, function):
    """Replace a member, unless it is missing or null, by a function of it."""
    return lambda document: (
        document
        if document.get(member) is None
        else {**document, member: function(document[member])}
    )


def when(condition, function):
    return lambda document: function(document) if condition(document) else document


def configured(name, function, member="codecs"):
    """Change the configuration of an extension, at any depth of a member."""

    def walk(item):
        if isinstance(item, list):
            return [walk(value) for value in item]
        if isinstance(item, dict):
            item = {key: walk(value) for key, value in item.items()}
            if item.get("name") == name:
                return {**item, "configuration": function(item.get("configuration", {}))}
        return item

    return change(member, walk)


def each(function):
    return lambda values: [function(value) for value in values]


def scalar(kind, function):
    """Change values of exactly this type."""
    return lambda value: function(value) if type(value) is kind else value


def flip(values):
    return values[::-1]


def replaced(texts):
    """Replace strings by others."""
    return lambda value: texts.get(value, value) if isinstance(value, str) else value


# --- the search for a case that finds a fault ---


def is_found(fault):
    """Whether a case finds a fault; the cases with its hint are tried first."""
    mine = (case for case in CASES if case.operation in fault.operations)
    return any(finds(case, fault) for case in sorted(mine, key=lambda it: fault.hint not in it.id))


def finds(case, fault):
    """Whether a case fails because of a fault."""
    return _finds_in_writing(case, fault) if fault.after else _finds_in_reading(case, fault)


def _finds_in_writing(case, fault):
    if case.operation == "store" or refuses(case) or (done := written(case.id)) is None:
        return False
    stored = Stored(done.stored)
    fault.after(stored, done.request)
    if stored == done.stored:
        return False
    response = Response("result", documents=dict(stored.documents()), stored=dict(stored))
    return evaluate(case, response).grade == "fail"


def _finds_in_reading(case, fault):
    if fault.before:
        store = Stored(case.store)
        fault.before(store, {"path": case.path, "zarr_format": case.zarr_format})
        if store == case.store:
            return False
        case = dataclasses.replace(case, store=dict(store))
    verdict = run_case(case, FaultyReader(fault), CAPABILITIES).verdict
    return verdict.grade in ("fail", "crash")


def refuses(case):
    return isinstance(case.expect, Reject)
