"""A case of one text, whose clauses are named without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Case
from zarr_conformance.corpus.encode import document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.corpus.case import Expectation


def case_of(
    text: str,
    name: str,
    clauses: str | tuple[str, ...],
    says: str,
    expect: Expectation,
    store: Mapping[str, Any],
    operation: Any = "open",
    path: str = "",
    **more: Any,
) -> Case:
    """A case whose store is told by documents, or by bytes where they are none.

    Parameters
    ----------
    text : str
        Name of the specification; ids of the case and of its clauses begin with it.
    name, clauses
        The rest of these ids.
    says, expect, operation, path
        As a case has them.
    store : mapping
        Values by keys: bytes, or JSON.
    **more
        Further members of the case.
    """
    names = (clauses,) if isinstance(clauses, str) else clauses
    return Case(
        f"{text}/{name}",
        tuple(f"{text}.{it}" for it in names),
        says,
        operation,
        expect,
        {key: it if isinstance(it, bytes) else document(it) for key, it in store.items()},
        path,
        **more,
    )
