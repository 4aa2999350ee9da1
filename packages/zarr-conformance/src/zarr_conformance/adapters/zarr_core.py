"""zarr-core, with whatever of its extensions is installed."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr_core.extension import (
    CodecError,
    ExtensionError,
    MetadataError,
    NodeNameError,
    NodeNotFoundError,
    NodeTypeError,
    format_named,
)

from zarr_conformance.adapters.serving import Adapter

if TYPE_CHECKING:
    from collections.abc import Mapping


class ZarrCore(Adapter):
    """Everything that the protocol asks for."""

    implementation = "zarr-core"
    formats = (0, 1, 2, 3)
    operations = ("open", "read", "list", "update", "create")

    def version(self) -> str:
        return version("zarr-core")

    def open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return told(_open(asked, "r"))

    def read(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array: Any = _open(asked, "r")
        selection = asked.get("selection")
        index = ... if selection is None else tuple(slice(*part) for part in selection)
        return told(array), np.asarray(array[index])

    def list(self, asked: Mapping[str, Any]) -> dict[str, str]:
        group: Any = _open(asked, "r")
        return {
            path: "array" if isinstance(node, zarr_core.Array) else "group"
            for path, node in group.members(max_depth=None)
        }

    def update(self, asked: Mapping[str, Any]) -> None:
        _open(asked, "r+").attrs.update(asked["attributes"])

    def create(self, asked: Mapping[str, Any], values: Any) -> None:
        array: Any = _made(asked)
        if values is None:
            return
        dtype = array.dtype
        if asked["kind"] == "json":
            elements = np.array(json.loads(values), dtype=dtype)
        else:
            elements = np.frombuffer(values, dtype.newbyteorder("<")).astype(dtype)
        array[...] = elements.reshape(array.shape)

    def category(self, error: BaseException) -> str:
        kinds: tuple[tuple[Any, str], ...] = (
            (ExtensionError, "extension"),
            (MetadataError, "metadata"),
            (CodecError, "chunk"),
            (NodeNameError, "metadata"),
            (NodeNotFoundError, "missing"),
            (NodeTypeError, "missing"),
        )
        for kind, category in kinds:
            if isinstance(error, kind):
                return category
        return super().category(error)


def _open(asked: Mapping[str, Any], mode: Any) -> Any:
    return zarr_core.open(asked["store"], mode, path=asked["path"] or None)


def _made(asked: Mapping[str, Any]) -> Any:
    format_ = format_named({0: "v3_draft"}.get(asked["zarr_format"], f"v{asked['zarr_format']}"))
    store, path = zarr_core.locate(asked["store"], asked["path"] or None)
    format_.check_path(path)
    format_.create(store, path, format_.from_json(asked["document"], str(store)))
    return zarr_core.open_array(store, "r+", path=path or None)


def told(node: Any) -> dict[str, Any]:
    """What is told of a node."""
    if not isinstance(node, zarr_core.Array):
        return {"node_type": "group", "attributes": dict(node.attrs)}
    return {
        "node_type": "array",
        "shape": list(node.shape),
        "attributes": dict(node.attrs),
        "dimension_names": node.metadata.dimension_names and list(node.metadata.dimension_names),
    }


if __name__ == "__main__":
    ZarrCore().serve()
