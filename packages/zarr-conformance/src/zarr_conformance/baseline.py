"""Known failures, each with a reason, for continuous integration.

A baseline is a TOML file::

    version = 1

    [failures.zarr-python]
    "v3-core/array/json-deep" = "https://example.org/issues/1: gives up with a RecursionError"

A run fails for new failures, and for entries that no longer fail and must be removed.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_conformance.report.text import printable, truncate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from zarr_conformance.report.results import ImplementationResults

BASELINE_VERSION = 1

Baseline: TypeAlias = "Mapping[str, Mapping[str, str]]"
"""Reasons by the name of the implementation, then by the id of the case."""

NOT_EXAMINED = "not examined yet: "
"""The prefix of generated reasons."""


class BaselineError(ValueError):
    """A file is not a baseline."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of a run with a baseline.

    Parameters
    ----------
    run : ImplementationResults
        The run, with the reasons of known failures.
    new : tuple of str
        Ids of cases that fail and are not in the baseline.
    repaired : tuple of str
        Ids in the baseline that no longer fail or do not exist.
    """

    run: ImplementationResults
    new: tuple[str, ...]
    repaired: tuple[str, ...]


def read_baseline(text: str) -> Baseline:
    """Read a baseline.

    Raises
    ------
    BaselineError
        If the text is not a baseline.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BaselineError(f"not valid TOML: {error}") from error
    if content.get("version") != BASELINE_VERSION:
        raise BaselineError(f"version is {content.get('version')!r}, expected {BASELINE_VERSION}")
    failures = content.get("failures", {})
    for name, known in _table(failures, "failures").items():
        for case, reason in _table(known, name).items():
            if not isinstance(reason, str) or not reason.strip():
                raise BaselineError(f"{name}: {case} has no reason")
    return dict(failures)


def _table(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BaselineError(f"{name} is not a table")
    return value


def compare(run: ImplementationResults, baseline: Baseline, corpus: Collection[str]) -> Comparison:
    """Compare a run with a baseline; ``corpus`` has the ids of all cases, also of those not run."""
    known = baseline.get(run.name, {})
    failing = {result.case for result in run.results if result.grade in ("fail", "crash")}
    executed = {result.case for result in run.results}
    results = tuple(
        replace(result, known=known[result.case])
        if result.case in failing and result.case in known
        else result
        for result in run.results
    )
    return Comparison(
        replace(run, results=results),
        tuple(result.case for result in run.results if result.case in failing - known.keys()),
        tuple(
            item
            for item in known
            if item not in failing and (item in executed or item not in corpus)
        ),
    )


def write_baseline(runs: Iterable[ImplementationResults], before: Baseline) -> str:
    """Return a baseline of the current failures as TOML.

    Reasons of the previous one are kept, and its implementations and cases that were not run.
    """
    kept = {name: dict(known) for name, known in before.items()}
    for run in runs:
        known = kept.setdefault(run.name, {})
        for result in run.results:
            reason = known.pop(result.case, None)
            if result.grade in ("fail", "crash"):
                message = truncate(result.reason.replace("\n", " "), 200)
                known[result.case] = reason or f"{NOT_EXAMINED}{message}"
    lines = [f"version = {BASELINE_VERSION}"]
    for name in sorted(kept):
        lines += ["", f"[failures.{_quoted(name)}]"]
        lines += [f"{_quoted(case)} = {_quoted(kept[name][case])}" for case in sorted(kept[name])]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a TOML string; after ``printable``, its escapes are those of JSON."""
    return json.dumps(printable(text), ensure_ascii=False)
