"""zarrista (https://github.com/developmentseed/zarrista): a Python interface of zarrs."""

from __future__ import annotations

import itertools
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.adapters.adapter import (
    Adapter,
    UnsupportedError,
    as_elements,
    without_unused_bits,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

zarrista: Any = import_module("zarrista")


class Zarrista(Adapter):
    """Arrays and groups; creates arrays of format 3."""

    implementation = "zarrista"
    formats = (2, 3)
    operations = ("open", "read", "resolve", "list", "update", "create", "write")

    def version(self) -> str:
        return str(zarrista.__version__)

    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return describe(_open(request))

    def read(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = zarrista.Array.open(*_place(request))
        selection = request.get("selection")
        part: Any = ... if selection is None else tuple(slice(*item) for item in selection)
        tensor = array.retrieve_array_subset(part)
        if isinstance(tensor, zarrista.VariableLengthTensor):
            return describe(array), tensor.to_numpy()
        # As bytes, because NumPy does not have all of its data types.
        elements = np.frombuffer(tensor.buffer(), "u1")
        name = array.metadata.get("data_type", "")  # documents of format 2 have none
        return describe(array), without_unused_bits(elements, str(name))

    def list(self, request: Mapping[str, Any]) -> dict[str, str]:
        group = zarrista.Group.open(*_place(request))
        start = len(group.path.rstrip("/")) + 1
        return {node.path[start:]: describe(node)["node_type"] for node in group.traverse()}

    def update(self, request: Mapping[str, Any]) -> None:
        node = _open(request)
        node.with_attrs({**node.attrs, **request["attributes"]}).store_metadata()

    def create(self, request: Mapping[str, Any], values: Any) -> None:
        if request["zarr_format"] != 3:
            raise UnsupportedError("only arrays of format 3 can be created")
        if "shape" not in request["document"]:
            raise UnsupportedError("groups cannot be created")
        array = zarrista.Array.from_metadata(request["document"], *_place(request))
        array.store_metadata()
        if values is None:
            return
        if request["kind"] == "raw":
            array.store_array_subset(..., zarrista.ArrayBytes(values))
            return
        elements = as_elements(values, request, np.dtype("O"), (-1,))
        parts = [element.encode() if isinstance(element, str) else element for element in elements]
        offsets = [0, *itertools.accumulate(map(len, parts))]
        array.store_array_subset(..., zarrista.ArrayBytes(b"".join(parts), offsets=offsets))

    def write(self, request: Mapping[str, Any], values: Any) -> None:
        array = zarrista.Array.open(*_place(request))
        if any(step != 1 for _, _, step in request["selection"]):
            raise UnsupportedError("steps are not supported")
        part: Any = tuple(slice(*item) for item in request["selection"])
        array.store_array_subset(part, zarrista.ArrayBytes(values))

    def category(self, error: BaseException) -> str:
        """Return the category by the message; classes of errors only identify the operation."""
        message = str(error)
        if message.endswith("metadata is missing"):
            return "missing"
        if isinstance(error, NotImplementedError):
            return "unsupported"
        if message.endswith("is not supported"):
            return "extension"
        errors = zarrista.exceptions
        if isinstance(error, errors.ArrayCreateError | errors.GroupCreateError):
            return "metadata"
        if isinstance(error, errors.ArrayError | errors.CodecError):
            return "chunk"
        return super().category(error)


def _place(request: Mapping[str, Any]) -> tuple[Any, str]:
    return zarrista.store.FilesystemStore(request["store"]), f"/{request['path']}"


def _open(request: Mapping[str, Any]) -> Any:
    """Open an array or a group; of two errors, raise the more specific one."""
    try:
        return zarrista.Array.open(*_place(request))
    except zarrista.exceptions.ArrayCreateError as error:
        try:
            return zarrista.Group.open(*_place(request))
        except zarrista.exceptions.GroupCreateError as other:
            is_group = 'string "group", expected' in str(error)
            raise (other if is_group else error) from None


def describe(node: Any) -> dict[str, Any]:
    """Return the description of a node."""
    if isinstance(node, zarrista.Group):
        return {"node_type": "group", "attributes": node.attrs}
    names = node.dimension_names
    return {
        "node_type": "array",
        "shape": list(node.shape),
        "attributes": node.attrs,
        "dimension_names": None if names is None else list(names),
    }


if __name__ == "__main__":
    Zarrista().serve()
