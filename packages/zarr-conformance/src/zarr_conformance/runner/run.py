"""Run cases with one implementation."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_conformance.evaluation.evaluate import evaluate
from zarr_conformance.evaluation.response import Response, Verdict
from zarr_conformance.runner.adapter_process import (
    AdapterDiedError,
    AdapterError,
    AdapterSession,
    Limits,
)
from zarr_conformance.runner.extension_support import ExtensionSupport
from zarr_conformance.runner.protocol import (
    CHANGES,
    PROTOCOL,
    create_request,
    parse_response,
    recreate_store,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_conformance.corpus.case import Case


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case with its response and verdict."""

    case: Case
    response: Response
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Implementation:
    """The implementation to test.

    Parameters
    ----------
    name : str
        Its name in reports.
    command : sequence of str
        The command of its adapter.
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
    """Run cases with an implementation.

    Parameters
    ----------
    implementation : Implementation
        The implementation.
    corpus : Path
        The folder that :func:`~zarr_conformance.corpus.build.build` wrote.
    cases : sequence of Case
        The cases.
    jobs : int
        The number of adapter processes.
    progress : callable, optional
        Called with every outcome, from any thread.
    limits : Limits, optional
        Limits for the implementation.

    Raises
    ------
    AdapterError
        If the adapter does not return its capabilities.
    """
    started = time.perf_counter()
    outcomes: dict[str, Outcome] = {}
    remaining = iter(cases)
    guard = threading.Lock()
    failures: list[BaseException] = []
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        workers = [
            _Worker(implementation, corpus, Path(folder) / str(number), limits or Limits())
            for number in range(max(1, jobs))
        ]

        def next_cases() -> Iterator[Case]:
            while not failures:
                with guard:
                    case = next(remaining, None)
                if case is None:
                    return
                yield case

        def work(worker: _Worker) -> None:
            try:
                for case in next_cases():
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
        except BaseException as failure:  # interrupts end all threads too
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


def unsupported_outcome(case: Case, capabilities: dict[str, Any]) -> Outcome | None:
    """Return the outcome of a case that the capabilities exclude; None for other cases."""
    if case.operation not in capabilities["operations"]:
        reason = f"does not support {case.operation}"
    elif case.zarr_format not in capabilities["formats"]:
        reason = f"does not support format {case.zarr_format}"
    else:
        return None
    return _unsupported(case, reason)


def _unsupported(case: Case, reason: str) -> Outcome:
    response = Response("error", category="unsupported", message=reason)
    return Outcome(case, response, Verdict("unsupported", reason))


class _Worker(AdapterSession):
    """Runs cases with an adapter, which is restarted if it fails."""

    def __init__(
        self, implementation: Implementation, corpus: Path, folder: Path, limits: Limits
    ) -> None:
        folder.mkdir()
        super().__init__(implementation.command, folder / "log", limits)
        self._corpus = corpus
        self._folder = folder
        self._extensions: ExtensionSupport | None = None

    def capabilities(self) -> dict[str, Any]:
        """Start the adapter and return its capabilities."""
        response = self.start()
        capabilities = response.get("result", {})
        if not all(
            isinstance(capabilities.get(name), kind)
            for name, kind in (
                ("implementation", str),
                ("version", str),
                ("formats", list),
                ("operations", list),
            )
        ):
            self.close()
            raise AdapterDiedError(f"invalid capabilities: {response}")
        if (spoken := capabilities.get("protocol", PROTOCOL)) != PROTOCOL:
            self.close()
            raise AdapterDiedError(
                f"it has version {spoken!r} of the protocol, but this zarr-conformance has {PROTOCOL}"
            )
        return dict(capabilities)

    def outcome(self, case: Case, capabilities: dict[str, Any]) -> Outcome:
        """Run one case."""
        if (excluded := unsupported_outcome(case, capabilities)) is not None:
            return excluded
        original = self._corpus / "stores" / case.id
        changes = case.operation in CHANGES
        store = self._folder / "store" if changes else original
        into = self._folder / "values"
        into.unlink(missing_ok=True)
        if changes:
            recreate_store(case, store)
        before = _file_states(original)
        if {os.path.relpath(item[0], original).replace(os.sep, "/") for item in before} != {
            *case.store
        }:
            return _unsupported(case, "the file system cannot hold the keys of its store")
        response = self._response(case, store, into)
        if self._extensions is None:
            self._extensions = ExtensionSupport(self._run_reading, capabilities)
        verdict = evaluate(case, response, self._extensions)
        if _file_states(original) != before:
            recreate_store(case, original)
            remark = "changed the store of a read-only operation"
            verdict = replace(verdict, remark="; ".join(filter(None, (verdict.remark, remark))))
        return Outcome(case, response, verdict)

    def _run_reading(self, case: Case) -> Response:
        """Return the response to a reading case, which may not be in the corpus folder."""
        store = self._folder / "support"
        recreate_store(case, store)
        return self._response(case, store, self._folder / "values")

    def _response(self, case: Case, store: Path, into: Path) -> Response:
        folder = "input" if case.operation == "write" else "values"
        request = create_request(case, store, into, self._corpus / folder / case.id)
        start = time.perf_counter()
        try:
            if self._process is None:
                self.capabilities()
                start = time.perf_counter()
            reply = self.request(case.operation, **request)
        except AdapterError as error:
            seconds = time.perf_counter() - start
            return Response(error.outcome, message=str(error), seconds=seconds)
        return parse_response(case, reply, store, into, time.perf_counter() - start)


def _file_states(store: Path) -> list[tuple[str, int, int]]:
    """Return sizes and modification times of all files, to detect changes."""
    states = []
    for folder, _, files in os.walk(store):
        for name in files:
            state = os.stat(os.path.join(folder, name))
            states.append((os.path.join(folder, name), state.st_size, state.st_mtime_ns))
    return sorted(states)
