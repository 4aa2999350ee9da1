"""Numbers that sum up what an implementation does."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_conformance.clauses.clause import clauses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.corpus.case import Case
    from zarr_conformance.reporting.results import Judged, Result

STRENGTHS = ("must", "should", "may")
"""Levels, each with its negative."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Numbers of one implementation.

    Parameters
    ----------
    grades : mapping of str to int
        Cases by their grades.
    known : int
        Failures that a baseline knows.
    failing : mapping of str to tuple of str
        Clauses that a case shows to be broken, by strength.
    """

    grades: Mapping[str, int]
    known: int
    failing: Mapping[str, tuple[str, ...]]

    @property
    def asked(self) -> int:
        """Cases without those that are not supported."""
        return sum(self.grades.values()) - self.grades.get("unsupported", 0)

    @property
    def percent(self) -> int:
        """Whole percent that pass, rounded down: 100 means all."""
        return 100 * self.grades.get("pass", 0) // self.asked if self.asked else 0


def strength(level: str) -> str:
    """The level of a clause without its negation."""
    return level.split()[0]


def strength_of(case: Case) -> str:
    """The strongest level among the clauses of a case."""
    levels = {strength(clauses()[name].level) for name in case.clauses}
    return min(levels, key=STRENGTHS.index, default=STRENGTHS[-1])


def summary(run: Judged, cases: Mapping[str, Case]) -> Summary:
    """Sum up the results of one implementation.

    Parameters
    ----------
    run : Judged
        Its results.
    cases : mapping of str to Case
        By id.
    """
    wrong = [it for it in run.results if it.grade in ("fail", "crash")]
    broken = {name for it in wrong for name in broken_by(it, cases[it.case])}
    return Summary(
        Counter(it.grade for it in run.results),
        sum(1 for it in wrong if it.known),
        {
            group: tuple(
                name for name, it in clauses().items()
                if name in broken and strength(it.level) == group
            )
            for group in STRENGTHS
        },
    )  # fmt: skip


def broken_by(result: Result, case: Case) -> tuple[str, ...]:
    """Clauses that a failure breaks.

    The core specification's own data types and codecs should be there.  Who says not to have
    one breaks that clause, and nothing that is demanded of who has it.
    """
    optional = case.id.startswith(("v3-data-types/", "v3-codecs/"))
    if not (optional and result.observed.get("category") == "extension"):
        return case.clauses
    return tuple(it for it in case.clauses if strength(clauses()[it].level) == "should")


def line(run: Judged, cases: Mapping[str, Case]) -> str:
    """All of it in one line."""
    told = summary(run, cases)
    parts = [f"{told.grades.get('pass', 0)} of {told.asked} pass ({told.percent} %)"]
    for group, broken in told.failing.items():
        if broken:
            parts.append(f"{len(broken)} {group}{'s' if len(broken) > 1 else ''} fail")
    if crashes := told.grades.get("crash"):
        parts.append(f"{crashes} crash")
    if told.known:
        parts.append(f"{told.known} known")
    text = f"{run.name} {run.version}: {', '.join(parts)}"
    if unsupported := told.grades.get("unsupported"):
        text += f"; {unsupported} not supported"
    return text
