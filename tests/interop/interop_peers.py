"""The other libraries, with one interface to read and to write."""

from __future__ import annotations

import itertools
import json
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path


class Peer(Protocol):
    """A library that reads a whole array in a directory, and writes an array with existing metadata."""

    name: str
    version: tuple[int, ...]
    refusals: tuple[type[Exception], ...]
    """What it raises for an array that it does not support."""

    def read(self, directory: Path, dtype: np.dtype[Any]) -> np.ndarray: ...
    def write(self, directory: Path, values: np.ndarray) -> None: ...

    def open(self, directory: Path) -> Any:
        """Return its interpretation of the metadata; raise an error if it is not supported."""

    def rewrite(self, directory: Path) -> None:
        """Write the metadata again, as interpreted."""


class ZarrPython:
    """zarr-python, with its codec pipeline or that of zarrs."""

    def __init__(self, name: str, pipeline: str) -> None:
        import zarr

        self.refusals = (ValueError, IndexError)
        if pipeline.startswith("zarrs."):
            from zarrs.pipeline import UnsupportedMetadataError

            self.refusals += (UnsupportedMetadataError,)
        self.name = name
        self.version = _numbers(zarr.__version__)
        self._zarr = zarr
        self._settings = {"codec_pipeline.path": pipeline, "codec_pipeline.strict": True}
        if self.version >= (3, 2):
            self._settings["array.rectilinear_chunks"] = True

    def read(self, directory: Path, dtype: np.dtype[Any]) -> np.ndarray:
        with self._zarr.config.set(self._settings), _no_warnings():
            return np.asarray(self._zarr.open_array(directory, mode="r")[...])

    def write(self, directory: Path, values: np.ndarray) -> None:
        with self._zarr.config.set(self._settings), _no_warnings():
            self._zarr.open_array(directory, mode="r+")[...] = values

    def open(self, directory: Path) -> Any:
        with self._zarr.config.set(self._settings), _no_warnings():
            return self._zarr.open_array(directory, mode="r")

    def rewrite(self, directory: Path) -> None:
        with self._zarr.config.set(self._settings), _no_warnings():
            self._zarr.open_array(directory, mode="r+").update_attributes({"seen": 1})


class TensorStore:
    """tensorstore, without synchronization to the disk."""

    name = "tensorstore"
    refusals = (ValueError,)

    def __init__(self) -> None:
        import tensorstore

        self.version = ()
        self._ts = tensorstore

    def open(self, directory: Path, **more: Any) -> Any:
        kvstore = {"driver": "file", "path": f"{directory}/", "file_io_sync": False}
        spec = {"driver": "zarr3", "kvstore": kvstore, **more}
        return self._ts.open(spec, open=not more, create=bool(more)).result()

    def rewrite(self, directory: Path) -> None:
        document = json.loads((directory / "zarr.json").read_bytes())
        if "raw_bytes" in str(document["data_type"]):
            raise RuntimeError("tensorstore 0.1.86 would end the process")
        (directory / "zarr.json").unlink()
        self.open(directory, metadata=document)

    def read(self, directory: Path, dtype: np.dtype[Any]) -> np.ndarray:
        got = np.asarray(self.open(directory).read().result())
        return np.ascontiguousarray(got).view(dtype)[..., 0] if _is_raw(dtype) else got

    def write(self, directory: Path, values: np.ndarray) -> None:
        if _is_raw(values.dtype):
            values = np.frombuffer(values.tobytes(), "S1").reshape(*values.shape, -1)
        self.open(directory).write(values).result()


class Zarrista:
    """zarrs, through its Python interface."""

    name = "zarrista"

    def __init__(self) -> None:
        import zarrista

        self.version = _numbers(zarrista.__version__)
        self.refusals = (zarrista.exceptions.ArrayCreateError,)
        self._zarrista = zarrista

    def open(self, directory: Path) -> Any:
        return self._zarrista.Array.open(self._zarrista.store.FilesystemStore(directory))

    def read(self, directory: Path, dtype: np.dtype[Any]) -> np.ndarray:
        tensor = self.open(directory).retrieve_array_subset(...)
        if dtype.kind in "TO":
            return tensor.to_numpy()
        return np.frombuffer(tensor.buffer(), dtype).reshape(tensor.shape)

    def write(self, directory: Path, values: np.ndarray) -> None:
        if values.dtype.kind in "TO":
            parts = [item.encode() if isinstance(item, str) else item for item in values.flat]
            offsets = [0, *itertools.accumulate(map(len, parts))]
            data = self._zarrista.ArrayBytes(b"".join(parts), offsets=offsets)
        else:
            # As bytes: it does not accept complex numbers and raw bits from NumPy.
            data = self._zarrista.ArrayBytes(values.tobytes())
        self.open(directory).store_array_subset(..., data)

    def rewrite(self, directory: Path) -> None:
        self.open(directory).store_metadata()


PEERS = {
    "zarr": lambda: ZarrPython("zarr", "zarr.core.codec_pipeline.BatchedCodecPipeline"),
    "zarrs": lambda: ZarrPython("zarrs", "zarrs.ZarrsCodecPipeline"),
    "zarrista": Zarrista,
    "tensorstore": TensorStore,
}
INSTALLED = [name for name in PEERS if find_spec(name)]
"""Those that there are for this version of Python."""


def _is_raw(dtype: np.dtype[Any]) -> bool:
    """Whether elements are raw bytes, which tensorstore represents as an additional dimension."""
    return dtype.str.startswith("|V") and dtype.names is None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _no_warnings() -> Any:
    # Warnings of other libraries, for example about data types outside the specification.
    return warnings.catch_warnings(action="ignore")
