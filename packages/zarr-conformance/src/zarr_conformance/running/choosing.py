"""Which cases are meant by a few words."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_conformance.corpus.case import Case


def chosen(cases: Iterable[Case], only: Sequence[str]) -> list[Case]:
    """The cases that any of the words mean; all of them without words.

    A word means the case of this id, if there is one; the cases whose ids, or one of whose
    clauses, it matches, if it has ``*`` or ``?``; else those in whose ids or clauses it stands.

    Parameters
    ----------
    cases : iterable of Case
        What there is.
    only : sequence of str
        The words.
    """
    there = list(cases)
    if not only:
        return there
    ids = {case.id for case in there}
    return [case for case in there if any(_means(word, case, word in ids) for word in only)]


def _means(word: str, case: Case, exact: bool) -> bool:
    if exact:
        return case.id == word
    names = (case.id, *case.clauses)
    if "*" in word or "?" in word:
        return any(fnmatchcase(name, word) for name in names)
    return any(word in name for name in names)
