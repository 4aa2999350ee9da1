"""Totals for an implementation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_conformance.clauses.clause import clauses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.corpus.case import Case
    from zarr_conformance.report.results import ImplementationResults, Result

STRENGTHS = ("must", "should", "may")
"""The levels of clauses, without negation."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The totals of an implementation.

    Parameters
    ----------
    grades : mapping of str to int
        The number of cases by grade.
    known : int
        The number of failures in the baseline.
    failing : mapping of str to tuple of str
        The clauses with failed cases, by strength.
    """

    grades: Mapping[str, int]
    known: int
    failing: Mapping[str, tuple[str, ...]]

    @property
    def supported(self) -> int:
        """The number of cases that are supported."""
        return sum(self.grades.values()) - self.grades.get("unsupported", 0)

    @property
    def percent(self) -> int:
        """The percentage of supported cases that pass, rounded down."""
        return 100 * self.grades.get("pass", 0) // self.supported if self.supported else 0


def strength(level: str) -> str:
    """Return the level of a clause without negation."""
    return level.split()[0]


def strength_of(case: Case) -> str:
    """Return the strongest level of the clauses of a case."""
    levels = {strength(clauses()[name].level) for name in case.clauses}
    return min(levels, key=STRENGTHS.index, default=STRENGTHS[-1])


def summary(run: ImplementationResults, cases: Mapping[str, Case]) -> Summary:
    """Return the totals of an implementation.

    Parameters
    ----------
    run : ImplementationResults
        The results of the implementation.
    cases : mapping of str to Case
        By id.
    """
    wrong = [it for it in run.results if it.grade in ("fail", "crash")]
    violated = {name for it in wrong for name in failed_clauses(it, cases[it.case])}
    return Summary(
        Counter(it.grade for it in run.results),
        sum(1 for it in wrong if it.known),
        {
            group: tuple(
                name for name, it in clauses().items()
                if name in violated and strength(it.level) == group
            )
            for group in STRENGTHS
        },
    )  # fmt: skip


def failed_clauses(result: Result, case: Case) -> tuple[str, ...]:
    """Return the clauses that a failed case violates.

    Implementations should support the data types and codecs of the core specification.  An
    implementation that does not support one violates only that clause.
    """
    optional = case.id.startswith(("v3-data-types/", "v3-codecs/"))
    if not (optional and result.observed.get("category") == "extension"):
        return case.clauses
    return tuple(it for it in case.clauses if strength(clauses()[it].level) == "should")


def summary_line(run: ImplementationResults, cases: Mapping[str, Case]) -> str:
    """Return the totals as one line."""
    totals = summary(run, cases)
    parts = [f"{totals.grades.get('pass', 0)} of {totals.supported} pass ({totals.percent} %)"]
    for group, broken in totals.failing.items():
        if broken:
            parts.append(f"{len(broken)} {group}{'s' if len(broken) > 1 else ''} fail")
    if crashes := totals.grades.get("crash"):
        parts.append(f"{crashes} crash")
    if totals.known:
        parts.append(f"{totals.known} known")
    text = f"{run.name} {run.version}: {', '.join(parts)}"
    if unsupported := totals.grades.get("unsupported"):
        text += f"; {unsupported} not supported"
    return text
