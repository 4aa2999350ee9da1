"""Errors for unknown options, with suggestions of similar names."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreError

from zarr_stores.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


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


def arguments_of(*callables: Callable[..., Any]) -> set[str]:
    """Return the names of the arguments of functions, and of classes with their bases."""
    names: set[str] = set()
    for called in callables:
        parts = (
            [vars(kind).get("__init__") for kind in called.__mro__]
            if isinstance(called, type)
            else [called]
        )
        for part in parts:
            if part is None:
                continue
            try:
                parameters = inspect.signature(part).parameters.values()
            except ValueError:  # some functions in C have no signature
                continue
            names.update(parameter.name for parameter in parameters if parameter.kind in _NAMED)
    return names - {"self", "cls", "args", "kwargs"}
