"""Cases of one specification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Case
from zarr_conformance.corpus.encode import document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.corpus.case import Expectation


def build_case(
    specification: str,
    name: str,
    clauses: str | tuple[str, ...],
    summary: str,
    expect: Expectation,
    store: Mapping[str, Any],
    operation: Any = "open",
    path: str = "",
    **more: Any,
) -> Case:
    """Return a case of a specification.

    Parameters
    ----------
    specification : str
        The prefix of the ids of the case and its clauses.
    name, clauses
        The ids without the prefix.
    summary, expect, operation, path
        See `Case`.
    store : mapping
        Values by keys: bytes, or JSON values that are encoded.
    **more
        Other parameters of `Case`.
    """
    names = (clauses,) if isinstance(clauses, str) else clauses
    return Case(
        f"{specification}/{name}",
        tuple(f"{specification}.{it}" for it in names),
        summary,
        operation,
        expect,
        {key: it if isinstance(it, bytes) else document(it) for key, it in store.items()},
        path,
        **more,
    )
