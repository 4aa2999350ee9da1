"""Putting every case to one implementation."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Accept, Case, Either
from zarr_conformance.judging.answer import Answer, Verdict
from zarr_conformance.judging.judge import judge
from zarr_conformance.running.conversation import (
    AdapterDiedError,
    AdapterTimeoutError,
    Conversation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SECONDS = 20.0
"""What one case may take."""

MEMORY = 4 << 30
"""Bytes of address space that an implementation may take."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case, what was answered, whether that is right."""

    case: Case
    answer: Answer
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Implementation:
    """Who is judged.

    Parameters
    ----------
    name : str
        What it is called in reports.
    command : sequence of str
        Its adapter, a program.
    """

    name: str
    command: Sequence[str]


@dataclass(frozen=True, slots=True)
class Run:
    """All outcomes of one implementation, in the order of the cases."""

    name: str
    capabilities: dict[str, Any]
    outcomes: tuple[Outcome, ...]


def run(
    implementation: Implementation,
    corpus: Path,
    cases: Sequence[Case],
    jobs: int = 2,
    progress: Callable[[Outcome], None] | None = None,
) -> Run:
    """Put cases to an implementation.

    Parameters
    ----------
    implementation : Implementation
        Who is asked.
    corpus : Path
        The folder that :func:`~zarr_conformance.corpus.build.build` made of the cases.
    cases : sequence of Case
        What is asked.
    jobs : int
        How many adapters run at once.
    progress : callable, optional
        Told of every outcome, by any thread.

    Raises
    ------
    AdapterDiedError, AdapterTimeoutError
        If the adapter does not even tell what it can do.
    """
    outcomes: dict[str, Outcome] = {}
    turns = iter(cases)
    guard = threading.Lock()
    failures: list[BaseException] = []
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        first = _Worker(implementation, corpus, Path(folder) / "0")
        capabilities = first.capabilities()

        def work(worker: _Worker) -> None:
            try:
                while not failures:
                    with guard:
                        case = next(turns, None)
                    if case is None:
                        break
                    outcome = worker.outcome(case, capabilities)
                    outcomes[case.id] = outcome
                    if progress is not None:
                        progress(outcome)
            except BaseException as failure:
                failures.append(failure)
            finally:
                worker.close()

        workers = [
            first,
            *(_Worker(implementation, corpus, Path(folder) / str(n)) for n in range(1, jobs)),
        ]
        threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
    name, order = implementation.name, [case.id for case in cases]
    return Run(name, capabilities, tuple(outcomes[it] for it in order))


class _Worker:
    """One adapter process after another, as many as it takes."""

    def __init__(self, implementation: Implementation, corpus: Path, folder: Path) -> None:
        folder.mkdir()
        self._implementation = implementation
        self._corpus = corpus
        self._folder = folder
        self._conversation: Conversation | None = None

    def capabilities(self) -> dict[str, Any]:
        """What the adapter says of itself; starting may take a while."""
        answer = self._talk().ask(60.0, "capabilities")
        if "error" in answer:
            raise AdapterDiedError(str(answer["error"]))
        return dict(answer["result"])

    def _talk(self) -> Conversation:
        if self._conversation is None:
            log = self._folder / "log"
            self._conversation = Conversation(self._implementation.command, log, MEMORY)
        return self._conversation

    def outcome(self, case: Case, capabilities: dict[str, Any]) -> Outcome:
        """Put one case."""
        if case.operation not in capabilities["operations"]:
            refusal = f"does not offer {case.operation}"
            answer = Answer("error", category="unsupported", message=refusal)
            return Outcome(case, answer, Verdict("unsupported", refusal))
        if case.zarr_format not in capabilities["formats"]:
            refusal = f"does not read format {case.zarr_format}"
            answer = Answer("error", category="unsupported", message=refusal)
            return Outcome(case, answer, Verdict("unsupported", refusal))
        answer = self._ask(case)
        return Outcome(case, answer, judge(case, answer))

    def _ask(self, case: Case) -> Answer:
        original = self._corpus / "stores" / case.id
        changes = case.operation in ("update", "create")
        store = self._folder / "store" if changes else original
        into = self._folder / "values"
        into.unlink(missing_ok=True)
        if changes:
            shutil.rmtree(store, ignore_errors=True)
            shutil.copytree(original, store)
        start = time.perf_counter()
        try:
            reply = self._talk().ask(SECONDS, case.operation, **self._request(case, store, into))
        except AdapterTimeoutError as error:
            self._conversation = None
            return Answer("timeout", message=str(error), seconds=time.perf_counter() - start)
        except AdapterDiedError as error:
            self._conversation = None
            return Answer("crash", message=str(error), seconds=time.perf_counter() - start)
        seconds = time.perf_counter() - start
        if "error" in reply:
            told = reply["error"]
            kind = "memory" if told["type"] == "MemoryError" else "error"
            return Answer(
                "memory" if kind == "memory" else "error",
                category=told["category"],
                message=f"{told['type']}: {told['message']}",
                seconds=seconds,
            )
        documents, stored = _content(store) if changes else ({}, {})
        return Answer(
            "result",
            result=reply["result"],
            values=into.read_bytes() if into.exists() else None,
            documents=documents,
            stored=stored,
            seconds=seconds,
        )

    def _request(self, case: Case, store: Path, into: Path) -> dict[str, Any]:
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
        if case.operation == "create":
            node = case.expect.node if isinstance(case.expect, Accept | Either) else None
            values = node.values if node is not None else None
            asked["document"] = case.document
            if values is not None:
                asked["values"] = str(self._corpus / "values" / case.id)
                asked["kind"] = values.kind
        return asked

    def close(self) -> None:
        if self._conversation is not None:
            self._conversation.close()


def _content(store: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """JSON documents in a directory store, with all that it holds."""
    documents: dict[str, Any] = {}
    stored = {}
    for file in sorted(it for it in store.rglob("*") if it.is_file()):
        key = file.relative_to(store).as_posix()
        stored[key] = file.read_bytes()
        if file.name in (*_DOCUMENTS,) or file.suffix == ".json":
            documents[key] = None
            with suppress(ValueError):
                documents[key] = json.loads(stored[key])
    return documents, stored


_DOCUMENTS = (".zarray", ".zgroup", ".zattrs", ".zmetadata")
