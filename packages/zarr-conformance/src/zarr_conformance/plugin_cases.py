"""Cases as pytest tests, in the process of pytest."""

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
from zarr_conformance.corpus.case import Accept
from zarr_conformance.evaluation.evaluate import evaluate
from zarr_conformance.report.summary import NOTHING_ACCEPTED, strength_of
from zarr_conformance.report.terminal import show_case
from zarr_conformance.report.text import printable
from zarr_conformance.runner.case_filter import select_cases
from zarr_conformance.runner.extension_support import ExtensionSupport
from zarr_conformance.runner.protocol import (
    create_request,
    parse_response,
    write_store,
    written_values,
)
from zarr_conformance.runner.run import Outcome, unsupported_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_conformance.corpus.case import Case


class CaseFailedError(Exception):
    """A case failed."""


class Cases:
    """Creates tests from the cases, for one adapter.

    Parameters
    ----------
    config : pytest.Config
        The configuration, with the options.
    """

    def __init__(self, config: pytest.Config) -> None:
        for line in (
            "zarr_conformance: a case of zarr-conformance",
            "clause(id, level): a clause that a case of zarr-conformance tests",
        ):
            config.addinivalue_line("markers", line)
        self._adapter_name = config.getoption("zarr_conformance")
        self._adapter = _adapter(self._adapter_name)
        self._only = config.getoption("zarr_conformance_only")
        self._known = _known(config.getoption("zarr_conformance_baseline"), self._adapter)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Append the cases to the collected tests."""
        collector = Corpus.from_parent(session, name="zarr-conformance", nodeid="zarr-conformance")
        collector.cases = select_cases(all_cases(), self._only)
        collector.adapter = self._adapter
        collector.known = self._known
        report = session.ihook.pytest_make_collect_report(collector=collector)
        session.ihook.pytest_collectreport(report=report)
        items.extend(report.result)

    def pytest_report_header(self) -> str:
        """Print the implementation."""
        can = capabilities_of(self._adapter)
        return f"zarr-conformance: {self._adapter_name}, {can['implementation']} {can['version']}"


class Corpus(pytest.Collector):
    """The selected cases."""

    cases: list[Case]
    adapter: Any
    known: dict[str, str]

    def collect(self) -> Iterator[pytest.Item]:
        """Create the tests."""
        capabilities = capabilities_of(self.adapter)
        supports = ExtensionSupport(
            lambda element: run_case(element, self.adapter, capabilities).response, capabilities
        )
        for case in self.cases:
            item = CaseItem.from_parent(self, name=case.id)
            item.case, item.adapter, item.capabilities = case, self.adapter, capabilities
            item.supports = supports
            item.add_marker(pytest.mark.zarr_conformance)
            for name in case.clauses:
                item.add_marker(pytest.mark.clause(id=name, level=clauses()[name].level))
                item.extra_keyword_matches.add(name)
            item.extra_keyword_matches.add(strength_of(case))
            if case.id in self.known:
                item.add_marker(pytest.mark.xfail(reason=self.known[case.id], strict=True))
            yield item
        acceptable = [case for case in self.cases if isinstance(case.expect, Accept)]
        if acceptable:
            last = AcceptsItem.from_parent(self, name="accepts-valid-data")
            last.cases, last.adapter, last.capabilities = acceptable, self.adapter, capabilities
            last.add_marker(pytest.mark.zarr_conformance)
            yield last


class AcceptsItem(pytest.Item):
    """Whether any case that must succeed does; otherwise, errors prove nothing."""

    cases: list[Case]
    adapter: Any
    capabilities: dict[str, Any]

    def runtest(self) -> None:
        """Run cases until one passes."""
        outcomes = (run_case(case, self.adapter, self.capabilities) for case in self.cases)
        if not any(outcome.verdict.grade == "pass" for outcome in outcomes):
            raise CaseFailedError(NOTHING_ACCEPTED)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the reason."""
        if isinstance(excinfo.value, CaseFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the location; there is no source line."""
        return Path("zarr-conformance"), None, self.name


class CaseItem(pytest.Item):
    """One case."""

    case: Case
    adapter: Any
    capabilities: dict[str, Any]
    supports: Callable[[str], bool]

    def runtest(self) -> None:
        """Run the case."""
        outcome = run_case(self.case, self.adapter, self.capabilities, self.supports)
        reason = printable(outcome.verdict.reason)
        if outcome.verdict.grade == "unsupported":
            pytest.skip(reason)
        if outcome.verdict.grade != "pass":
            raise CaseFailedError(reason)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the reason and the case."""
        if isinstance(excinfo.value, CaseFailedError):
            return f"{excinfo.value}\n\n{show_case(self.case)}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the location; cases have no source line."""
        return Path("zarr-conformance"), None, self.case.id


def capabilities_of(adapter: Any) -> dict[str, Any]:
    """Return the capabilities of an adapter."""
    return dict(adapter.respond({"id": 0, "operation": "capabilities"})["result"])


def run_case(
    case: Case,
    adapter: Any,
    capabilities: dict[str, Any],
    supports: Callable[[str], bool] = lambda _: True,
) -> Outcome:
    """Run a case with an adapter in this process.

    Parameters
    ----------
    case : Case
        The case.
    adapter : object
        Has a method ``respond`` like :class:`~zarr_conformance.adapters.adapter.Adapter`.
    capabilities : dict
        Its capabilities.
    supports : callable, optional
        As for :func:`~zarr_conformance.evaluation.evaluate.evaluate`.
    """
    if (excluded := unsupported_outcome(case, capabilities)) is not None:
        return excluded
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        store, into, values = (Path(folder) / item for item in ("store", "read", "values"))
        write_store(case, store)
        if (elements := written_values(case)) is not None:
            values.write_bytes(elements.data)
        request = create_request(case, store, into, values)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pytest may turn warnings into errors
            reply = adapter.respond({"id": 1, "operation": case.operation, **request})
        response = parse_response(case, reply, store, into, time.perf_counter() - start)
    return Outcome(case, response, evaluate(case, response, supports))


def _adapter(spec: str) -> Any:
    module, _, name = spec.partition(":")
    try:
        return getattr(import_module(module), name)()
    except (ImportError, AttributeError, ValueError) as error:
        raise pytest.UsageError(f"--zarr-conformance {spec}: {error}") from error


def _known(file: str | None, adapter: Any) -> dict[str, str]:
    if file is None:
        return {}
    try:
        baseline = read_baseline(Path(file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, BaselineError) as error:
        raise pytest.UsageError(f"{file}: {error}") from error
    return dict(baseline.get(capabilities_of(adapter)["implementation"], {}))
