"""Selection of cases by ids and clauses."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_conformance.corpus.case import Case


def select_cases(cases: Iterable[Case], only: Sequence[str]) -> list[Case]:
    """Return the cases that match any of the patterns; all cases without patterns.

    A pattern is an id; or a pattern with ``*`` or ``?`` for ids and clauses; or a part of an id
    or a clause.
    """
    selected = list(cases)
    if not only:
        return selected
    ids = {case.id for case in selected}
    return [
        case
        for case in selected
        if any(_matches(pattern, case, pattern in ids) for pattern in only)
    ]


def _matches(pattern: str, case: Case, exact: bool) -> bool:
    if exact:
        return case.id == pattern
    names = (case.id, *case.clauses)
    if "*" in pattern or "?" in pattern:
        return any(fnmatchcase(name, pattern) for name in names)
    return any(pattern in name for name in names)
