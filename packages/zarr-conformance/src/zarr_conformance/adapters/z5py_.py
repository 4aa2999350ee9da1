"""z5py (https://github.com/constantinpape/z5), whose files are groups with arrays below them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarr_conformance.adapters.serving import Adapter, index

if TYPE_CHECKING:
    from collections.abc import Mapping

z5py: Any = import_module("z5py")


class Z5Py(Adapter):
    """Arrays and groups of format 3.

    It opens format 2 where the root is a group, as it is in hardly any case; it makes files in
    directories that are not there yet, while stores are.  So neither is offered.
    """

    implementation = "z5py"
    formats = (3,)
    operations = ("open", "read", "list", "update")

    def version(self) -> str:
        return str(z5py.__version__)

    def open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return told(_node(asked, "r"))

    def read(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = _node(asked, "r")
        return told(array), array[index(asked)]

    def list(self, asked: Mapping[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}

        def see(path: str, node: Any) -> None:
            found[path] = told(node)["node_type"]

        _node(asked, "r").visititems(see)
        return found

    def update(self, asked: Mapping[str, Any]) -> None:
        _node(asked, "r+").attrs.update(asked["attributes"])

    def category(self, error: BaseException) -> str:
        message = str(error)
        if isinstance(error, KeyError) and message.endswith("does not exist'"):
            return "missing"
        if message.startswith("[json.exception.parse_error"):
            return "metadata"
        if "nsupported zarr v3" in message:
            return "extension"
        if "steps are not supported" in message:
            return "unsupported"
        return super().category(error)


def _node(asked: Mapping[str, Any], mode: str) -> Any:
    file = z5py.File(asked["store"], mode)
    try:
        return file[asked["path"]]
    except RuntimeError as error:
        # A file is also its root as a group, of which it has read the document.
        if asked["path"] or not str(error).endswith("node_type is not 'array'"):
            raise
        return file


def told(node: Any) -> dict[str, Any]:
    """What is told of a node; names of dimensions it does not know."""
    if isinstance(node, z5py.Group):
        return {"node_type": "group", "attributes": dict(node.attrs)}
    return {"node_type": "array", "attributes": dict(node.attrs), "shape": list(node.shape)}


if __name__ == "__main__":
    Z5Py().serve()
