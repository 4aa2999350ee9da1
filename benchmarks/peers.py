"""The compared libraries, with a common interface."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from benchmarks.cases import Case

OURS = "zarr-core"
PYTHON = "zarr-core-python"
"""This library without compiled code, if zarr-native is installed; not a peer."""
LOOP = "c-loop"
"""What any library needs at least; not a peer."""
OWN = frozenset({OURS, PYTHON, LOOP})
BASELINE = "zarr"


class Library(Protocol):
    """Interface of a library.

    A *place* is where an array lives: the path of a directory, or whatever the library
    itself uses as a store in memory.
    """

    name: str
    atomic: bool
    """Whether a stored object is replaced as a whole, so that a killed writer leaves complete chunks."""

    def lacks(self, case: Case) -> str | None:
        """Return why the library does not support a case, or None."""

    def memory(self, values: Mapping[str, bytes]) -> Any:
        """Return a new store in memory with ``values``."""

    def active(self) -> AbstractContextManager[object]:
        """Return the context in which the library runs."""

    def open(self, place: Any) -> Any: ...
    def read(self, array: Any, selection: Any) -> np.ndarray: ...
    def write(self, array: Any, value: np.ndarray) -> None: ...
    def points(self, array: Any, coordinates: tuple[np.ndarray, ...]) -> np.ndarray: ...


class ZarrCore:
    """This library, with compiled code if zarr-native is installed, or without."""

    atomic = True

    def __init__(self, name: str, native: str) -> None:
        from zarr_core import MemoryStore, config, open_array

        self.name = name
        self._native = native
        self._config = config
        self._open = open_array
        self._memory = MemoryStore

    def lacks(self, case: Case) -> str | None:
        if self.name == PYTHON and case.operation == "open":
            return "opens arrays in the same way"
        return None

    def memory(self, values: Mapping[str, bytes]) -> Any:
        store = self._memory()
        for key, value in values.items():
            store.set(key, value)
        return store

    def active(self) -> AbstractContextManager[object]:
        if self._native == "auto":  # the default; a change would discard caches
            return contextlib.nullcontext()
        return self._config.set(native=self._native)

    def open(self, place: Any) -> Any:
        return self._open(place, mode="r+")

    def read(self, array: Any, selection: Any) -> np.ndarray:
        return array[selection]

    def write(self, array: Any, value: np.ndarray) -> None:
        array[...] = value

    def points(self, array: Any, coordinates: tuple[np.ndarray, ...]) -> np.ndarray:
        return array.vindex[coordinates]


class ZarrPython:
    """zarr-python with one of its pipelines."""

    def __init__(self, name: str, pipeline: str) -> None:
        import zarr

        self.name = name
        self.atomic = not pipeline.startswith("zarrs.")  # which truncates and writes in place
        self._zarr = zarr
        self._pipeline = pipeline
        module, _, attribute = pipeline.rpartition(".")
        if not hasattr(__import__(module, fromlist=[attribute]), attribute):
            raise ImportError(f"no {pipeline} in the installed version")

    def lacks(self, case: Case) -> str | None:
        if self._pipeline.startswith("zarrs."):
            if case.place == "memory":
                return "the pipeline does not support stores in memory"
            if case.operation == "points":
                return "falls back to zarr-python's own pipeline"
        return None

    def memory(self, values: Mapping[str, bytes]) -> Any:
        from zarr.core.buffer import cpu

        return self._zarr.storage.MemoryStore(
            {key: cpu.Buffer.from_bytes(value) for key, value in values.items()}
        )

    def active(self) -> AbstractContextManager[object]:
        return self._zarr.config.set({"codec_pipeline.path": self._pipeline})

    def open(self, place: Any) -> Any:
        return self._zarr.open_array(place, mode="r+")

    def read(self, array: Any, selection: Any) -> np.ndarray:
        return array[selection]

    def write(self, array: Any, value: np.ndarray) -> None:
        array[...] = value

    def points(self, array: Any, coordinates: tuple[np.ndarray, ...]) -> np.ndarray:
        return array.vindex[coordinates]


class Zarrista:
    """zarrs through its own Python interface."""

    name = "zarrista"
    atomic = False  # it truncates the file and writes in place

    def __init__(self) -> None:
        import zarrista

        self._zarrista = zarrista

    def lacks(self, case: Case) -> str | None:
        return None

    def memory(self, values: Mapping[str, bytes]) -> Any:
        store = self._zarrista.store.MemoryStore()
        array = self._zarrista.Array.from_metadata(json.loads(values["zarr.json"]), store)
        array.store_metadata()
        for key, value in values.items():
            if key != "zarr.json":
                array.store_encoded_chunk([int(i) for i in key.split("/")[1:]], value)
        return store

    def active(self) -> AbstractContextManager[object]:
        return contextlib.nullcontext()

    def open(self, place: Any) -> Any:
        if not isinstance(place, self._zarrista.store.MemoryStore):
            place = self._zarrista.store.FilesystemStore(place)
        return self._zarrista.Array.open(place)

    def read(self, array: Any, selection: Any) -> np.ndarray:
        return array.retrieve_array_subset(selection).to_numpy()

    def write(self, array: Any, value: np.ndarray) -> None:
        array.store_array_subset(..., value)

    def points(self, array: Any, coordinates: tuple[np.ndarray, ...]) -> np.ndarray:
        # It does not support selection by coordinates, so users write a loop.
        out = np.empty(coordinates[0].shape, "float32")
        for i, point in enumerate(zip(*(c.tolist() for c in coordinates), strict=True)):
            out[i] = array.retrieve_array_subset(point).to_numpy().item()
        return out


class TensorStore:
    """tensorstore, without its cache (the default) and without fsync, as in the other libraries."""

    name = "tensorstore"
    atomic = True

    def __init__(self) -> None:
        import tensorstore

        self._ts = tensorstore

    def lacks(self, case: Case) -> str | None:
        return None

    def memory(self, values: Mapping[str, bytes]) -> Any:
        context = self._ts.Context()
        store = self._ts.KvStore.open({"driver": "memory"}, context=context).result()
        for key, value in values.items():
            store.write(key, value).result()
        return context

    def active(self) -> AbstractContextManager[object]:
        return contextlib.nullcontext()

    def open(self, place: Any) -> Any:
        context = None
        kvstore: dict[str, Any] = {"driver": "memory"}
        if isinstance(place, self._ts.Context):
            context = place
        else:
            kvstore = {"driver": "file", "path": f"{place}/", "file_io_sync": False}
        spec = {"driver": "zarr3", "kvstore": kvstore}
        return self._ts.open(spec, context=context, open=True).result()

    def read(self, array: Any, selection: Any) -> np.ndarray:
        return array[selection].read().result()

    def write(self, array: Any, value: np.ndarray) -> None:
        array.write(value).result()

    def points(self, array: Any, coordinates: tuple[np.ndarray, ...]) -> np.ndarray:
        return array.vindex[coordinates].read().result()


def _without_native() -> ZarrCore:
    import zarr_native._native  # noqa: F401 - without it, both would be the same

    return ZarrCore(PYTHON, "off")


def _loop() -> Library:
    from benchmarks.c_loop import CLoop  # it starts the compiler

    return CLoop()


_CORE = "zarr.core.codec_pipeline."
LIBRARIES: dict[str, Callable[[], Library]] = {
    OURS: lambda: ZarrCore(OURS, "auto"),
    PYTHON: lambda: _without_native(),
    LOOP: lambda: _loop(),
    BASELINE: lambda: ZarrPython(BASELINE, _CORE + "BatchedCodecPipeline"),
    "zarr-fused": lambda: ZarrPython("zarr-fused", _CORE + "FusedCodecPipeline"),
    "zarr-zarrs": lambda: ZarrPython("zarr-zarrs", "zarrs.ZarrsCodecPipeline"),
    "zarrista": Zarrista,
    "tensorstore": TensorStore,
}


def installed() -> tuple[list[Library], dict[str, str]]:
    """Return the available libraries, and the reasons for the others."""
    here: list[Library] = []
    absent: dict[str, str] = {}
    for name, make in LIBRARIES.items():
        try:
            here.append(make())
        except ImportError as error:
            absent[name] = str(error)
    return here, absent
