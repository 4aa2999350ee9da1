"""zarr-python 3 (https://github.com/zarr-developers/zarr-python)."""

from __future__ import annotations

import json
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.adapters.adapter import (
    Adapter,
    UnsupportedError,
    as_elements,
    dtype_of,
    index,
    selected_shape,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

zarr: Any = import_module("zarr")

_ENABLED_FEATURES = {"array.rectilinear_chunks": True}
"""Features that are disabled by default."""


class ZarrPython3(Adapter):
    """Arrays and groups of formats 2 and 3, with its public interface."""

    implementation = "zarr-python"
    formats = (2, 3)
    operations = (
        *("open", "read", "resolve", "list", "update", "create", "write", "resize", "erase"),
    )

    def version(self) -> str:
        return str(zarr.__version__)

    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return describe(_open(request, "r"))

    def read(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = _open(request, "r")
        return describe(array), np.asarray(array[index(request)])

    def list(self, request: Mapping[str, Any]) -> dict[str, str]:
        group = zarr.open_group(
            request["store"],
            path=request["path"],
            mode="r",
            zarr_format=request["zarr_format"],
            use_consolidated=False,
        )
        return {
            path: "array" if isinstance(node, zarr.Array) else "group"
            for path, node in group.members(max_depth=None)
        }

    def update(self, request: Mapping[str, Any]) -> None:
        node = _open(request, "r+")
        with zarr.config.set(_ENABLED_FEATURES):
            node.attrs.update(request["attributes"])

    def create(self, request: Mapping[str, Any], values: Any) -> None:
        if "shape" not in request["document"]:
            zarr.create_group(
                request["store"],
                path=request["path"],
                zarr_format=request["zarr_format"],
                attributes=request["document"].get("attributes"),
            )
            return
        described = _version_2 if request["zarr_format"] == 2 else _version_3
        array = zarr.create_array(
            request["store"],
            name=request["path"] or None,
            zarr_format=request["zarr_format"],
            **described(request["document"]),
        )
        if values is not None:
            array[...] = as_elements(values, request, array.dtype, array.shape)

    def write(self, request: Mapping[str, Any], values: Any) -> None:
        array = _open(request, "r+")
        array[index(request)] = as_elements(values, request, array.dtype, selected_shape(request))

    def resize(self, request: Mapping[str, Any]) -> None:
        _open(request, "r+").resize(tuple(request["shape"]))

    def erase(self, request: Mapping[str, Any]) -> None:
        group = zarr.open_group(request["store"], mode="r+", zarr_format=request["zarr_format"])
        del group[request["path"]]

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


def _open(request: Mapping[str, Any], mode: str) -> Any:
    with zarr.config.set(_ENABLED_FEATURES):
        return zarr.open(
            request["store"], path=request["path"], mode=mode, zarr_format=request["zarr_format"]
        )


def _fill_value(data_type: Any, value: Any, zarr_format: int) -> Any:
    """Return the scalar that a user would pass; JSON has no NaN and no complex numbers."""
    if value is None:
        return None
    kind = import_module("zarr.dtype").parse_dtype(data_type, zarr_format=zarr_format)
    return kind.from_json_scalar(value, zarr_format=zarr_format)


def _version_2(array: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that a user would pass to create an array."""
    get_codec = import_module("numcodecs").get_codec
    data_type = dtype_of(array["dtype"])
    filters = array["filters"]
    separator = array.get("dimension_separator", ".")
    return {
        "shape": array["shape"],
        "chunks": tuple(array["chunks"]),
        "dtype": data_type,
        "order": array["order"],
        "compressors": None if array["compressor"] is None else get_codec(array["compressor"]),
        "filters": None if filters is None else [get_codec(filter_) for filter_ in filters],
        "fill_value": _fill_value(data_type, array["fill_value"], 2),
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": separator}},
        "attributes": array.get("attributes"),
    }


def _version_3(document: Mapping[str, Any]) -> dict[str, Any]:
    grid = document["chunk_grid"]
    if _name(grid) != "regular" or document.get("storage_transformers"):
        raise UnsupportedError(
            "create_array supports only regular chunks without storage transformers"
        )
    codecs = document["codecs"]
    classes = [_codec_class(_name(codec)) for codec in codecs]
    kinds = import_module("zarr.abc.codec")
    serial = [n for n, cls in enumerate(classes) if issubclass(cls, kinds.ArrayBytesCodec)]
    if len(serial) != 1:
        raise UnsupportedError("create_array requires exactly one serializer")
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
        raise UnsupportedError(f"codec {name} is not supported") from error


def _name(definition: Any) -> str:
    return definition if isinstance(definition, str) else str(definition["name"])


def describe(node: Any) -> dict[str, Any]:
    """Return the description of a node."""
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
