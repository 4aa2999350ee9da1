"""Definitions of an extension within a metadata document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zarr_core.extension import strictjson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import JSON, Store

DOCUMENT = "zarr.json"


def read(store: Store) -> dict[str, Any]:
    """The document of the node at the root of a store."""
    value = store.get(DOCUMENT)
    assert value is not None, "no metadata document was written"
    document: Any = strictjson.loads(bytes(value), DOCUMENT)
    return dict(document)


def write(store: Store, document: dict[str, Any]) -> None:
    """Write a document."""
    store.set(DOCUMENT, json.dumps(document).encode())


def spellings(definition: JSON, name: str, may_be_left_out: bool) -> Iterator[JSON]:
    """Other spellings of a definition that have the same meaning."""
    members: dict[str, JSON] = {"name": definition} if isinstance(definition, str) else {}
    members = members or dict(definition)  # type: ignore[arg-type] # not a string: an object
    yield {**members, "must_understand": True}
    if may_be_left_out:
        yield {**members, "must_understand": False}
    yield dict(reversed(list(members.items())))
    if not members.get("configuration"):
        yield name
        yield {"name": name, "configuration": {}}


def respelled(document: JSON, name: str, spelling: JSON) -> JSON:
    """The document with each definition of an extension written in another way."""
    if document == name or (isinstance(document, dict) and document.get("name") == name):
        return spelling
    if isinstance(document, dict):
        return {
            key: value if key in _NO_DEFINITIONS else respelled(value, name, spelling)
            for key, value in document.items()
        }
    if isinstance(document, list):
        return [respelled(value, name, spelling) for value in document]
    return document


def definition_in(document: JSON, name: str) -> JSON:
    """Return the first definition of an extension in a document, or None."""
    if document == name or (isinstance(document, dict) and document.get("name") == name):
        return document
    inside: list[JSON] = []
    if isinstance(document, dict):
        inside = [value for key, value in document.items() if key not in _NO_DEFINITIONS]
    elif isinstance(document, list):
        inside = document
    for value in inside:
        if (inner := definition_in(value, name)) is not None:
            return inner
    return None


_NO_DEFINITIONS = ("attributes", "fill_value", "dimension_names", "node_type")
