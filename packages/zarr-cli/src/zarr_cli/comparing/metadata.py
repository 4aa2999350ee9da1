"""Where the documents of two nodes differ."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zarr_core.extension import json_pointer, strictjson

from zarr_cli.comparing.result import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array, Group

# Members that say how the elements are stored, not what they are.
STORAGE = ("chunk_grid", "chunk_key_encoding", "codecs", "storage_transformers")
# What both have in any case, or have as copies of what is compared itself.
_LEFT_OUT = ("zarr_format", "node_type", "consolidated_metadata")
_ABSENT: Any = object()


def compare_metadata(
    a: Array | Group, b: Array | Group, path: str, *, storage: bool
) -> Iterator[Difference]:
    """Compare two documents in the words of version 3, whatever formats they have.

    Parameters
    ----------
    a, b : Array or Group
        The nodes, both arrays or both groups.
    path : str
        Where they are, for the differences.
    storage : bool
        Whether members count that say how elements are stored.
    """
    left_out = _LEFT_OUT if storage else (*_LEFT_OUT, *STORAGE)
    documents = [
        {name: value for name, value in node.metadata.to_json().items() if name not in left_out}
        for node in (a, b)
    ]
    # An empty member says as much as one that is left out.
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
