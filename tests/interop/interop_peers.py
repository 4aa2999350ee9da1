"""The other libraries, each behind the same two verbs."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path


class Peer(Protocol):
    """A library that reads the array in a directory as a whole, and writes one whose document is there."""

    name: str
    version: tuple[int, ...]
    refusals: tuple[type[Exception], ...]
    """What it raises for an array that it does not support."""

    def read(self, directory: Path, dtype: np.dtype[Any]) -> np.ndarray: ...
    def write(self, directory: Path, values: np.ndarray) -> None: ...


class ZarrPython:
    """zarr-python, with its own pipeline or that of zarrs."""

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

    def read(self, directory: Path, dtype: np.dtype[Any]) -> np.ndarray:
        with self._zarr.config.set(self._settings), _no_warnings():
            return np.asarray(self._zarr.open_array(directory, mode="r")[...])

    def write(self, directory: Path, values: np.ndarray) -> None:
        with self._zarr.config.set(self._settings), _no_warnings():
            self._zarr.open_array(directory, mode="r+")[...] = values


class TensorStore:
    """tensorstore, without waiting for the disk."""

    name = "tensorstore"
    refusals = (ValueError,)

    def __init__(self) -> None:
        import tensorstore

        self.version = ()
        self._ts = tensorstore

    def _open(self, directory: Path) -> Any:
        kvstore = {"driver": "file", "path": f"{directory}/", "file_io_sync": False}
        return self._ts.open({"driver": "zarr3", "kvstore": kvstore}, open=True).result()

    def read(self, directory: Path, dtype: np.dtype[Any]) -> np.ndarray:
        return np.asarray(self._open(directory).read().result())

    def write(self, directory: Path, values: np.ndarray) -> None:
        self._open(directory).write(values).result()


class Zarrista:
    """zarrs by its own Python interface."""

    name = "zarrista"

    def __init__(self) -> None:
        import zarrista

        self.version = _numbers(zarrista.__version__)
        self.refusals = (zarrista.exceptions.ArrayCreateError,)
        self._zarrista = zarrista

    def _open(self, directory: Path) -> Any:
        return self._zarrista.Array.open(self._zarrista.store.FilesystemStore(directory))

    def read(self, directory: Path, dtype: np.dtype[Any]) -> np.ndarray:
        tensor = self._open(directory).retrieve_array_subset(...)
        return np.frombuffer(tensor.buffer(), dtype).reshape(tensor.shape)

    def write(self, directory: Path, values: np.ndarray) -> None:
        # As bytes: it takes neither complex numbers nor raw bits from NumPy.
        data = self._zarrista.ArrayBytes(values.tobytes())
        self._open(directory).store_array_subset(..., data)


PEERS = {
    "zarr": lambda: ZarrPython("zarr", "zarr.core.codec_pipeline.BatchedCodecPipeline"),
    "zarrs": lambda: ZarrPython("zarrs", "zarrs.ZarrsCodecPipeline"),
    "zarrista": Zarrista,
    "tensorstore": TensorStore,
}
INSTALLED = [name for name in PEERS if find_spec(name)]
"""Those that there are for this version of Python."""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _no_warnings() -> Any:
    # What a peer warns of (data types outside the specification, fallbacks) is its own business.
    return warnings.catch_warnings(action="ignore")
