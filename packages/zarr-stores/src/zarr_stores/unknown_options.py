"""Errors for unknown options, with suggestions of similar names."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from zarr_core.extension import StoreError

from zarr_stores.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_options(names: Iterable[str], known: Iterable[str], store: object) -> None:
    """Raise an error if an option is unknown.

    Otherwise a misspelled option would be ignored or fail late, and a misspelled password would
    be pickled.  The message does not contain values, because they may be secret.
    """
    known = frozenset(known)
    unknown = sorted(set(names) - known)
    if unknown:
        named = ", ".join(name + similar_names(name, known) for name in unknown)
        plural = "s" if len(unknown) > 1 else ""
        raise StoreError(f"unknown option{plural}: {named}", without_secrets(str(store)))


def similar_names(name: str, known: Iterable[str]) -> str:
    """Return similar names in parentheses, or an empty string."""
    by_case = {candidate.lower(): candidate for candidate in sorted(known)}
    similar = [by_case[match] for match in get_close_matches(name.lower(), by_case, 3, 0.75)]
    return f" (similar: {', '.join(similar)})" if similar else ""
