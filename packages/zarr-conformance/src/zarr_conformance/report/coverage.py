"""The clauses that cases test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_conformance.clauses.clause import Clause, clauses
from zarr_conformance.corpus.case import Accept, Either, Reject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_conformance.corpus.case import Case

KINDS = {Accept: "positive", Reject: "negative", Either: "open"}
"""The kind of a case for its clauses, by its expectation: success, an error, or either."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The cases of one clause, by their ids."""

    clause: Clause
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    open: tuple[str, ...]

    @property
    def gaps(self) -> tuple[str, ...]:
        """The missing kinds of cases: ``positive``, ``negative``."""
        if not self.clause.tested:
            return ()
        has_positive = bool(self.positive or self.open)
        has_negative = bool(self.negative) or not self.clause.negative
        return tuple(
            name
            for name, covered in (("positive", has_positive), ("negative", has_negative))
            if not covered
        )


def coverage(cases: Iterable[Case]) -> dict[str, Coverage]:
    """Return the cases of every clause by its id, in the order of the specifications.

    Parameters
    ----------
    cases : iterable of Case
        The corpus.
    """
    by_clause: dict[str, dict[str, list[str]]] = {
        name: {kind: [] for kind in KINDS.values()} for name in clauses()
    }
    for case in cases:
        for name in case.clauses:
            by_clause[name][KINDS[type(case.expect)]].append(case.id)
    return {
        name: Coverage(clause, **{kind: tuple(cases) for kind, cases in by_clause[name].items()})
        for name, clause in clauses().items()
    }
