"""Documents of the draft of version 3 to build cases from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_conformance.corpus.case import Case
from zarr_conformance.corpus.documents import LEFT_OUT
from zarr_conformance.corpus.encode import document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.corpus.case import Expectation, Operation

CORE = "https://purl.org/zarr/spec/core/3.0"
DATA_TYPES = "https://purl.org/zarr/spec/extensions/data-types"
SHARDING = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0"
UNKNOWN = "https://example.com/zarr/extensions/nobodys/1.0"
"""The URI of an extension that nobody has."""


def entry(**members: Any) -> dict[str, Any]:
    """The entry point of a hierarchy; members replace its own."""
    plain = {
        "zarr_format": CORE,
        "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"},
        "extensions": [],
    }
    return {name: it for name, it in (plain | members).items() if it is not LEFT_OUT}


def array(**members: Any) -> dict[str, Any]:
    """The document of an array of shape (4,), int32, in two chunks; members replace its own."""
    plain = {
        "shape": [4],
        "data_type": "int32",
        "chunk_grid": regular(2),
        "chunk_memory_layout": "C",
        "fill_value": 0,
        "extensions": [],
        "attributes": {},
    }
    return {name: it for name, it in (plain | members).items() if it is not LEFT_OUT}


def regular(*lengths: int, separator: str = "/") -> dict[str, Any]:
    """A regular chunk grid."""
    return {"type": "regular", "chunk_shape": list(lengths), "separator": separator}


def codec(name: str, **configuration: Any) -> dict[str, Any]:
    """One of the codecs that are published beside the text."""
    return {
        "type": f"https://purl.org/zarr/spec/codecs/{name}/1.0",
        "configuration": configuration,
    }


def hierarchy(content: Mapping[str, Any], start: Any = None) -> dict[str, bytes]:
    """A store: an entry point, documents and chunks by their keys."""
    told = entry() if start is None else start
    return {
        key: value if isinstance(value, bytes) else document(value)
        for key, value in {"zarr.json": told, **content}.items()
    }


def case(
    what: str,
    clauses: str | tuple[str, ...],
    says: str,
    expect: Expectation,
    content: Mapping[str, Any],
    operation: Operation = "open",
    *,
    path: str = "a",
    start: Any = None,
    needs: tuple[str, ...] = (),
    selection: Any = None,
) -> Case:
    """A case of a hierarchy of the draft; clauses are given without its name."""
    named = (clauses,) if isinstance(clauses, str) else clauses
    return Case(
        f"v3-draft/{what}",
        tuple(f"v3-draft.{it}" for it in named),
        says,
        operation,
        expect,
        hierarchy(content, start),
        path,
        zarr_format=0,
        needs=needs,
        selection=selection,
    )
