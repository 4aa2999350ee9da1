"""Totals for an implementation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_conformance.clauses.clause import clauses
from zarr_conformance.corpus.case import Accept, Reject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.corpus.case import Case
    from zarr_conformance.report.results import ImplementationResults, Result

STRENGTHS = ("must", "should", "may")
"""The levels of clauses, without negation."""

INVALID = "invalid"
"""The group of clauses that define valid documents, but do not require readers to reject others."""

FAILURES = {
    "wrong": "wrong data",
    "refuses": "refuses valid data",
    "accepts": "accepts invalid data",
    "crash": "crash or hang",
    "resources": "exceeds the memory limit",
}
"""The kinds of failures, most severe first."""

NOTHING_ACCEPTED = "accepts no valid data: every case that must succeed is an error or unsupported"
"""Why a run without any accepted data fails."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The totals of an implementation.

    Parameters
    ----------
    grades : mapping of str to int
        The number of cases by grade.
    known : int
        The number of failures in the baseline.
    failures : mapping of str to int
        The number of failed cases by their kind, in the order of `FAILURES`, without zeros.
    failing : mapping of str to tuple of str
        The clauses with failed cases, by strength.  Clauses that only define valid documents are
        in the group ``invalid`` if the implementation accepts documents that violate them.
    accepted : int
        The number of passed cases in which the implementation returned a result, not an error.
    acceptable : int
        The number of cases that were run and must succeed.
    """

    grades: Mapping[str, int]
    known: int
    failures: Mapping[str, int]
    failing: Mapping[str, tuple[str, ...]]
    accepted: int
    acceptable: int

    @property
    def passed(self) -> int:
        """The number of cases that pass."""
        return self.grades.get("pass", 0)

    @property
    def judged(self) -> int:
        """The number of cases that pass or fail; others are not supported."""
        return self.cases - self.grades.get("unsupported", 0)

    @property
    def cases(self) -> int:
        """The number of all cases that were run."""
        return sum(self.grades.values())

    @property
    def percent(self) -> int:
        """The percentage of judged cases that pass, rounded down."""
        return 100 * self.passed // self.judged if self.judged else 0

    @property
    def coverage(self) -> int:
        """The percentage of all cases that were judged, rounded down."""
        return 100 * self.judged // self.cases if self.cases else 0

    @property
    def accepts_nothing(self) -> bool:
        """Whether no valid data was accepted.

        Errors for invalid data prove nothing if every other response is an error, too.
        """
        return bool(self.acceptable) and not self.accepted


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
    wrong = [result for result in run.results if result.grade in ("fail", "crash")]
    kinds = Counter(failure_kind(item, cases[item.case]) for item in wrong)
    violated = {group for item in wrong for group in violations(item, cases[item.case])}
    return Summary(
        Counter(result.grade for result in run.results),
        sum(1 for item in wrong if item.known),
        {kind: kinds[kind] for kind in FAILURES if kinds[kind]},
        {
            group: tuple(name for name in clauses() if (group, name) in violated)
            for group in (*STRENGTHS, INVALID)
        },
        sum(1 for result in run.results if _is_accepted(result, cases[result.case])),
        sum(1 for result in run.results if isinstance(cases[result.case].expect, Accept)),
    )


def failure_kind(result: Result, case: Case) -> str:
    """Return the kind of a failure, a key of `FAILURES`.

    Parameters
    ----------
    result : Result
        A result with the grade ``fail`` or ``crash``.
    case : Case
        Its case.
    """
    if result.grade == "crash":
        return "resources" if result.observed.get("outcome") == "memory" else "crash"
    if isinstance(case.expect, Reject):
        return "accepts"
    refused = result.observed.get("outcome") == "error" or case.operation == "validate"
    return "refuses" if refused else "wrong"


def violations(result: Result, case: Case) -> tuple[tuple[str, str], ...]:
    """Return the clauses that a failed case violates, each as a group and an id.

    The group is the strength of the clause.  If invalid data were accepted, it is `INVALID` for
    clauses that do not require readers to reject them.
    """
    kind = failure_kind(result, case)
    if kind == "resources":
        return ()  # no specification limits the memory of an implementation
    accepts = kind == "accepts"
    failed = ((clauses()[name], name) for name in failed_clauses(result, case))
    return tuple(
        (INVALID if accepts and not clause.binds_reader else strength(clause.level), name)
        for clause, name in failed
    )


def failed_clauses(result: Result, case: Case) -> tuple[str, ...]:
    """Return the clauses of a failed case.

    Implementations should support the data types and codecs of the core specification.  An
    implementation that does not support one violates only that clause.
    """
    optional = case.id.startswith(("v3-data-types/", "v3-codecs/", "v3-core/written/", "changes/"))
    if not (optional and result.observed.get("category") == "extension"):
        return case.clauses
    return tuple(clause for clause in case.clauses if strength(clauses()[clause].level) == "should")


def _is_accepted(result: Result, case: Case) -> bool:
    if result.grade != "pass" or isinstance(case.expect, Reject):
        return False
    return result.observed.get("outcome") != "error"


def summary_line(run: ImplementationResults, cases: Mapping[str, Case]) -> str:
    """Return the totals as one line: coverage, then kinds of failures, then violated clauses."""
    totals = summary(run, cases)
    text = (
        f"{run.name} {run.version}: {totals.passed} passed of {totals.judged} judged "
        f"of {totals.cases} cases ({totals.percent} % of those judged)"
    )
    if totals.accepts_nothing:
        text += "; accepts no valid data"
    if totals.failures:
        text += f"; {', '.join(f'{FAILURES[kind]}: {n}' for kind, n in totals.failures.items())}"
    if broken := clauses_text(totals.failing):
        text += f"; {broken}"
    return f"{text}; {totals.known} known" if totals.known else text


def clauses_text(failing: Mapping[str, tuple[str, ...]]) -> str:
    """Return the numbers of violated clauses: ``2 musts and 1 may violated, ...``."""
    broken = [
        f"{len(failing[group])} {group}{'s' if len(failing[group]) > 1 else ''}"
        for group in STRENGTHS
        if failing[group]
    ]
    parts = [f"{' and '.join(broken)} violated"] if broken else []
    if count := len(failing[INVALID]):
        parts.append(f"{count} definition{'s' if count > 1 else ''} of valid data not checked")
    return ", ".join(parts)
