"""zarr-python 3 (https://github.com/zarr-developers/zarr-python)."""

from __future__ import annotations

import json
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.adapters.serving import (
    Adapter,
    UnsupportedError,
    as_elements,
    dtype_of,
    index,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

zarr: Any = import_module("zarr")

_SWITCHED_ON = {"array.rectilinear_chunks": True}
"""What it can do and does not by default."""


class ZarrPython3(Adapter):
    """Arrays and groups of formats 2 and 3, through its public interface."""

    implementation = "zarr-python"
    formats = (2, 3)
    operations = ("open", "read", "list", "update", "create", "erase")

    def version(self) -> str:
        return str(zarr.__version__)

    def open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return told(_open(asked, "r"))

    def read(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = _open(asked, "r")
        return told(array), np.asarray(array[index(asked)])

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
        node = _open(asked, "r+")
        with zarr.config.set(_SWITCHED_ON):
            node.attrs.update(asked["attributes"])

    def create(self, asked: Mapping[str, Any], values: Any) -> None:
        if "shape" not in asked["document"]:
            zarr.create_group(
                asked["store"],
                path=asked["path"],
                zarr_format=asked["zarr_format"],
                attributes=asked["document"].get("attributes"),
            )
            return
        described = _version_2 if asked["zarr_format"] == 2 else _version_3
        array = zarr.create_array(
            asked["store"],
            name=asked["path"] or None,
            zarr_format=asked["zarr_format"],
            **described(asked["document"]),
        )
        if values is not None:
            array[...] = as_elements(values, asked, array.dtype, array.shape)

    def erase(self, asked: Mapping[str, Any]) -> None:
        group = zarr.open_group(asked["store"], mode="r+", zarr_format=asked["zarr_format"])
        del group[asked["path"]]

    def category(self, error: BaseException) -> str:
        kind = type(error).__name__
        unknown = str(error).startswith("No Zarr data type found")
        if unknown or kind in ("UnknownCodecError", "UnknownDataTypeError"):
            return "extension"
        if isinstance(error, FileNotFoundError) or kind.endswith("NotFoundError"):
            return "missing"
        if isinstance(error, json.JSONDecodeError) or kind.endswith("ValidationError"):
            return "metadata"
        return super().category(error)


def _open(asked: Mapping[str, Any], mode: str) -> Any:
    with zarr.config.set(_SWITCHED_ON):
        return zarr.open(
            asked["store"], path=asked["path"], mode=mode, zarr_format=asked["zarr_format"]
        )


def _fill_value(data_type: Any, value: Any, zarr_format: int) -> Any:
    """The scalar that a user passes; JSON has no NaN, no complex number."""
    if value is None:
        return None
    kind = import_module("zarr.dtype").parse_dtype(data_type, zarr_format=zarr_format)
    return kind.from_json_scalar(value, zarr_format=zarr_format)


def _version_2(array: Mapping[str, Any]) -> dict[str, Any]:
    """What a user passes to have an array of this document made."""
    made = import_module("numcodecs").get_codec
    data_type = dtype_of(array["dtype"])
    filters = array["filters"]
    separator = array.get("dimension_separator", ".")
    return {
        "shape": array["shape"],
        "chunks": tuple(array["chunks"]),
        "dtype": data_type,
        "order": array["order"],
        "compressors": None if array["compressor"] is None else made(array["compressor"]),
        "filters": None if filters is None else [made(it) for it in filters],
        "fill_value": _fill_value(data_type, array["fill_value"], 2),
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": separator}},
        "attributes": array.get("attributes"),
    }


def _version_3(document: Mapping[str, Any]) -> dict[str, Any]:
    grid = document["chunk_grid"]
    if _name(grid) != "regular" or document.get("storage_transformers"):
        raise UnsupportedError("create_array makes regular chunks, without transformers")
    codecs = document["codecs"]
    classes = [_codec_class(_name(it)) for it in codecs]
    kinds = import_module("zarr.abc.codec")
    serial = [n for n, it in enumerate(classes) if issubclass(it, kinds.ArrayBytesCodec)]
    if len(serial) != 1:
        raise UnsupportedError("create_array takes exactly one serializer")
    return {
        "shape": document["shape"],
        "chunks": tuple(grid["configuration"]["chunk_shape"]),
        "dtype": document["data_type"],
        "fill_value": _fill_value(document["data_type"], document["fill_value"], 3),
        "filters": codecs[: serial[0]],
        "serializer": codecs[serial[0]],
        "compressors": codecs[serial[0] + 1 :],
        "dimension_names": document.get("dimension_names"),
        "chunk_key_encoding": document["chunk_key_encoding"],
        "attributes": document.get("attributes"),
    }


def _codec_class(name: str) -> Any:
    try:
        return zarr.registry.get_codec_class(name)
    except KeyError as error:
        raise UnsupportedError(f"has no codec {name}") from error


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
