"""Putting every case to one implementation."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.judging.answer import Answer, Verdict
from zarr_conformance.judging.judge import judge
from zarr_conformance.running.asking import CHANGES, answer_of, fresh, request
from zarr_conformance.running.conversation import (
    AdapterDiedError,
    AdapterMemoryError,
    AdapterTimeoutError,
    Conversation,
    Limits,
)
from zarr_conformance.running.knowing import Knowledge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_conformance.corpus.case import Case


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
    seconds: float = 0.0


def run(
    implementation: Implementation,
    corpus: Path,
    cases: Sequence[Case],
    jobs: int = 2,
    progress: Callable[[Outcome], None] | None = None,
    limits: Limits | None = None,
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
    limits : Limits, optional
        What the implementation may take.

    Raises
    ------
    AdapterDiedError, AdapterTimeoutError, AdapterMemoryError
        If the adapter does not even tell what it can do.
    """
    started = time.perf_counter()
    outcomes: dict[str, Outcome] = {}
    turns = iter(cases)
    guard = threading.Lock()
    failures: list[BaseException] = []
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        workers = [
            _Worker(implementation, corpus, Path(folder) / str(number), limits or Limits())
            for number in range(max(1, jobs))
        ]

        def turn() -> Iterator[Case]:
            while not failures:
                with guard:
                    case = next(turns, None)
                if case is None:
                    return
                yield case

        def work(worker: _Worker) -> None:
            try:
                for case in turn():
                    outcome = worker.outcome(case, capabilities)
                    outcomes[case.id] = outcome
                    if progress is not None:
                        progress(outcome)
            except BaseException as failure:
                failures.append(failure)
            finally:
                worker.close()

        threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
        try:
            capabilities = workers[0].capabilities()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException as failure:  # an interrupt, too, ends all of them
            failures.append(failure)
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            workers[0].close()
    if failures:
        raise failures[0]
    return Run(
        implementation.name,
        capabilities,
        tuple(outcomes[case.id] for case in cases),
        time.perf_counter() - started,
    )


def refused_unasked(case: Case, capabilities: dict[str, Any]) -> Outcome | None:
    """The outcome of a case that an implementation says it does not do, None for others."""
    if case.operation not in capabilities["operations"]:
        refusal = f"does not offer {case.operation}"
    elif case.zarr_format not in capabilities["formats"]:
        refusal = f"does not read format {case.zarr_format}"
    else:
        return None
    answer = Answer("error", category="unsupported", message=refusal)
    return Outcome(case, answer, Verdict("unsupported", refusal))


class _Worker:
    """One adapter process after another, as many as it takes."""

    def __init__(
        self, implementation: Implementation, corpus: Path, folder: Path, limits: Limits
    ) -> None:
        folder.mkdir()
        self._implementation = implementation
        self._corpus = corpus
        self._folder = folder
        self._limits = limits
        self._conversation: Conversation | None = None
        self._knowledge: Knowledge | None = None

    def capabilities(self) -> dict[str, Any]:
        """What the adapter says of itself; starting may take a while."""
        conversation = Conversation(
            self._implementation.command, self._folder / "log", self._limits.memory
        )
        answer = conversation.ask(self._limits.start, "capabilities")
        told = answer.get("result", {})
        if not all(
            isinstance(told.get(name), kind)
            for name, kind in (
                ("implementation", str),
                ("version", str),
                ("formats", list),
                ("operations", list),
            )
        ):
            conversation.close()
            raise AdapterDiedError(f"does not tell what it can do: {answer}")
        self._conversation = conversation
        return dict(told)

    def outcome(self, case: Case, capabilities: dict[str, Any]) -> Outcome:
        """Put one case."""
        if (unasked := refused_unasked(case, capabilities)) is not None:
            return unasked
        original = self._corpus / "stores" / case.id
        changes = case.operation in CHANGES
        store = self._folder / "store" if changes else original
        into = self._folder / "values"
        into.unlink(missing_ok=True)
        if changes:
            fresh(case, store)
        before = _traces(original)
        answer = self._ask(case, store, into)
        if self._knowledge is None:
            self._knowledge = Knowledge(self._tried, capabilities)
        verdict = judge(case, answer, self._knowledge)
        if _traces(original) != before:
            fresh(case, original)
            remark = "changed the store although it was only to read"
            verdict = replace(verdict, remark="; ".join(filter(None, (verdict.remark, remark))))
        return Outcome(case, answer, verdict)

    def _tried(self, case: Case) -> Answer:
        """The answer to a case that changes nothing, which the corpus may not hold."""
        store = self._folder / "tried"
        fresh(case, store)
        return self._ask(case, store, self._folder / "values")

    def _ask(self, case: Case, store: Path, into: Path) -> Answer:
        asked = request(case, store, into, self._corpus / "values" / case.id)
        start = time.perf_counter()
        try:
            if self._conversation is None:
                self.capabilities()
                start = time.perf_counter()
            assert self._conversation is not None
            reply = self._conversation.ask(self._limits.seconds, case.operation, **asked)
        except (AdapterTimeoutError, AdapterMemoryError, AdapterDiedError) as error:
            self._conversation = None
            kind = _ENDS[type(error)]
            return Answer(kind, message=str(error), seconds=time.perf_counter() - start)
        return answer_of(case, reply, store, into, time.perf_counter() - start)

    def close(self) -> None:
        if self._conversation is not None:
            self._conversation.close()


_ENDS: Any = {
    AdapterTimeoutError: "timeout",
    AdapterMemoryError: "memory",
    AdapterDiedError: "crash",
}


def _traces(store: Path) -> list[tuple[str, int, int]]:
    """What shows that somebody has written into a directory store."""
    found = []
    for folder, _, files in os.walk(store):
        for name in files:
            state = os.stat(os.path.join(folder, name))
            found.append((os.path.join(folder, name), state.st_size, state.st_mtime_ns))
    return sorted(found)
