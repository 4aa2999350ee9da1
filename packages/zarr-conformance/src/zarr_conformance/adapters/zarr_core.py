"""zarr-core, with whatever of its extensions is installed."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr_core.extension import (
    ArrayToBytesCodec,
    CodecChainError,
    CodecError,
    ExtensionDefinition,
    ExtensionError,
    MetadataError,
    NodeNameError,
    NodeNotFoundError,
    NodeTypeError,
    make_extension,
)

from zarr_conformance.adapters.serving import Adapter, as_elements

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
        array[...] = as_elements(values, asked, array.dtype, array.shape)

    def category(self, error: BaseException) -> str:
        kinds: tuple[tuple[Any, str], ...] = (
            (CodecChainError, "metadata"),
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
    """Make an array as a user does, with what its document says."""
    document = asked["document"]
    common = {
        "name": asked["path"] or None,
        "shape": document["shape"],
        "attributes": document.get("attributes"),
        "zarr_format": asked["zarr_format"],
    }
    if asked["zarr_format"] == 2:
        return zarr_core.create_array(asked["store"], **_version_2(document), **common)
    data_type = ExtensionDefinition.from_json(document["data_type"])
    chain = [ExtensionDefinition.from_json(it) for it in document["codecs"]]
    kinds = [type(make_extension("codec", it)) for it in chain]
    serial = next(n for n, it in enumerate(kinds) if issubclass(it, ArrayToBytesCodec))
    kind: Any = make_extension("data_type", data_type)
    return zarr_core.create_array(
        asked["store"],
        dtype=data_type,
        chunks=ExtensionDefinition.from_json(document["chunk_grid"]),
        filters=chain[:serial],
        serializer=chain[serial],
        compressors=chain[serial + 1 :],
        fill_value=kind.fill_value_from_json(document["fill_value"]),
        chunk_key_encoding=ExtensionDefinition.from_json(document["chunk_key_encoding"]),
        dimension_names=document.get("dimension_names"),
        storage_transformers=document.get("storage_transformers", ()),
        **common,
    )


def _version_2(document: Mapping[str, Any]) -> dict[str, Any]:
    separator = document.get("dimension_separator", ".")
    return {
        "dtype": document["dtype"],
        "chunks": document["chunks"],
        "compressors": document["compressor"],
        "filters": document["filters"],
        "fill_value": document["fill_value"],
        "order": document["order"],
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": separator}},
    }


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
