"""Valid and invalid metadata documents of version 3, with the location of the error.

The documents are those of the cases with the operation ``open``.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from zarr_conformance.corpus import v3_array
from zarr_conformance.corpus.case import Accept, Case, Reject
from zarr_conformance.corpus.case_tables import table_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXTS = ("v3-core.array.", "v3-core.group.")


def cases() -> Iterator[Case]:
    """Yield the cases."""
    for case in (*v3_array.cases(), *table_cases("v3_group")):
        opened = case.operation in ("open", "read") and not case.path and "zarr.json" in case.store
        if not opened or not all(clause.startswith(_TEXTS) for clause in case.clauses):
            continue
        expect: Accept | Reject
        if isinstance(case.expect, Accept):
            summary, expect = "Metadata that can be opened is valid.", Accept()
        elif isinstance(case.expect, Reject) and case.expect.category == "metadata":
            summary = "Validation reports the error and its location without opening the node."
            expect = Reject("metadata", pointers=_pointers(case))
        else:
            continue
        yield replace(
            case,
            id=f"v3-core/validate/{'-'.join(case.id.split('/')[1:])}",
            summary=f"{summary} {case.summary}",
            operation="validate",
            expect=expect,
            store={"zarr.json": case.store["zarr.json"]},
            selection=None,
        )


def _pointers(case: Case) -> tuple[str, ...]:
    """Return pointers to the invalid field of the clause; all fields if it is missing."""
    document = json.loads(case.store["zarr.json"])
    name = case.clauses[0].split(".")[2]
    members = (*document, "shape", "codecs", "fill_value")
    named = [member for member in members if name.startswith(member.replace("_", "-"))]
    if not named:
        return ()
    longest = max(named, key=len)
    return (f"/{longest}",) if longest in document else (f"/{longest}", "")
