"""A loop in C over the chunks of an array: the least that any library could take."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from benchmarks.cases import Case

_SOURCE = Path(__file__).with_suffix(".c")
_OPERATIONS = ("read", "write", "rewrite")


class CLoop:
    """System calls, calls of Blosc and copies, without checks; not a library.

    The compiler is ``cc``; Blosc is that of numcodecs.
    """

    name = "c-loop"
    atomic = True

    def __init__(self) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            raise ImportError("there is no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder, "c_loop.so")
            options = ["-std=gnu11", "-O3", "-shared", "-fPIC", "-pthread"]
            subprocess.run([compiler, *options, str(_SOURCE), "-o", str(library)], check=True)
            self._loop = ctypes.CDLL(str(library)).c_loop
        self._blosc = _blosc()

    def lacks(self, case: Case) -> str | None:
        if case.operation not in _OPERATIONS or case.sharded or case.place != "disk":
            return "reads and writes all chunks in files only"
        if case.codec != "raw" and (case.codec != "lz4" or self._blosc is None):
            return "the codec is not in the loop"
        if any(n % m for n, m in zip(case.shape, case.chunk_shape, strict=True)):
            return "does not divide chunks at the edge"
        return None

    def memory(self, values: Mapping[str, bytes]) -> Any:
        raise TypeError("the loop has no stores in memory")

    def active(self) -> AbstractContextManager[object]:
        return contextlib.nullcontext()

    def open(self, place: Any) -> Any:
        document = json.loads(Path(place, "zarr.json").read_bytes())
        shape, chunk = document["shape"], document["chunk_grid"]["configuration"]["chunk_shape"]
        outer = [1] * (3 - len(shape))
        grid = [*outer, *(n // m for n, m in zip(shape, chunk, strict=True))]
        numbers = ctypes.c_int64 * 3
        compressed = len(document["codecs"]) > 1
        return os.fsencode(place), numbers(*grid), numbers(*outer, *chunk), shape, compressed

    def read(self, array: Any, selection: Any) -> np.ndarray:
        out = np.empty(array[3], "float32")
        self._run(array, out, writing=False)
        return out

    def write(self, array: Any, value: np.ndarray) -> None:
        self._run(array, np.ascontiguousarray(value), writing=True)

    def points(self, array: Any, coordinates: tuple[np.ndarray, ...]) -> np.ndarray:
        raise TypeError("the loop reads whole arrays only")

    def _run(self, array: Any, memory: np.ndarray, *, writing: bool) -> None:
        root, grid, chunk, shape, compressed = array
        decode = encode = None
        if compressed:
            assert self._blosc is not None  # see lacks()
            decode, encode = self._blosc
        failed = self._loop(
            root, len(shape), grid, chunk, ctypes.c_int64(4), ctypes.c_void_p(memory.ctypes.data),
            decode, encode, int(writing), os.cpu_count() or 1,
        )  # fmt: skip
        if failed:
            raise OSError("the loop in C failed")


def _blosc() -> tuple[ctypes.c_void_p, ctypes.c_void_p] | None:
    """The functions of Blosc in numcodecs; None if it does not export them."""
    found = find_spec("numcodecs.blosc")
    if found is None or found.origin is None:
        return None
    try:
        library = ctypes.CDLL(found.origin)
        functions = (library.blosc_decompress_ctx, library.blosc_compress_ctx)
    except (OSError, AttributeError):
        return None
    decode, encode = (ctypes.cast(it, ctypes.c_void_p) for it in functions)
    return decode, encode
