"""Documents that are valid, documents that are not with the place where something is wrong.

They are those of the cases that open them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from zarr_conformance.corpus import v3_array, v3_group
from zarr_conformance.corpus.case import Accept, Case, Reject

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXTS = ("v3-core.array.", "v3-core.group.")


def cases() -> Iterator[Case]:
    """All of them."""
    for case in (*v3_array.cases(), *v3_group.cases()):
        opened = case.operation in ("open", "read") and not case.path and "zarr.json" in case.store
        if not opened or not all(it.startswith(_TEXTS) for it in case.clauses):
            continue
        expect: Accept | Reject
        if isinstance(case.expect, Accept):
            says, expect = "What can be opened is valid.", Accept()
        elif isinstance(case.expect, Reject) and case.expect.category == "metadata":
            says = "What is wrong is found without opening, and where it is."
            expect = Reject("metadata", pointers=_pointers(case))
        else:
            continue
        yield replace(
            case,
            id=f"v3-core/validate/{'-'.join(case.id.split('/')[1:])}",
            says=f"{says} {case.says}",
            operation="validate",
            expect=expect,
            store={"zarr.json": case.store["zarr.json"]},
            selection=None,
        )


def _pointers(case: Case) -> tuple[str, ...]:
    """Where the document is wrong: the member that the clause is about; all, if it is not there."""
    document = json.loads(case.store["zarr.json"])
    name = case.clauses[0].split(".")[2]
    members = (*document, "shape", "codecs", "fill_value")
    found = [it for it in members if name.startswith(it.replace("_", "-"))]
    if not found:
        return ()
    longest = max(found, key=len)
    return (f"/{longest}",) if longest in document else (f"/{longest}", "")
