"""z5py (https://github.com/constantinpape/z5), whose files are groups that contain arrays."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarr_conformance.adapters.adapter import Adapter, as_elements, index, selected_shape

if TYPE_CHECKING:
    from collections.abc import Mapping

z5py: Any = import_module("z5py")


class Z5Py(Adapter):
    """Arrays and groups of format 3.

    Format 2 and ``create`` are not supported: z5py requires a group as the root in format 2, and
    creates files only in new directories, whereas stores are existing directories.
    """

    implementation = "z5py"
    formats = (3,)
    operations = ("open", "read", "list", "update", "write")

    def version(self) -> str:
        return str(z5py.__version__)

    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return describe(_node(request, "r"))

    def read(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = _node(request, "r")
        return describe(array), array[index(request)]

    def list(self, request: Mapping[str, Any]) -> dict[str, str]:
        kinds: dict[str, str] = {}

        def see(path: str, node: Any) -> None:
            kinds[path] = describe(node)["node_type"]

        _node(request, "r").visititems(see)
        return kinds

    def update(self, request: Mapping[str, Any]) -> None:
        _node(request, "r+").attrs.update(request["attributes"])

    def write(self, request: Mapping[str, Any], values: Any) -> None:
        array = _node(request, "r+")
        array[index(request)] = as_elements(values, request, array.dtype, selected_shape(request))

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


def _node(request: Mapping[str, Any], mode: str) -> Any:
    file = z5py.File(request["store"], mode)
    try:
        return file[request["path"]]
    except RuntimeError as error:
        # A file is also its root group.
        group = (
            "no metadata existing" if request["zarr_format"] == 2 else "node_type is not 'array'"
        )
        if request["path"] or not str(error).endswith(group):
            raise
        return file


def describe(node: Any) -> dict[str, Any]:
    """Return the description of a node, without dimension names."""
    if isinstance(node, z5py.Group):
        return {"node_type": "group", "attributes": dict(node.attrs)}
    return {"node_type": "array", "attributes": dict(node.attrs), "shape": list(node.shape)}


if __name__ == "__main__":
    Z5Py().serve()
