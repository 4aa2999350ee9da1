"""zarr-python 3 (https://github.com/zarr-developers/zarr-python)."""

from __future__ import annotations

import json
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.adapters.serving import Adapter

if TYPE_CHECKING:
    from collections.abc import Mapping

zarr: Any = import_module("zarr")


class ZarrPython3(Adapter):
    """Arrays and groups of formats 2 and 3, through its public interface."""

    implementation = "zarr-python"
    formats = (2, 3)
    operations = ("open", "read", "list", "update", "create")

    def version(self) -> str:
        return str(zarr.__version__)

    def open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return told(_open(asked, "r"))

    def read(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = _open(asked, "r")
        selection = asked.get("selection")
        index = ... if selection is None else tuple(slice(*part) for part in selection)
        return told(array), np.asarray(array[index])

    def list(self, asked: Mapping[str, Any]) -> dict[str, str]:
        group = zarr.open_group(
            asked["store"],
            path=asked["path"],
            mode="r",
            zarr_format=asked["zarr_format"],
            use_consolidated=False,
        )
        return {
            path: "array" if isinstance(node, zarr.Array) else "group"
            for path, node in group.members(max_depth=None)
        }

    def update(self, asked: Mapping[str, Any]) -> None:
        _open(asked, "r+").attrs.update(asked["attributes"])

    def create(self, asked: Mapping[str, Any], values: Any) -> None:
        array = zarr.create_array(
            asked["store"],
            name=asked["path"] or None,
            zarr_format=asked["zarr_format"],
            **_arguments(asked["document"], asked["zarr_format"]),
        )
        if values is None:
            return
        if asked["kind"] == "json":
            elements = np.array(json.loads(values), dtype=array.dtype)
        else:
            elements = np.frombuffer(values, array.dtype.newbyteorder("<")).astype(array.dtype)
        array[...] = elements.reshape(array.shape)

    def category(self, error: BaseException) -> str:
        kind = type(error).__name__
        if kind in ("UnknownCodecError", "UnknownDataTypeError"):
            return "extension"
        if isinstance(error, FileNotFoundError) or kind.endswith("NotFoundError"):
            return "missing"
        if kind in ("MetadataValidationError", "NodeTypeValidationError"):
            return "metadata"
        return super().category(error)


def _open(asked: Mapping[str, Any], mode: str) -> Any:
    return zarr.open(
        asked["store"], path=asked["path"], mode=mode, zarr_format=asked["zarr_format"]
    )


def _arguments(document: Mapping[str, Any], zarr_format: int) -> dict[str, Any]:
    """What a user passes to have an array of this document made."""
    common = {
        "shape": document["shape"],
        "fill_value": document["fill_value"],
        "attributes": document.get("attributes"),
    }
    if zarr_format == 2:
        return common | {
            "dtype": document["dtype"],
            "chunks": document["chunks"],
            "order": document["order"],
            "compressors": document["compressor"],
            "filters": document["filters"],
        }
    classes = [zarr.registry.get_codec_class(_name(it)) for it in document["codecs"]]
    kinds = import_module("zarr.abc.codec")
    serial = next(n for n, it in enumerate(classes) if issubclass(it, kinds.ArrayBytesCodec))
    return common | {
        "dtype": document["data_type"],
        "chunks": document["chunk_grid"]["configuration"]["chunk_shape"],
        "filters": document["codecs"][:serial],
        "serializer": document["codecs"][serial],
        "compressors": document["codecs"][serial + 1 :],
        "dimension_names": document.get("dimension_names"),
        "chunk_key_encoding": document["chunk_key_encoding"],
    }


def _name(definition: Any) -> str:
    return definition if isinstance(definition, str) else str(definition["name"])


def told(node: Any) -> dict[str, Any]:
    """What is told of a node."""
    if not isinstance(node, zarr.Array):
        return {"node_type": "group", "attributes": dict(node.attrs)}
    names = getattr(node.metadata, "dimension_names", None)
    return {
        "node_type": "array",
        "shape": list(node.shape),
        "attributes": dict(node.attrs),
        "dimension_names": None if names is None else list(names),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    ZarrPython3().serve()
