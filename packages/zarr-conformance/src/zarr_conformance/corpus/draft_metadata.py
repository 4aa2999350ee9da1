"""Metadata documents of the draft of version 3 for test cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Case
from zarr_conformance.corpus.encode import document
from zarr_conformance.corpus.metadata import OMITTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.corpus.case import Expectation, Operation

CORE = "https://purl.org/zarr/spec/core/3.0"
DATA_TYPES = "https://purl.org/zarr/spec/extensions/data-types"
SHARDING = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0"


def entry(**members: Any) -> dict[str, Any]:
    """Return entry point metadata; members override the defaults."""
    plain = {
        "zarr_format": CORE,
        "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"},
        "extensions": [],
    }
    return {name: value for name, value in (plain | members).items() if value is not OMITTED}


def array(**members: Any) -> dict[str, Any]:
    """Return array metadata: shape (4,), int32, two chunks; members override the defaults."""
    plain = {
        "shape": [4],
        "data_type": "int32",
        "chunk_grid": regular(2),
        "chunk_memory_layout": "C",
        "fill_value": 0,
        "extensions": [],
        "attributes": {},
    }
    return {name: value for name, value in (plain | members).items() if value is not OMITTED}


def group(**members: Any) -> dict[str, Any]:
    """Return group metadata without attributes; members override the defaults."""
    plain: dict[str, Any] = {"attributes": {}}
    return {name: value for name, value in (plain | members).items() if value is not OMITTED}


def regular(*lengths: int, separator: str = "/") -> dict[str, Any]:
    """Return the metadata of a regular chunk grid."""
    return {"type": "regular", "chunk_shape": list(lengths), "separator": separator}


def codec(name: str, **configuration: Any) -> dict[str, Any]:
    """Return the metadata of a codec published with the specification."""
    return {
        "type": f"https://purl.org/zarr/spec/codecs/{name}/1.0",
        "configuration": configuration,
    }


def hierarchy(content: Mapping[str, Any], start: Any = None) -> dict[str, bytes]:
    """Return a store: entry point, metadata documents and chunks by key."""
    metadata = entry() if start is None else start
    return {
        key: value if isinstance(value, bytes) else document(value)
        for key, value in {"zarr.json": metadata, **content}.items()
    }


def case(
    what: str,
    clauses: str | tuple[str, ...],
    summary: str,
    expect: Expectation,
    content: Mapping[str, Any],
    operation: Operation = "open",
    *,
    path: str = "a",
    start: Any = None,
    needs: tuple[str, ...] = (),
    selection: Any = None,
) -> Case:
    """Return a case of the draft; clauses are given without the prefix."""
    named = (clauses,) if isinstance(clauses, str) else clauses
    return Case(
        f"v3-draft/{what}",
        tuple(f"v3-draft.{item}" for item in named),
        summary,
        operation,
        expect,
        hierarchy(content, start),
        path,
        zarr_format=0,
        needs=needs,
        selection=selection,
    )
