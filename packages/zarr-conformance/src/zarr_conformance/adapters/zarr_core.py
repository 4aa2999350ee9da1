"""Adapter for zarr-core with its installed extensions."""

from __future__ import annotations

import re
import warnings
from base64 import b64decode, b64encode
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr_core.errors import (
    CodecChainError,
    ExtensionError,
    MetadataError,
    MetadataValidationError,
    NodeNameError,
    NodeTypeError,
)
from zarr_core.extension import (
    ArrayToBytesCodec,
    ByteRange,
    CodecError,
    ExtensionDefinition,
    NodeNotFoundError,
    StoreKeyError,
    ValidationProblem,
    create_extension,
)

from zarr_conformance.adapters.adapter import Adapter, as_elements, dtype_of, index, selected_shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.adapters.adapter import Problems


class ZarrCore(Adapter):
    """All operations of the protocol."""

    implementation = "zarr-core"
    formats = (0, 1, 2, 3)
    operations = (
        *("open", "validate", "read", "resolve", "list", "update"),
        *("create", "write", "resize", "erase", "store"),
    )

    def version(self) -> str:
        return version("zarr-core")

    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return describe(_open(request, "r"))

    def validate(self, request: Mapping[str, Any]) -> Problems:
        try:
            _open(request, "r")
        except MetadataError as error:
            return [
                {"pointer": problem.pointer, "message": problem.message}
                for problem in error.problems
            ]
        return []

    def read(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array: Any = _open(request, "r")
        return describe(array), np.asarray(array[index(request)])

    def list(self, request: Mapping[str, Any]) -> dict[str, str]:
        group: Any = _open(request, "r")
        return {
            path: "array" if isinstance(node, zarr_core.Array) else "group"
            for path, node in group.members(max_depth=None)
        }

    def update(self, request: Mapping[str, Any]) -> None:
        _open(request, "r+").attrs.update(request["attributes"])

    def create(self, request: Mapping[str, Any], values: Any) -> None:
        if "shape" not in request["document"]:
            zarr_core.create_group(
                request["store"],
                path=request["path"] or None,
                zarr_format=request["zarr_format"],
                attributes=request["document"].get("attributes"),
            )
            return
        array: Any = _create_array(request)
        if values is None:
            return
        array[...] = as_elements(values, request, array.dtype, array.shape)

    def write(self, request: Mapping[str, Any], values: Any) -> None:
        array: Any = _open(request, "r+")
        array[index(request)] = as_elements(values, request, array.dtype, selected_shape(request))

    def resize(self, request: Mapping[str, Any]) -> None:
        _open(request, "r+").resize(request["shape"])

    def erase(self, request: Mapping[str, Any]) -> None:
        del zarr_core.open_group(request["store"], mode="r+")[request["path"]]

    def call(self, request: Mapping[str, Any], operation: str, *arguments: Any) -> Any:
        store, _ = zarr_core.resolve_store_path(request["store"])
        if operation == "get_partial_values":
            ranges = [(key, ByteRange(*part)) for key, part in arguments[0]]
            return [_text(value) for value in store.get_partial_values(ranges)]
        if operation == "set":
            store.set(arguments[0], b64decode(arguments[1]))
            return None
        if operation == "set_partial_values":
            parts = [(key, start, b64decode(part)) for key, start, part in arguments[0]]
            store.set_partial_values(parts)
            return None
        result = getattr(store, operation)(*arguments)
        if operation == "get":
            return _text(result)
        if operation == "list_dir":
            return [sorted(result[0]), sorted(result[1])]
        return None if result is None else sorted(result)

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


def _open(request: Mapping[str, Any], mode: Any) -> Any:
    """Open a node; metadata that are read with a warning, although they are not valid, are an error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*: nonstandard metadata: ")
        try:
            return zarr_core.open(request["store"], mode, path=request["path"] or None)
        except UserWarning as warning:
            notes = _NOTE.findall(str(warning))
            problems = [ValidationProblem(pointer, message) for pointer, message in notes]
            raise MetadataValidationError(request["store"], problems) from warning


_NOTE = re.compile(r"(?:: nonstandard metadata: |; )(/\S*) ([^;]*)")


def _create_array(request: Mapping[str, Any]) -> Any:
    """Create an array with the arguments that a user would pass."""
    document = request["document"]
    common = {
        "path": request["path"] or None,
        "shape": document["shape"],
        "attributes": document.get("attributes"),
        "zarr_format": request["zarr_format"],
    }
    if request["zarr_format"] == 2:
        return zarr_core.create_array(request["store"], **_version_2(document), **common)
    if request["zarr_format"] == 0:
        common["zarr_format"] = "draft"
        return zarr_core.create_array(request["store"], **_draft(document), **common)
    data_type = ExtensionDefinition.from_json(document["data_type"])
    chain = [ExtensionDefinition.from_json(codec) for codec in document["codecs"]]
    kinds = [type(create_extension("codec", item)) for item in chain]
    serial = next(n for n, kind in enumerate(kinds) if issubclass(kind, ArrayToBytesCodec))
    kind: Any = create_extension("data_type", data_type)
    return zarr_core.create_array(
        request["store"],
        dtype=data_type,
        chunks=ExtensionDefinition.from_json(document["chunk_grid"]),
        filters=chain[:serial],
        serializer=chain[serial],
        compressors=chain[serial + 1 :],
        fill_value=kind.fill_value_from_json(document["fill_value"]),
        chunk_key_encoding=ExtensionDefinition.from_json(document["chunk_key_encoding"]),
        dimension_names=document.get("dimension_names"),
        metadata={"storage_transformers": document.get("storage_transformers", [])},
        **common,
    )


def _version_2(document: Mapping[str, Any]) -> dict[str, Any]:
    separator = document.get("dimension_separator", ".")
    return {
        "dtype": dtype_of(document["dtype"]),
        "chunks": document["chunks"],
        "compressors": document["compressor"],
        "filters": document["filters"],
        "fill_value": _fill_value(document["fill_value"], np.dtype(dtype_of(document["dtype"]))),
        "order": document["order"],
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": separator}},
    }


def _fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the fill value of version 2 that a user would pass: bytes and records in base64."""
    if not isinstance(value, str) or dtype.kind not in "SV":
        return value
    data = b64decode(value)
    return data if dtype.fields is None else np.frombuffer(data, dtype)[0]


def _draft(document: Mapping[str, Any]) -> dict[str, Any]:
    grid = document["chunk_grid"]
    configuration = {"separator": grid["separator"], "scalar": "c"}
    definitions = document.get("storage_transformers", ())
    parts = [{"type": item["type"], **item["configuration"]} for item in definitions]
    transformers = [{"name": "sharding", "configuration": part} for part in parts]
    return {
        "dtype": document["data_type"],
        "chunks": grid["chunk_shape"],
        "fill_value": document["fill_value"],
        "order": document["chunk_memory_layout"],
        "compressors": [
            {"id": codec["type"].split("/")[-2], **codec["configuration"]}
            for codec in document.get("codecs", ())
        ],
        "metadata": {"storage_transformers": transformers},
        "chunk_key_encoding": {"name": "v3_draft", "configuration": configuration},
    }


def describe(node: Any) -> dict[str, Any]:
    """Return the description of a node."""
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
