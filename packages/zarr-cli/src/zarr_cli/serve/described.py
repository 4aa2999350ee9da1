"""Everything that the document of a node says, for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import Array
from zarr_core.extension import ArrayMetadata, ZarrError, read_node

from zarr_cli.serve.answers import Answer, json_answer
from zarr_cli.serve.asked import NotThereError, open_node, path_of
from zarr_cli.serve.folders import Folder
from zarr_cli.serve.problems import problems_of, remarks_on
from zarr_cli.serve.window import are_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core import Group
    from zarr_core.extension import Store

# What a node whose format cannot be told may have.
_ANY = ("zarr.json", ".zarray", ".zgroup", ".zattrs", "attributes.json", "meta", "attrs")

_NOTHING: dict[str, Any] = {
    "readable": True,
    "info": {},
    "attributes": {},
    "documents": [],
    "problems": [],
    "remarks": [],
}


def described(store: Store, root: str, asked: Mapping[str, str]) -> Answer:
    """A node: what it is, its documents, its attributes, what is wrong with it.

    A node that cannot be understood is described as far as it can be.
    """
    path = path_of(root, asked)
    node: Array | Group | None = None
    problems: list[dict[str, str]] = []
    try:
        node = open_node(store, root, path)
    except NotThereError:
        for _ in Folder(store, root, path):  # raises if nothing is there at all
            break
        return json_answer({"path": _below(root, path), "kind": "folder", **_NOTHING})
    except ZarrError as error:
        problems = problems_of(error)
    documents, prefix, model = _stored(store, path)
    if node is not None:
        model = node.metadata
    answer: dict[str, Any] = {
        "path": _below(root, path),
        "kind": _kind(model),
        "readable": node is not None,
        "info": dict(node.info) if node is not None else {},
        "attributes": {} if model is None else model.attributes,
        "documents": [_below(root, key) for key in documents],
        "problems": problems,
        "remarks": [] if node is None else remarks_on(node),
    }
    if isinstance(model, ArrayMetadata):
        answer["metadata"] = {
            key: value for key, value in model.to_json().items() if key != "attributes"
        }
        answer["prefix"] = None if prefix is None else _below(root, prefix)
    if isinstance(node, Array):
        answer |= {
            "shape": list(node.shape),
            "chunks": node.chunks,
            "shards": node.shards,
            "grid": list(node.cdata_shape),
            "data_type": node.info["Data type"],
            "item_size": node.itemsize,
            "elements": "numbers" if are_numbers(node.dtype) else "text",
            "dimension_names": node.dimension_names,
        }
    return json_answer(answer)


def _below(root: str, key: str) -> str:
    """A path or key as those know it who know only what is served."""
    return key[len(root) :].lstrip("/")


def _kind(model: Any) -> str:
    if model is None:
        return "damaged"
    return "array" if isinstance(model, ArrayMetadata) else "group"


def _stored(store: Store, path: str) -> tuple[list[str], str | None, Any]:
    """Keys of the documents that are there; what begins chunk keys, and the model, if known."""
    below = f"{path}/" if path else ""
    try:
        format_, model = read_node(store, path)
    except ZarrError:
        return [below + name for name in _ANY if store.exists(below + name)], None, None
    keys = [key for key in format_.documents(path) if store.exists(key)]
    return keys, format_.chunk_prefix(path), model
