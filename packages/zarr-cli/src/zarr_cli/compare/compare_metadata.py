"""Comparison of the metadata of two nodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zarr_core.tools import json_pointer, strictjson

from zarr_cli.compare.difference import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array, Group

# Fields that describe how elements are stored.
STORAGE = ("chunk_grid", "chunk_key_encoding", "codecs", "storage_transformers")
# Fields that follow from the format, or are copies of metadata that is compared itself.
_IGNORED = ("zarr_format", "node_type", "consolidated_metadata")
_ABSENT: Any = object()


def compare_metadata(
    a: Array | Group, b: Array | Group, path: str, *, storage: bool
) -> Iterator[Difference]:
    """Compare the metadata of two nodes in the form of version 3.

    Parameters
    ----------
    a, b : Array or Group
        The nodes, both arrays or both groups.
    path : str
        The path of the nodes, for the differences.
    storage : bool
        Whether to compare fields that describe how elements are stored.
    """
    ignored = _IGNORED if storage else (*_IGNORED, *STORAGE)
    documents = [
        {name: value for name, value in node.metadata.to_json().items() if name not in ignored}
        for node in (a, b)
    ]
    # Missing attributes are the same as empty attributes.
    for document in documents:
        document.setdefault("attributes", {})
    for pointer, one, other in _differences(documents[0], documents[1], ""):
        texts = ["nothing" if it is _ABSENT else _text(it) for it in (one, other)]
        yield Difference(
            path,
            "metadata",
            pointer,
            "" if one is _ABSENT else texts[0],
            "" if other is _ABSENT else texts[1],
            f"{texts[0]} in A, {texts[1]} in B",
        )


def _differences(one: Any, other: Any, pointer: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys((*one, *other)):
            below = pointer + json_pointer(name)
            yield from _differences(one.get(name, _ABSENT), other.get(name, _ABSENT), below)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (item, its) in enumerate(zip(one, other, strict=True)):
            yield from _differences(item, its, f"{pointer}/{number}")
    elif one is _ABSENT or other is _ABSENT or not strictjson.identical(one, other):
        yield pointer, one, other


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
