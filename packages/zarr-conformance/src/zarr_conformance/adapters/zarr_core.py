"""zarr-core, with whatever of its extensions is installed."""

from __future__ import annotations

from base64 import b64decode, b64encode
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr_core.extension import (
    ArrayToBytesCodec,
    ByteRange,
    CodecChainError,
    CodecError,
    ExtensionDefinition,
    ExtensionError,
    MetadataError,
    NodeNameError,
    NodeNotFoundError,
    NodeTypeError,
    StoreKeyError,
    make_extension,
)

from zarr_conformance.adapters.serving import Adapter, as_elements

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.adapters.serving import Problems


class ZarrCore(Adapter):
    """Everything that the protocol asks for."""

    implementation = "zarr-core"
    formats = (0, 1, 2, 3)
    operations = ("open", "validate", "read", "list", "update", "create", "erase", "store")

    def version(self) -> str:
        return version("zarr-core")

    def open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return told(_open(asked, "r"))

    def validate(self, asked: Mapping[str, Any]) -> Problems:
        try:
            _open(asked, "r")
        except MetadataError as error:
            return [{"pointer": it.pointer, "message": it.message} for it in error.problems]
        return []

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
        if "shape" not in asked["document"]:
            zarr_core.create_group(
                asked["store"],
                path=asked["path"] or None,
                zarr_format=asked["zarr_format"],
                attributes=asked["document"].get("attributes"),
            )
            return
        array: Any = _made(asked)
        if values is None:
            return
        array[...] = as_elements(values, asked, array.dtype, array.shape)

    def erase(self, asked: Mapping[str, Any]) -> None:
        del zarr_core.open_group(asked["store"], mode="r+")[asked["path"]]

    def call(self, asked: Mapping[str, Any], operation: str, *arguments: Any) -> Any:
        store, _ = zarr_core.locate(asked["store"])
        if operation == "get_partial_values":
            ranges = [(key, ByteRange(*part)) for key, part in arguments[0]]
            return [_text(it) for it in store.get_partial_values(ranges)]
        if operation == "set":
            store.set(arguments[0], b64decode(arguments[1]))
            return None
        if operation == "set_partial_values":
            parts = [(key, start, b64decode(it)) for key, start, it in arguments[0]]
            store.set_partial_values(parts)
            return None
        given = getattr(store, operation)(*arguments)
        if operation == "get":
            return _text(given)
        if operation == "list_dir":
            return [sorted(given[0]), sorted(given[1])]
        return None if given is None else sorted(given)

    def category(self, error: BaseException) -> str:
        kinds: tuple[tuple[Any, str], ...] = (
            (CodecChainError, "metadata"),
            (ExtensionError, "extension"),
            (MetadataError, "metadata"),
            (CodecError, "chunk"),
            (NodeNameError, "metadata"),
            (NodeNotFoundError, "missing"),
            (NodeTypeError, "missing"),
            (StoreKeyError, "metadata"),
        )
        for kind, category in kinds:
            if isinstance(error, kind):
                return category
        return super().category(error)


def _text(value: Any) -> str | None:
    return None if value is None else b64encode(value).decode()


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
    if asked["zarr_format"] == 0:
        common["zarr_format"] = "draft"
        return zarr_core.create_array(asked["store"], **_draft(document), **common)
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


def _draft(document: Mapping[str, Any]) -> dict[str, Any]:
    grid = document["chunk_grid"]
    configuration = {"separator": grid["separator"], "scalar": "c"}
    return {
        "dtype": document["data_type"],
        "chunks": grid["chunk_shape"],
        "fill_value": document["fill_value"],
        "order": document["chunk_memory_layout"],
        "compressors": [
            {"name": it["type"].split("/")[-2], "configuration": it["configuration"]}
            for it in document.get("codecs", ())
        ],
        "storage_transformers": [
            {"name": "sharding", "configuration": {"type": it["type"], **it["configuration"]}}
            for it in document.get("storage_transformers", ())
        ],
        "chunk_key_encoding": {"name": "v3_draft", "configuration": configuration},
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
