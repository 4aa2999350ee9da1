"""zarrista (https://github.com/developmentseed/zarrista): zarrs by an interface in Python."""

from __future__ import annotations

import itertools
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.adapters.serving import (
    Adapter,
    UnsupportedError,
    as_elements,
    without_unused_bits,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

zarrista: Any = import_module("zarrista")


class Zarrista(Adapter):
    """Arrays and groups; makes arrays of format 3."""

    implementation = "zarrista"
    formats = (2, 3)
    operations = ("open", "read", "list", "update", "create")

    def version(self) -> str:
        return str(zarrista.__version__)

    def open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return told(_open(asked))

    def read(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = zarrista.Array.open(*_place(asked))
        selection = asked.get("selection")
        part: Any = ... if selection is None else tuple(slice(*it) for it in selection)
        tensor = array.retrieve_array_subset(part)
        if isinstance(tensor, zarrista.VariableLengthTensor):
            return told(array), tensor.to_numpy()
        # As bytes: NumPy has not all data types that it reads.
        elements = np.frombuffer(tensor.buffer(), "u1")
        name = array.metadata.get("data_type", "")  # documents of format 2 have none
        return told(array), without_unused_bits(elements, str(name))

    def list(self, asked: Mapping[str, Any]) -> dict[str, str]:
        group = zarrista.Group.open(*_place(asked))
        start = len(group.path.rstrip("/")) + 1
        return {node.path[start:]: told(node)["node_type"] for node in group.traverse()}

    def update(self, asked: Mapping[str, Any]) -> None:
        node = _open(asked)
        node.with_attrs({**node.attrs, **asked["attributes"]}).store_metadata()

    def create(self, asked: Mapping[str, Any], values: Any) -> None:
        if asked["zarr_format"] != 3:
            raise UnsupportedError("makes arrays of format 3 only")
        if "shape" not in asked["document"]:
            raise UnsupportedError("makes no groups of nothing")
        array = zarrista.Array.from_metadata(asked["document"], *_place(asked))
        array.store_metadata()
        if values is None:
            return
        if asked["kind"] == "raw":
            array.store_array_subset(..., zarrista.ArrayBytes(values))
            return
        elements = as_elements(values, asked, np.dtype("O"), (-1,))
        parts = [it.encode() if isinstance(it, str) else it for it in elements]
        offsets = [0, *itertools.accumulate(map(len, parts))]
        array.store_array_subset(..., zarrista.ArrayBytes(b"".join(parts), offsets=offsets))

    def category(self, error: BaseException) -> str:
        """By its messages, for its classes say what was being done."""
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


def _place(asked: Mapping[str, Any]) -> tuple[Any, str]:
    return zarrista.store.FilesystemStore(asked["store"]), f"/{asked['path']}"


def _open(asked: Mapping[str, Any]) -> Any:
    """An array if it is one; of two refusals, that which looked at the document's members."""
    try:
        return zarrista.Array.open(*_place(asked))
    except zarrista.exceptions.ArrayCreateError as error:
        try:
            return zarrista.Group.open(*_place(asked))
        except zarrista.exceptions.GroupCreateError as other:
            is_group = 'string "group", expected' in str(error)
            raise (other if is_group else error) from None


def told(node: Any) -> dict[str, Any]:
    """What is told of a node."""
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
