"""Read a hierarchy with other libraries, if they are installed."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    NDArray = np.ndarray[Any, Any]


def _zarr_python(path: Path) -> NDArray:
    return np.asarray(import_module("zarr").open_array(path, mode="r")[...])


def _tensorstore(path: Path) -> NDArray:
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}}
    return np.asarray(import_module("tensorstore").open(spec, read=True).result().read().result())


READERS: dict[str, Callable[[Path], NDArray]] = {"zarr": _zarr_python, "tensorstore": _tensorstore}


def compare(root: Path, ours: dict[str, NDArray]) -> Iterator[tuple[str, int | None]]:
    """Compare the data that other libraries read with our data, bitwise.

    Parameters
    ----------
    root : Path
        Directory of the hierarchy.
    ours : dict of str to ndarray
        The data that this library read, by path.

    Yields
    ------
    library : str
        Name and version.
    same : int or None
        The number of identical arrays; None if the library is not installed.
    """
    for name, read in READERS.items():
        try:
            import_module(name)
        except ImportError:
            yield name, None
            continue
        theirs = {path: read(root / path) for path in ours}
        same = sum(_identical(theirs[path], values) for path, values in ours.items())
        yield f"{name} {version(name)}", same


def _identical(one: NDArray, other: NDArray) -> bool:
    return (one.dtype, one.shape) == (other.dtype, other.shape) and one.tobytes() == other.tobytes()
