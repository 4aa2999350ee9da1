"""simplezarr (https://github.com/canpute/simplezarr), which looks at codecs once it needs them."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.adapters.serving import Adapter, UnsupportedError, as_elements, index

if TYPE_CHECKING:
    from collections.abc import Mapping

simplezarr: Any = import_module("simplezarr")


class SimpleZarr(Adapter):
    """Arrays and groups of format 3; attributes cannot be set once a node is made."""

    implementation = "simplezarr"
    formats = (3,)
    operations = ("open", "read", "list", "create")

    def version(self) -> str:
        return str(simplezarr.__version__)

    def open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return told(_open(asked))

    def read(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = _open(asked)
        return told(array), np.asarray(array[index(asked)].get_now())

    def list(self, asked: Mapping[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        groups = [_open(asked)]
        start = len(f"{asked['path']}/".lstrip("/"))
        for group in groups:
            for node in group.children:
                found[node.path[start:]] = told(node)["node_type"]
                if isinstance(node, simplezarr.ZarrGroup):
                    groups.append(node)
        return found

    def create(self, asked: Mapping[str, Any], values: Any) -> None:
        document = asked["document"]
        if "shape" not in document:
            simplezarr.ZarrGroup.create(
                simplezarr.LocalStore(asked["store"]),
                asked["path"],
                attributes=document.get("attributes"),
            )
            return
        grid, keys = document["chunk_grid"], document["chunk_key_encoding"]
        if grid["name"] != "regular" or keys["name"] != "default":
            raise UnsupportedError("makes regular grids with default keys")
        data_type, fill_value = document["data_type"], document["fill_value"]
        array = simplezarr.ZarrArray.create(
            simplezarr.LocalStore(asked["store"]),
            asked["path"],
            document["shape"],
            data_type,
            # Complex numbers are taken as pairs, names of floats as they are.
            fill_value=bytes(fill_value) if str(data_type).startswith("r") else fill_value,
            chunk_shape=grid["configuration"]["chunk_shape"],
            chunk_path_separator=keys.get("configuration", {}).get("separator"),
            codecs=document["codecs"],
            dimension_names=document.get("dimension_names"),
            attributes=document.get("attributes"),
        )
        if values is not None:
            elements = as_elements(values, asked, np.dtype(array.dtype), array.shape)
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


def _open(asked: Mapping[str, Any]) -> Any:
    return simplezarr.open_zarr(simplezarr.LocalStore(asked["store"]), asked["path"])


def told(node: Any) -> dict[str, Any]:
    """What is told of a node."""
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
