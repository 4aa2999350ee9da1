"""simplezarr (https://github.com/canpute/simplezarr), which resolves codecs when they are needed."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.adapters.adapter import Adapter, UnsupportedError, as_elements, index

if TYPE_CHECKING:
    from collections.abc import Mapping

simplezarr: Any = import_module("simplezarr")


class SimpleZarr(Adapter):
    """Arrays and groups of format 3; attributes cannot be changed after creation."""

    implementation = "simplezarr"
    formats = (3,)
    operations = ("open", "read", "list", "create")

    def version(self) -> str:
        return str(simplezarr.__version__)

    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return describe(_open(request))

    def read(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = _open(request)
        return describe(array), np.asarray(array[index(request)].get_now())

    def list(self, request: Mapping[str, Any]) -> dict[str, str]:
        kinds: dict[str, str] = {}
        groups = [_open(request)]
        start = len(f"{request['path']}/".lstrip("/"))
        for group in groups:
            for node in group.children:
                kinds[node.path[start:]] = describe(node)["node_type"]
                if isinstance(node, simplezarr.ZarrGroup):
                    groups.append(node)
        return kinds

    def create(self, request: Mapping[str, Any], values: Any) -> None:
        document = request["document"]
        if "shape" not in document:
            simplezarr.ZarrGroup.create(
                simplezarr.LocalStore(request["store"]),
                request["path"],
                attributes=document.get("attributes"),
            )
            return
        grid, keys = document["chunk_grid"], document["chunk_key_encoding"]
        if grid["name"] != "regular" or keys["name"] != "default":
            raise UnsupportedError("only regular grids with default keys are supported")
        data_type, fill_value = document["data_type"], document["fill_value"]
        array = simplezarr.ZarrArray.create(
            simplezarr.LocalStore(request["store"]),
            request["path"],
            document["shape"],
            data_type,
            fill_value=_fill_value(fill_value, str(data_type)),
            chunk_shape=grid["configuration"]["chunk_shape"],
            chunk_path_separator=keys.get("configuration", {}).get("separator"),
            codecs=document["codecs"],
            dimension_names=document.get("dimension_names"),
            attributes=document.get("attributes"),
        )
        if values is not None:
            elements = as_elements(values, request, np.dtype(array.dtype), array.shape)
            array[...].set_now(elements)

    def category(self, error: BaseException) -> str:
        if type(error) is OSError:
            return "missing"
        if isinstance(error, NotImplementedError):
            return "unsupported"
        if isinstance(error, json.JSONDecodeError):
            return "metadata"
        if isinstance(error, RuntimeError) and " extension" in str(error):
            return "extension"
        return super().category(error)


def _fill_value(value: Any, data_type: str) -> Any:
    """Return the fill value that a user would pass.

    Complex numbers are passed as pairs, NaN and infinities as strings.
    """
    if data_type.startswith("r"):
        return bytes(value)
    if isinstance(value, str) and value.startswith("0x"):
        bits = int(value, 16).to_bytes(np.dtype(data_type).itemsize, "little")
        return np.frombuffer(bits, np.dtype(data_type).newbyteorder("<"))[0]
    return value


def _open(request: Mapping[str, Any]) -> Any:
    return simplezarr.open_zarr(simplezarr.LocalStore(request["store"]), request["path"])


def describe(node: Any) -> dict[str, Any]:
    """Return the description of a node."""
    if isinstance(node, simplezarr.ZarrGroup):
        return {"node_type": "group", "attributes": node.attributes}
    return {
        "node_type": "array",
        "shape": list(node.shape),
        "attributes": node.attributes,
        "dimension_names": node.metadata.get("dimension_names"),
    }


if __name__ == "__main__":
    SimpleZarr().serve()
