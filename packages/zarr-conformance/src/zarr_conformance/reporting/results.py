"""Results as they are kept: what came out for each implementation, case by case.

A file of results is one JSON object (version 1)::

    {"version": 1,
     "corpus": {"digest": "<sha-256 of the cases>", "cases": 1236},
     "runs": [{"name": "zarr-core", "implementation": "zarr-core", "version": "0.1.0",
               "formats": [2, 3], "operations": ["open", "read"], "command": ["python", "..."],
               "seconds": 2.5,
               "results": [{"case": "v3-core/array/plain", "grade": "pass", "seconds": 0.002},
                           {"case": "...", "grade": "fail", "reason": "...", "seconds": 0.1,
                            "known": "the reason that a baseline gives",
                            "observed": {"outcome": "result", "result": {"shape": [4]}}}]}]}

``grade`` is pass, fail, crash or unsupported; ``reason``, ``remark``, ``known`` and ``observed``
are left out where there is nothing to say.  The members of ``observed`` are ``outcome`` (result,
error, crash, timeout, memory), ``category``, ``message``, ``result``, ``values`` (``bytes``, and
``head``, the first of them in hexadecimal digits), ``documents`` and ``stored`` (after a change,
if something is wrong with it).  Readers ignore members that they do not know.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.build import as_json
from zarr_conformance.reporting.plain import short
from zarr_conformance.running.asking import values_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zarr_conformance.corpus.case import Case
    from zarr_conformance.running.run import Outcome, Run

RESULTS_VERSION = 1

GRADES: tuple[str, ...] = ("pass", "fail", "crash", "unsupported")
HEAD = 64
"""Bytes of a value that are shown."""

_LONGEST = 2000


class ResultsError(ValueError):
    """A file of results is none, or of another version of the corpus."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came out for one case.

    Parameters
    ----------
    case : str
        Its id.
    grade : {"pass", "fail", "crash", "unsupported"}
        As in :class:`~zarr_conformance.judging.answer.Verdict`.
    reason, remark : str
        As there.
    known : str
        The reason that a baseline gives for a failure; empty if it is not in one.
    seconds : float
        How long it took.
    observed : mapping
        What was answered, as JSON; the module tells its members.
    """

    case: str
    grade: str
    reason: str = ""
    remark: str = ""
    known: str = ""
    seconds: float = 0.0
    observed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """All results of one implementation, in the order of the cases."""

    name: str
    implementation: str
    version: str
    formats: tuple[int, ...]
    operations: tuple[str, ...]
    command: tuple[str, ...]
    seconds: float
    results: tuple[Result, ...]


def judged(run: Run, command: Sequence[str]) -> Judged:
    """What is kept of a run."""
    can = run.capabilities
    return Judged(
        run.name,
        can["implementation"],
        can["version"],
        tuple(can["formats"]),
        tuple(can["operations"]),
        tuple(command),
        round(run.seconds, 3),
        tuple(map(_result, run.outcomes)),
    )


def own_name(run: Judged, others: Iterable[Judged]) -> Judged:
    """The run; with its version, or a number, in its name if one of the others has that name."""
    taken = {it.name for it in others}
    numbered = (f"{run.name} {run.version} #{number}" for number in count(2))
    names = chain((run.name, f"{run.name} {run.version}"), numbered)
    return replace(run, name=next(it for it in names if it not in taken))


def digest(cases: Iterable[Case]) -> str:
    """What tells one version of the corpus from another."""
    known = hashlib.sha256()
    for case in cases:
        elements = values_of(case)
        known.update(json.dumps(as_json(case)).encode())
        for key, value in case.store.items():
            known.update(f"\n{key!r} {len(value)} ".encode() + value)
        known.update(b"\n" + (elements.data if elements is not None else b""))
    return known.hexdigest()


def to_json(runs: Iterable[Judged], cases: Sequence[Case]) -> dict[str, Any]:
    """Results as a JSON object."""
    return {
        "version": RESULTS_VERSION,
        "corpus": {"digest": digest(cases), "cases": len(cases)},
        "runs": [
            {
                "name": it.name,
                "implementation": it.implementation,
                "version": it.version,
                "formats": list(it.formats),
                "operations": list(it.operations),
                "command": list(it.command),
                "seconds": it.seconds,
                "results": [_entry(result) for result in it.results],
            }
            for it in runs
        ],
    }


def from_json(value: Any, cases: Sequence[Case]) -> tuple[Judged, ...]:
    """Results out of a JSON object.

    Parameters
    ----------
    value : JSON
        As :func:`to_json` gives it.
    cases : sequence of Case
        The whole corpus.

    Raises
    ------
    ResultsError
        If it is none, or of another version of the corpus.
    """
    try:
        version, made_by = value["version"], value["corpus"]["digest"]
        if version != RESULTS_VERSION:
            raise ResultsError(f"results of version {version!r}, not {RESULTS_VERSION}")
        if made_by != digest(cases):
            raise ResultsError("results of another version of the corpus; run again")
        return tuple(_run(it, {case.id for case in cases}) for it in value["runs"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"no results: {type(error).__name__}: {error}") from error


def _run(value: Any, known: set[str]) -> Judged:
    results = []
    for entry in value["results"]:
        result = Result(**{name: entry[name] for name in Result.__slots__ if name in entry})
        if result.grade not in GRADES or result.case not in known:
            raise ResultsError(f"no result of a case: {result.case!r}, {result.grade!r}")
        results.append(result)
    members = {name: value[name] for name in Judged.__slots__ if name != "results"}
    for name in ("formats", "operations", "command"):
        members[name] = tuple(members[name])
    return Judged(**members, results=tuple(results))


def _entry(result: Result) -> dict[str, Any]:
    told = {name: getattr(result, name) for name in Result.__slots__}
    return {name: it for name, it in told.items() if it or name == "seconds"}


def _result(outcome: Outcome) -> Result:
    verdict = outcome.verdict
    return Result(
        outcome.case.id,
        verdict.grade,
        short(verdict.reason, _LONGEST),
        verdict.remark,
        seconds=round(outcome.answer.seconds, 4),
        observed=_observed(outcome),
    )


def _observed(outcome: Outcome) -> dict[str, Any]:
    """What was answered; for a pass only how it was refused, since the rest is as expected."""
    answer = outcome.answer
    passed = outcome.verdict.grade == "pass"
    if passed and answer.outcome == "result":
        return {}
    told: dict[str, Any] = {"outcome": answer.outcome}
    if answer.category:
        told["category"] = answer.category
    if answer.message:
        told["message"] = short(answer.message, 300 if passed else _LONGEST)
    if answer.result:
        told["result"] = _bounded(answer.result)
    if answer.values is not None:
        told["values"] = head(answer.values)
    if answer.documents:
        told["documents"] = {key: _bounded(it) for key, it in answer.documents.items()}
    if answer.stored:
        told["stored"] = {
            key: head(it) for key, it in answer.stored.items() if key not in answer.documents
        }
    return told


def head(value: bytes) -> dict[str, Any]:
    """A value of a store, as far as it is shown."""
    return {"bytes": len(value), "head": value[:HEAD].hex()}


def _bounded(value: Any) -> Any:
    """A JSON value that a strict reader takes; as a text if it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        finite = _finite(value)
    except RecursionError:
        return "(nested too deeply to be shown)"
    return finite if len(text) <= 2 * _LONGEST else short(text, 2 * _LONGEST)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(it) for name, it in value.items()}
    if isinstance(value, list):
        return [_finite(it) for it in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
