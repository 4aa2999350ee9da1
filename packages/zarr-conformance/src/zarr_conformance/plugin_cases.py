"""Cases as tests of pytest, in the process that pytest runs in."""

from __future__ import annotations

import tempfile
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zarr_conformance.baseline import BaselineError, read_baseline
from zarr_conformance.clauses.clause import clauses
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.judging.judge import judge
from zarr_conformance.reporting.plain import plain
from zarr_conformance.reporting.showing import show_case
from zarr_conformance.reporting.summary import strength_of
from zarr_conformance.running.asking import answer_of, lay_down, request, values_of
from zarr_conformance.running.choosing import chosen
from zarr_conformance.running.knowing import Knowledge
from zarr_conformance.running.run import Outcome, refused_unasked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_conformance.corpus.case import Case


class WrongAnswerError(Exception):
    """An implementation does not do what a case expects."""


class Cases:
    """Makes tests of the cases, for one adapter.

    Parameters
    ----------
    config : pytest.Config
        With the options.
    """

    def __init__(self, config: pytest.Config) -> None:
        for line in (
            "zarr_conformance: a case of zarr-conformance",
            "clause(id, level): the clause that a case of zarr-conformance shows",
        ):
            config.addinivalue_line("markers", line)
        self._place = config.getoption("zarr_conformance")
        self._adapter = _adapter(self._place)
        self._only = config.getoption("zarr_conformance_only")
        self._known = _known(config.getoption("zarr_conformance_baseline"), self._adapter)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Put the cases behind the tests that were found."""
        collector = Corpus.from_parent(session, name="zarr-conformance", nodeid="zarr-conformance")
        collector.cases = chosen(all_cases(), self._only)
        collector.adapter = self._adapter
        collector.known = self._known
        report = session.ihook.pytest_make_collect_report(collector=collector)
        session.ihook.pytest_collectreport(report=report)
        items.extend(report.result)

    def pytest_report_header(self) -> str:
        """Say who is judged."""
        can = asked_for(self._adapter)
        return f"zarr-conformance: {self._place}, {can['implementation']} {can['version']}"


class Corpus(pytest.Collector):
    """All cases that were asked for."""

    cases: list[Case]
    adapter: Any
    known: dict[str, str]

    def collect(self) -> Iterator[pytest.Item]:
        """The cases as tests."""
        capabilities = asked_for(self.adapter)
        knows = Knowledge(lambda it: put(it, self.adapter, capabilities).answer, capabilities)
        for case in self.cases:
            item = CaseItem.from_parent(self, name=case.id)
            item.case, item.adapter, item.capabilities = case, self.adapter, capabilities
            item.knows = knows
            item.add_marker(pytest.mark.zarr_conformance)
            for name in case.clauses:
                item.add_marker(pytest.mark.clause(id=name, level=clauses()[name].level))
                item.extra_keyword_matches.add(name)
            item.extra_keyword_matches.add(strength_of(case))
            if case.id in self.known:
                item.add_marker(pytest.mark.xfail(reason=self.known[case.id], strict=True))
            yield item


class CaseItem(pytest.Item):
    """One case."""

    case: Case
    adapter: Any
    capabilities: dict[str, Any]
    knows: Callable[[str], bool]

    def runtest(self) -> None:
        """Ask, judge."""
        outcome = put(self.case, self.adapter, self.capabilities, self.knows)
        told = plain(outcome.verdict.reason)
        if outcome.verdict.grade == "unsupported":
            pytest.skip(told)
        if outcome.verdict.grade != "pass":
            raise WrongAnswerError(told)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is wrong, then the case in full."""
        if isinstance(excinfo.value, WrongAnswerError):
            return f"{excinfo.value}\n\n{show_case(self.case)}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the test stands: nowhere."""
        return Path("zarr-conformance"), None, self.case.id


def asked_for(adapter: Any) -> dict[str, Any]:
    """What an adapter says it can do."""
    return dict(adapter.answer({"id": 0, "operation": "capabilities"})["result"])


def put(
    case: Case,
    adapter: Any,
    capabilities: dict[str, Any],
    knows: Callable[[str], bool] = lambda _: True,
) -> Outcome:
    """Put a case to an adapter in this process.

    Parameters
    ----------
    case : Case
        What is asked.
    adapter : object
        Has a method ``answer``, as that of :class:`~zarr_conformance.adapters.serving.Adapter`.
    capabilities : dict
        What it can do.
    knows : callable, optional
        As :func:`~zarr_conformance.judging.judge.judge` takes it.
    """
    if (unasked := refused_unasked(case, capabilities)) is not None:
        return unasked
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        store, into, values = (Path(folder) / it for it in ("store", "read", "values"))
        lay_down(case, store)
        if (elements := values_of(case)) is not None:
            values.write_bytes(elements.data)
        asked = request(case, store, into, values)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning is no refusal, whatever pytest makes of it
            reply = adapter.answer({"id": 1, "operation": case.operation, **asked})
        answer = answer_of(case, reply, store, into, time.perf_counter() - start)
    return Outcome(case, answer, judge(case, answer, knows))


def _adapter(place: str) -> Any:
    module, _, name = place.partition(":")
    try:
        return getattr(import_module(module), name)()
    except (ImportError, AttributeError, ValueError) as error:
        raise pytest.UsageError(f"--zarr-conformance {place}: {error}") from error


def _known(file: str | None, adapter: Any) -> dict[str, str]:
    if file is None:
        return {}
    try:
        baseline = read_baseline(Path(file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, BaselineError) as error:
        raise pytest.UsageError(f"{file}: {error}") from error
    return dict(baseline.get(asked_for(adapter)["implementation"], {}))
