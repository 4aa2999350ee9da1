"""Failures that are known, each with its reason, for continuous integration.

A baseline is a TOML file::

    version = 1

    [failures.zarr-python]
    "v3-core/array/json-deep" = "https://example.org/issues/1: gives up with a RecursionError"

New failures fail.  What does not fail any more must be taken out, so that it cannot come back
unseen.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_conformance.reporting.plain import plain, short

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from zarr_conformance.reporting.results import Judged

BASELINE_VERSION = 1

Baseline: TypeAlias = "Mapping[str, Mapping[str, str]]"
"""Reasons by the names of implementations, then by the ids of cases."""

NOT_EXAMINED = "not examined yet: "
"""How a reason begins that nobody has given."""


class BaselineError(ValueError):
    """A file is no baseline."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a baseline has to say of a run.

    Parameters
    ----------
    run : Judged
        The run, with the reason of every failure that is known.
    new : tuple of str
        Ids of cases that fail, and should not.
    repaired : tuple of str
        Ids of the baseline that do not fail any more, or are of no case.
    """

    run: Judged
    new: tuple[str, ...]
    repaired: tuple[str, ...]


def read_baseline(text: str) -> Baseline:
    """Read a baseline.

    Raises
    ------
    BaselineError
        If it is none.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BaselineError(f"no TOML: {error}") from error
    if content.get("version") != BASELINE_VERSION:
        raise BaselineError(f"version is {content.get('version')!r}, not {BASELINE_VERSION}")
    failures = content.get("failures", {})
    for name, known in _table(failures, "failures").items():
        for case, reason in _table(known, name).items():
            if not isinstance(reason, str) or not reason.strip():
                raise BaselineError(f"{name}: {case} has no reason")
    return dict(failures)


def _table(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BaselineError(f"{name} is no table")
    return value


def compare(run: Judged, baseline: Baseline, corpus: Collection[str]) -> Comparison:
    """Hold a run against a baseline.

    Parameters
    ----------
    run : Judged
        What came out, of all cases or of some.
    baseline : mapping
        What is known.
    corpus : collection of str
        Ids of all cases, also of those that were not asked.
    """
    known = baseline.get(run.name, {})
    failing = {it.case for it in run.results if it.grade in ("fail", "crash")}
    asked = {it.case for it in run.results}
    results = tuple(
        replace(it, known=known[it.case]) if it.case in failing and it.case in known else it
        for it in run.results
    )
    return Comparison(
        replace(run, results=results),
        tuple(it.case for it in run.results if it.case in failing - known.keys()),
        tuple(it for it in known if it not in failing and (it in asked or it not in corpus)),
    )


def write_baseline(runs: Iterable[Judged], before: Baseline) -> str:
    """A baseline of what fails now.

    Parameters
    ----------
    runs : iterable of Judged
        What came out.
    before : mapping
        An older one; its reasons are kept, and so are implementations and cases that were
        not asked.
    """
    kept = {name: dict(known) for name, known in before.items()}
    for run in runs:
        known = kept.setdefault(run.name, {})
        for result in run.results:
            reason = known.pop(result.case, None)
            if result.grade in ("fail", "crash"):
                told = short(result.reason.replace("\n", " "), 200)
                known[result.case] = reason or f"{NOT_EXAMINED}{told}"
    lines = [f"version = {BASELINE_VERSION}"]
    for name in sorted(kept):
        lines += ["", f"[failures.{_quoted(name)}]"]
        lines += [f"{_quoted(case)} = {_quoted(kept[name][case])}" for case in sorted(kept[name])]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A string of TOML, whose escapes are those of JSON; ``plain`` leaves none that differ."""
    return json.dumps(plain(text), ensure_ascii=False)
