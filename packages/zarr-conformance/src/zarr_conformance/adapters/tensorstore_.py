"""tensorstore (https://github.com/google/tensorstore), which has arrays, no groups."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.adapters.serving import Adapter, UnsupportedError, as_elements, index

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
    'Must specify a "field"',  # structures are read one field at a time
    "filters are not supported",
)


class TensorStore(Adapter):
    """Its drivers ``zarr`` for format 2, ``zarr3`` for format 3."""

    implementation = "tensorstore"
    formats = (2, 3)
    operations = ("open", "read", "create")

    def version(self) -> str:
        return version("tensorstore")

    def open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if asked["zarr_format"] == 2 and Path(asked["store"], asked["path"], ".zattrs").exists():
            raise UnsupportedError("has no attributes in format 2")
        return told(_open(asked), asked["zarr_format"])

    def read(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        array = _open(asked)
        elements = array[index(asked)].read().result()
        return told(array, asked["zarr_format"]), np.asarray(elements)

    def create(self, asked: Mapping[str, Any], values: Any) -> None:
        document = {**asked["document"]}
        if "shape" not in document:
            raise UnsupportedError("makes no groups")
        if asked["zarr_format"] == 2:
            document.pop("attributes", None)  # which that driver does not have
        array = _open(asked, metadata=document, create=True, open=False)
        if values is not None:
            # Raw bits have one more dimension here, that of their bytes.
            array.write(as_elements(values, asked, array.dtype.numpy_dtype, array.shape)).result()

    def category(self, error: BaseException) -> str:
        """By the status with which its messages begin, then by what it was doing."""
        if isinstance(error, UnsupportedError):
            return super().category(error)
        message = str(error)
        if message.startswith("NOT_FOUND"):
            return "missing"
        if any(it in message for it in _UNSUPPORTED):
            return "unsupported"
        if any(it in message for it in _UNKNOWN):
            return "extension"
        if message.startswith(("FAILED_PRECONDITION", "INVALID_ARGUMENT", "DATA_LOSS")):
            return "metadata" if "Error opening" in message else "chunk"
        return super().category(error)


def _open(asked: Mapping[str, Any], **more: Any) -> Any:
    parts = asked["path"].split("/") if asked["path"] else []
    if any(part in ("", ".", "..") or "\\" in part for part in parts):
        raise UnsupportedError("has no paths of its own, only those of files")
    folder = Path(asked["store"], *parts)
    if (folder / ".zgroup").exists():  # which it tells by the same words as nothing at all
        raise UnsupportedError("has no groups")
    spec = {
        "driver": "zarr" if asked["zarr_format"] == 2 else "zarr3",
        # Whether a crash of the machine loses what was written is not asked.
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


def told(array: Any, zarr_format: int) -> dict[str, Any]:
    """What is told of an array: by its document as tensorstore gives it back."""
    metadata = array.spec().to_json()["metadata"]
    known = {"node_type": "array", "shape": metadata["shape"]}
    if zarr_format == 3:
        known["attributes"] = metadata.get("attributes", {})
        known["dimension_names"] = metadata.get("dimension_names")
    return known


if __name__ == "__main__":
    TensorStore().serve()
