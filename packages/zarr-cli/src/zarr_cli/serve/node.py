"""The endpoint ``node``: the properties of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import Array
from zarr_core.extension import ArrayMetadata, ZarrError
from zarr_core.formats.detect import read_node
from zarr_display.info import data_type_text

from zarr_cli.serve.folders import Folder
from zarr_cli.serve.problems import problems_of, remarks
from zarr_cli.serve.query import NodeMissingError, open_node, requested_path
from zarr_cli.serve.responses import JsonResponse
from zarr_cli.serve.window import are_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response
    from zarr_core import Group
    from zarr_core.extension import Store

# The metadata documents of all formats, for nodes of unknown format.
_ANY = ("zarr.json", ".zarray", ".zgroup", ".zattrs", "attributes.json", "meta", "attrs")

_NOTHING: dict[str, Any] = {
    "readable": True,
    "info": {},
    "attributes": {},
    "documents": [],
    "problems": [],
    "remarks": [],
}


def describe_node(store: Store, root: str, query: Mapping[str, str]) -> Response:
    """Return the type, metadata documents, attributes and problems of a node.

    The properties of a node that cannot be opened are returned as far as possible.
    """
    path = requested_path(root, query)
    node: Array | Group | None = None
    problems: list[dict[str, str]] = []
    try:
        node = open_node(store, root, path)
    except NodeMissingError:
        for _ in Folder(store, root, path):  # raises if there are no keys
            break
        return JsonResponse({"path": _below(root, path), "kind": "folder", **_NOTHING})
    except ZarrError as error:
        problems = problems_of(error, store)
    documents, prefix, model = _stored(store, path)
    if node is not None:
        model = node.metadata
    response: dict[str, Any] = {
        "path": _below(root, path),
        "kind": _kind(model),
        "readable": node is not None,
        "info": dict(node.info) if node is not None else {},
        "attributes": {} if model is None else model.attributes,
        "documents": [_below(root, key) for key in documents],
        "problems": problems,
        "remarks": [] if node is None else remarks(node),
    }
    if isinstance(model, ArrayMetadata):
        response["metadata"] = {
            key: value for key, value in model.to_json().items() if key != "attributes"
        }
        response["prefix"] = None if prefix is None else _below(root, prefix)
    if isinstance(node, Array):
        response |= {
            "shape": list(node.shape),
            "chunks": node.chunks,
            "shards": node.shards,
            "grid": list(node.cdata_shape),
            "data_type": data_type_text(node.stored),
            "item_size": node.dtype.itemsize,
            "elements": "numbers" if are_numbers(node.dtype) else "text",
            "dimension_names": node.dimension_names,
        }
    return JsonResponse(response)


def _below(root: str, key: str) -> str:
    """Return a path or key relative to the served path."""
    return key[len(root) :].lstrip("/")


def _kind(model: Any) -> str:
    if model is None:
        return "damaged"
    return "array" if isinstance(model, ArrayMetadata) else "group"


def _stored(store: Store, path: str) -> tuple[list[str], str | None, Any]:
    """Return keys of metadata documents, the prefix of chunk keys, and the parsed metadata."""
    below = f"{path}/" if path else ""
    try:
        format_, model = read_node(store, path)
    except ZarrError:
        return [below + name for name in _ANY if store.exists(below + name)], None, None
    keys = [key for key in format_.documents(path) if store.exists(key)]
    return keys, format_.chunk_prefix(path), model
