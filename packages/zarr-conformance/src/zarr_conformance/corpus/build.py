"""Build the corpus: all cases, as Python objects or as files for other languages.

``manifest.json`` lists clauses and cases. ``stores/<case id>/`` is the directory store of a
case, ``values/<case id>`` contains the elements to read or write.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarr_conformance.clauses.clause import specifications
from zarr_conformance.corpus.case import Accept, Case, Either, Node, Reject
from zarr_conformance.corpus.required_extensions import add_required_extensions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MANIFEST_VERSION = 1

TOPICS = (
    "v3_array",
    "v3_group",
    "v3_validate",
    "v3_extensions",
    "v3_data_types",
    "fill_value_rounding",
    "v3_chunks",
    "v3_codecs",
    "v3_blosc",
    "v3_codec_chains",
    "v3_sharding",
    "v3_sharding_corrupt",
    "v3_stores",
    "v3_written",
    "v2_array",
    "v2_data_types",
    "v2_codecs",
    "v2_group",
    "v2_written",
    "draft_entry_point",
    "draft_hierarchy",
    "draft_array",
    "draft_data_types",
    "draft_chunks",
    "draft_sharding",
    "draft_create",
    "draft_written",
    "changes",
    "ext_zstd",
    "ext_bitround_scale_offset",
    "ext_cast_value",
    "ext_cast_value_invalid",
    "ext_packbits",
    "ext_reshape",
    "ext_vlen",
    "ext_conditional",
    "ext_n5_default",
    "ext_zfp",
    "ext_numeric_types",
    "ext_datetime",
    "ext_struct",
    "ext_utf32",
    "ext_rectilinear",
    "ext_rectilinear_invalid",
)
"""Modules of this package with a function ``cases``."""

_OPTIONAL = ("ext-", "v3-chunks/")
"""Prefixes of cases with optional extensions; core data types and codecs are expected."""


def all_cases() -> Iterator[Case]:
    """Return all cases, ordered by topic.

    Raises
    ------
    ValueError
        If two cases have the same id.
    """
    return iter(_cases())


@cache
def _cases() -> tuple[Case, ...]:
    found: dict[str, Case] = {}
    for topic in TOPICS:
        for case in import_module(f"zarr_conformance.corpus.{topic}").cases():
            if case.id in found:
                raise ValueError(f"{topic}: duplicate case id {case.id}")
            found[case.id] = (
                add_required_extensions(case) if case.id.startswith(_OPTIONAL) else case
            )
    return tuple(found.values())


def build(folder: Path, cases: Iterable[Case] | None = None) -> int:
    """Write the corpus to a directory. The output is reproducible.

    Parameters
    ----------
    folder : Path
        The directory; created if it does not exist.
    cases : iterable of Case, optional
        The cases to write; all of them if omitted.

    Returns
    -------
    int
        The number of cases.

    Raises
    ------
    FileExistsError
        If the directory is not empty.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty")
    listed = []
    for case in all_cases() if cases is None else cases:
        store = folder / "stores" / case.id
        store.mkdir(parents=True)
        for key, value in case.store.items():
            file = store / key
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(value)
        node = _node(case)
        if node is not None and node.values is not None:
            file = folder / "values" / case.id
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(node.values.data)
        listed.append(as_json(case))
    clauses = [
        {
            "id": clause.id,
            "specification": clause.specification,
            "section": clause.section,
            "level": clause.level,
            "text": clause.text,
        }
        for text in specifications().values()
        for clause in text.clauses
    ]
    manifest = {"version": MANIFEST_VERSION, "clauses": clauses, "cases": listed}
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    (folder / "manifest.json").write_text(f"{text}\n", "utf-8")
    return len(listed)


def as_json(case: Case) -> dict[str, Any]:
    """Return a case as JSON for the manifest; members without a value are omitted."""
    entry: dict[str, Any] = {
        "id": case.id,
        "clauses": list(case.clauses),
        "summary": case.summary,
        "operation": case.operation,
        "zarr_format": case.zarr_format,
        "store": f"stores/{case.id}",
        "path": case.path,
        "expect": _expectation(case),
    }
    if case.needs:
        entry["needs"] = list(case.needs)
    if case.selection is not None:
        entry["selection"] = [list(part) for part in case.selection]
    if case.document is not None:
        entry["document"] = case.document
    if case.calls:
        entry["calls"] = [list(call) for call in case.calls]
    return entry


def _expectation(case: Case) -> dict[str, Any]:
    expect = case.expect
    if isinstance(expect, Reject):
        categories = [it for it in (expect.category, expect.also) if it]
        pointers = {"pointers": list(expect.pointers)} if expect.pointers else {}
        return {"outcome": "reject", "categories": categories, **pointers}
    entry: dict[str, Any] = {"outcome": "accept" if isinstance(expect, Accept) else "either"}
    node = expect.node
    for name in (
        "node_type",
        "shape",
        "attributes",
        "dimension_names",
        "members",
        "results",
        "documents",
    ):
        value = getattr(node, name)
        if value is not None:
            entry[name] = list(value) if isinstance(value, tuple) else value
    if node.stored is not None:
        entry["stored"] = {
            key: base64.b64encode(value).decode() for key, value in node.stored.items()
        }
    if node.absent:
        entry["absent"] = list(node.absent)
    if node.values is not None:
        entry["values"] = {"file": f"values/{case.id}", "kind": node.values.kind}
    return entry


def _node(case: Case) -> Node | None:
    return case.expect.node if isinstance(case.expect, Accept | Either) else None
