"""zarr-python 2.18 (https://github.com/zarr-developers/zarr-python), in its own environment."""

from __future__ import annotations

import json
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.adapters.adapter import (
    Adapter,
    as_elements,
    dtype_of,
    index,
    selected_shape,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

zarr: Any = import_module("zarr")
numcodecs: Any = import_module("numcodecs")


class ZarrPython2(Adapter):
    """Arrays and groups of format 2; its experimental version 3 follows no specification."""

    implementation = "zarr-python 2"
    formats = (2,)
    operations = ("open", "read", "resolve", "list", "update", "create", "write", "resize")

    def version(self) -> str:
        return str(zarr.__version__)

    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return describe(_open(request, "r"))

    def read(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = _open(request, "r")
        return describe(array), np.asarray(array[index(request)])

    def list(self, request: Mapping[str, Any]) -> dict[str, str]:
        kinds: dict[str, str] = {}

        def see(path: str, node: Any) -> None:
            kinds[path] = describe(node)["node_type"]

        _open(request, "r").visititems(see)
        return kinds

    def update(self, request: Mapping[str, Any]) -> None:
        _open(request, "r+").attrs.update(request["attributes"])

    def create(self, request: Mapping[str, Any], values: Any) -> None:
        document = request["document"]
        if "shape" not in document:
            group = zarr.group(_store(request), path=request["path"] or None)
            group.attrs.update(document.get("attributes", {}))
            return
        dtype = np.dtype(dtype_of(document["dtype"]))
        compressor, filters = document["compressor"], document["filters"]
        fill_value = zarr.meta.Metadata2.decode_fill_value(document["fill_value"], dtype)
        array = zarr.create(
            shape=document["shape"],
            chunks=document["chunks"],
            dtype=dtype,
            fill_value=fill_value,
            order=document["order"],
            compressor=None if compressor is None else numcodecs.get_codec(compressor),
            filters=None
            if filters is None
            else [numcodecs.get_codec(filter_) for filter_ in filters],
            dimension_separator=document.get("dimension_separator", "."),
            store=_store(request),
            path=request["path"],
        )
        attributes = document.get("attributes")
        if attributes is not None:
            array.attrs.update(attributes)
        if values is not None:
            array[...] = as_elements(values, request, array.dtype, array.shape)

    def write(self, request: Mapping[str, Any], values: Any) -> None:
        array = _open(request, "r+")
        array[index(request)] = as_elements(values, request, array.dtype, selected_shape(request))

    def resize(self, request: Mapping[str, Any]) -> None:
        _open(request, "r+").resize(*request["shape"])

    def category(self, error: BaseException) -> str:
        kind = type(error).__name__
        if kind in ("PathNotFoundError", "ArrayNotFoundError", "GroupNotFoundError"):
            return "missing"
        if kind == "MetadataError" or isinstance(error, json.JSONDecodeError):
            return "metadata"
        if str(error).startswith("codec not available"):
            return "extension"
        return super().category(error)


def _store(request: Mapping[str, Any]) -> Any:
    return zarr.DirectoryStore(request["store"])


def _open(request: Mapping[str, Any], mode: str) -> Any:
    return zarr.open(_store(request), mode=mode, path=request["path"])


def describe(node: Any) -> dict[str, Any]:
    """Return the description of a node."""
    if isinstance(node, zarr.hierarchy.Group):
        return {"node_type": "group", "attributes": node.attrs.asdict()}
    return {
        "node_type": "array",
        "shape": list(node.shape),
        "attributes": node.attrs.asdict(),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    ZarrPython2().serve()
