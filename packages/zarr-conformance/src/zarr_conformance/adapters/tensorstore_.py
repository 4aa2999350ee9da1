"""tensorstore (https://github.com/google/tensorstore), which supports arrays, but not groups."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.adapters.adapter import (
    Adapter,
    UnsupportedError,
    as_elements,
    index,
    selected_shape,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

tensorstore: Any = import_module("tensorstore")

_UNKNOWN = (
    "is not registered",
    "is not one of the supported data types",
    "Unsupported zarr dtype",
    'but received: "rectilinear"',  # for a chunk_grid
)
_UNSUPPORTED = (
    "UNIMPLEMENTED",
    'but received: "group"',  # for a node_type
    'Must specify a "field"',  # fields of structures are read separately
    "filters are not supported",
)


class TensorStore(Adapter):
    """The drivers ``zarr`` for format 2 and ``zarr3`` for format 3."""

    implementation = "tensorstore"
    formats = (2, 3)
    operations = ("open", "read", "create", "write", "resize")

    def version(self) -> str:
        return version("tensorstore")

    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if (
            request["zarr_format"] == 2
            and Path(request["store"], request["path"], ".zattrs").exists()
        ):
            raise UnsupportedError("attributes of format 2 are not supported")
        return describe(_open(request), request["zarr_format"])

    def read(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = _open(request)
        elements = array[index(request)].read().result()
        return describe(array, request["zarr_format"]), np.asarray(elements)

    def create(self, request: Mapping[str, Any], values: Any) -> None:
        document = {**request["document"]}
        if "shape" not in document:
            raise UnsupportedError("groups are not supported")
        if request["zarr_format"] == 2 and document.pop("attributes", None):
            raise UnsupportedError("attributes of format 2 are not supported")
        array = _open(request, metadata=document, create=True, open=False)
        if array.dtype.numpy_dtype.itemsize == 0:
            raise UnsupportedError("raw bytes of format 2 are not supported")
        if values is not None:
            # Raw bits have an additional dimension for their bytes.
            array.write(as_elements(values, request, array.dtype.numpy_dtype, array.shape)).result()

    def write(self, request: Mapping[str, Any], values: Any) -> None:
        array = _open(request)
        kind = array.dtype.numpy_dtype
        part = as_elements(values, request, kind, selected_shape(request))
        array[index(request)].write(part).result()

    def resize(self, request: Mapping[str, Any]) -> None:
        _open(request).resize(exclusive_max=request["shape"]).result()

    def category(self, error: BaseException) -> str:
        """Return the category by the status at the start of the message, then by its text."""
        if isinstance(error, UnsupportedError):
            return super().category(error)
        message = str(error)
        if message.startswith("NOT_FOUND"):
            return "missing"
        if any(item in message for item in _UNSUPPORTED):
            return "unsupported"
        if any(item in message for item in _UNKNOWN):
            return "extension"
        if message.startswith(("FAILED_PRECONDITION", "INVALID_ARGUMENT", "DATA_LOSS")):
            return "metadata" if "Error opening" in message else "chunk"
        return super().category(error)


def _open(request: Mapping[str, Any], **more: Any) -> Any:
    parts = request["path"].split("/") if request["path"] else []
    if any(part in ("", ".", "..") or "\\" in part for part in parts):
        raise UnsupportedError("paths are not supported, only files")
    folder = Path(request["store"], *parts)
    if (folder / ".zgroup").exists():  # its message is the same as for missing nodes
        raise UnsupportedError("groups are not supported")
    spec = {
        "driver": "zarr" if request["zarr_format"] == 2 else "zarr3",
        # Durability after a crash of the machine is not tested.
        "kvstore": {
            "driver": "file",
            "path": f"{folder}/",
            "file_io_sync": False,
        },
    }
    metadata = more.pop("metadata", None)
    if metadata is not None:
        spec["metadata"] = metadata
    return tensorstore.open(spec, **(more or {"open": True})).result()


def describe(array: Any, zarr_format: int) -> dict[str, Any]:
    """Return the description of an array, from the metadata that tensorstore returns."""
    metadata = array.spec().to_json()["metadata"]
    known = {"node_type": "array", "shape": metadata["shape"]}
    if zarr_format == 3:
        known["attributes"] = metadata.get("attributes", {})
        known["dimension_names"] = metadata.get("dimension_names")
    return known


if __name__ == "__main__":
    TensorStore().serve()
