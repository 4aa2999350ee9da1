"""Results for each implementation and case, and their JSON form.

A file of results is one JSON object (version 1)::

    {"version": 1,
     "corpus": {"digest": "<sha-256 of the cases>", "cases": 1236},
     "runs": [{"name": "zarr-core", "implementation": "zarr-core", "version": "0.1.0",
               "formats": [2, 3], "operations": ["open", "read"], "command": ["python", "..."],
               "seconds": 2.5,
               "results": [{"case": "v3-core/array/plain", "grade": "pass", "seconds": 0.002},
                           {"case": "...", "grade": "fail", "reason": "...", "seconds": 0.1,
                            "known": "the reason in the baseline",
                            "observed": {"outcome": "result", "result": {"shape": [4]}}}]}]}

``grade`` is pass, fail, crash or unsupported; ``reason``, ``remark``, ``known`` and ``observed``
are omitted if empty.  The members of ``observed`` are ``outcome`` (result, error, crash, timeout,
memory), ``category``, ``message``, ``result``, ``values`` (``bytes``, the length, and ``head``, the
first bytes in hexadecimal), ``documents`` and ``stored`` (after an operation that changes the
store, if it is not as expected).  Readers ignore unknown members.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.archive import corpus_digest
from zarr_conformance.report.text import truncate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zarr_conformance.corpus.case import Case
    from zarr_conformance.runner.run import Outcome, Run

RESULTS_VERSION = 1

GRADES: tuple[str, ...] = ("pass", "fail", "crash", "unsupported")
HEAD = 64
"""The number of shown bytes of a value."""

_LONGEST = 2000


class ResultsError(ValueError):
    """A file does not contain results, or results of another version of the corpus."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one case.

    Parameters
    ----------
    case : str
        The id of the case.
    grade : {"pass", "fail", "crash", "unsupported"}
        As in :class:`~zarr_conformance.evaluation.response.Verdict`.
    reason, remark : str
        As in ``Verdict``.
    known : str
        The reason in the baseline; empty if the failure is not in it.
    seconds : float
        The duration.
    observed : mapping
        The response as JSON; see the documentation of this module.
    """

    case: str
    grade: str
    reason: str = ""
    remark: str = ""
    known: str = ""
    seconds: float = 0.0
    observed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImplementationResults:
    """All results of one implementation, in the order of the cases."""

    name: str
    implementation: str
    version: str
    formats: tuple[int, ...]
    operations: tuple[str, ...]
    command: tuple[str, ...]
    seconds: float
    results: tuple[Result, ...]


def collect_results(run: Run, command: Sequence[str]) -> ImplementationResults:
    """Return the results of a run."""
    can = run.capabilities
    return ImplementationResults(
        run.name,
        can["implementation"],
        can["version"],
        tuple(can["formats"]),
        tuple(can["operations"]),
        tuple(command),
        round(run.seconds, 3),
        tuple(map(_result, run.outcomes)),
    )


def with_unique_name(
    run: ImplementationResults, others: Iterable[ImplementationResults]
) -> ImplementationResults:
    """Add the version or a number to the name of a run if the name is taken."""
    taken = {other.name for other in others}
    numbered = (f"{run.name} {run.version} #{number}" for number in count(2))
    names = chain((run.name, f"{run.name} {run.version}"), numbered)
    return replace(run, name=next(name for name in names if name not in taken))


def to_json(runs: Iterable[ImplementationResults], cases: Sequence[Case]) -> dict[str, Any]:
    """Return results as a JSON object."""
    return {
        "version": RESULTS_VERSION,
        "corpus": {"digest": corpus_digest(cases), "cases": len(cases)},
        "runs": [
            {
                "name": run.name,
                "implementation": run.implementation,
                "version": run.version,
                "formats": list(run.formats),
                "operations": list(run.operations),
                "command": list(run.command),
                "seconds": run.seconds,
                "results": [_entry(result) for result in run.results],
            }
            for run in runs
        ],
    }


def from_json(value: Any, cases: Sequence[Case]) -> tuple[ImplementationResults, ...]:
    """Parse results from a JSON object.

    Parameters
    ----------
    value : JSON
        The value, as returned by :func:`to_json`.
    cases : sequence of Case
        The whole corpus.

    Raises
    ------
    ResultsError
        If the value is not valid, or of another version of the corpus.
    """
    try:
        version, digest = value["version"], value["corpus"]["digest"]
        if version != RESULTS_VERSION:
            raise ResultsError(f"results of version {version!r}, expected {RESULTS_VERSION}")
        if digest != corpus_digest(cases):
            raise ResultsError("results of another version of the corpus; run the cases again")
        return tuple(_run(run, {case.id for case in cases}) for run in value["runs"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"not valid results: {type(error).__name__}: {error}") from error


def _run(value: Any, known: set[str]) -> ImplementationResults:
    results = []
    for entry in value["results"]:
        result = Result(**{name: entry[name] for name in Result.__slots__ if name in entry})
        if result.grade not in GRADES or result.case not in known:
            raise ResultsError(f"not a valid result of a case: {result.case!r}, {result.grade!r}")
        results.append(result)
    members = {name: value[name] for name in ImplementationResults.__slots__ if name != "results"}
    for name in ("formats", "operations", "command"):
        members[name] = tuple(members[name])
    return ImplementationResults(**members, results=tuple(results))


def _entry(result: Result) -> dict[str, Any]:
    entry = {name: getattr(result, name) for name in Result.__slots__}
    return {name: value for name, value in entry.items() if value or name == "seconds"}


def _result(outcome: Outcome) -> Result:
    verdict = outcome.verdict
    return Result(
        outcome.case.id,
        verdict.grade,
        truncate(verdict.reason, _LONGEST),
        verdict.remark,
        seconds=round(outcome.response.seconds, 4),
        observed=_observed(outcome),
    )


def _observed(outcome: Outcome) -> dict[str, Any]:
    """Return the response as JSON; for a pass only the error, as the rest is as expected."""
    response = outcome.response
    passed = outcome.verdict.grade == "pass"
    if passed and response.outcome == "result":
        return {}
    observed: dict[str, Any] = {"outcome": response.outcome}
    if response.category:
        observed["category"] = response.category
    if response.message:
        observed["message"] = truncate(response.message, 300 if passed else _LONGEST)
    if response.result:
        observed["result"] = _bounded(response.result)
    if response.values is not None:
        observed["values"] = head(response.values)
    if response.documents:
        observed["documents"] = {
            key: _bounded(document) for key, document in response.documents.items()
        }
    if response.stored:
        observed["stored"] = {
            key: head(data)
            for key, data in response.stored.items()
            if key not in response.documents
        }
    return observed


def head(value: bytes) -> dict[str, Any]:
    """Return the length and the first bytes of a value."""
    return {"bytes": len(value), "head": value[:HEAD].hex()}


def _bounded(value: Any) -> Any:
    """Return a valid JSON value; long values as truncated text."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        finite = _finite(value)
    except RecursionError:
        return "(nested too deeply)"
    return finite if len(text) <= 2 * _LONGEST else truncate(text, 2 * _LONGEST)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
