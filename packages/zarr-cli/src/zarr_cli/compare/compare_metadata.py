"""Comparison of the metadata of two nodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zarr_core import Array
from zarr_core.extension import ZarrError, json_pointer, strictjson
from zarr_transfer.conventions import (
    DIMENSIONS,
    MASK,
    follows_convention,
    mask_of,
    masks_nothing,
    same_mask,
    stored_names,
)

from zarr_cli.compare.difference import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Group

# Fields that describe how elements are stored.
STORAGE = ("chunk_grid", "chunk_key_encoding", "codecs", "storage_transformers")
# Fields that follow from the format, or are copies of metadata that is compared itself.
_IGNORED = ("zarr_format", "node_type", "consolidated_metadata")
_ABSENT: Any = object()


def compare_metadata(
    a: Array | Group, b: Array | Group, path: str, *, storage: bool
) -> Iterator[Difference]:
    """Compare the metadata of two nodes in the form of version 3."""
    ignored = _IGNORED if storage else (*_IGNORED, *STORAGE)
    documents: list[dict[str, Any]] = [
        {name: value for name, value in node.metadata.to_json().items() if name not in ignored}
        for node in (a, b)
    ]
    # Missing attributes are the same as empty attributes.
    for document in documents:
        document["attributes"] = {**document.get("attributes", {})}
        if document.get("storage_transformers") == []:
            del document["storage_transformers"]
    if isinstance(a, Array) and isinstance(b, Array):
        for array, document in zip((a, b), documents, strict=True):
            _name_dimensions(array, document)
        if {a.zarr_format, b.zarr_format} == {2, 3} and all(
            follows_convention(array.metadata) or not array.ndim for array in (a, b)
        ):
            yield from _compare_masks(a, b, path)
            for document in documents:
                document["attributes"].pop(MASK, None)
                if not storage:  # missing chunks are compared as elements
                    document.pop("fill_value", None)
    for pointer, one, other in _differences(documents[0], documents[1], ""):
        texts = ["nothing" if member is _ABSENT else _text(member) for member in (one, other)]
        yield Difference(
            path,
            "metadata",
            pointer,
            "" if one is _ABSENT else texts[0],
            "" if other is _ABSENT else texts[1],
            f"{texts[0]} in A, {texts[1]} in B",
        )


def _name_dimensions(array: Array, document: dict[str, Any]) -> None:
    """Replace the attribute of xarray for dimension names, if there is one, by the field."""
    names = stored_names(array.metadata)
    if not array.ndim:
        document.pop("dimension_names", None)
    elif names is not None and array.metadata.dimension_names is None:
        document["dimension_names"] = list(names)
    if names is not None and array.attrs.get(DIMENSIONS) == list(names):
        del document["attributes"][DIMENSIONS]


def _compare_masks(a: Array, b: Array, path: str) -> Iterator[Difference]:
    """Compare what xarray reads as missing: the fill value of version 2, an attribute of version 3."""
    try:
        masks = [mask_of(array.metadata, array.zarr_format) for array in (a, b)]
    except (ZarrError, ValueError, TypeError):
        return
    if same_mask(*masks):
        return
    one, other = ("" if mask is None or masks_nothing(mask) else str(mask) for mask in masks)
    message = (
        f"xarray masks {one or 'nothing'} in A, {other or 'nothing'} in B, so it reads other values"
    )
    yield Difference(path, "metadata", f"/attributes/{MASK}", one, other, message)


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
