"""NetCDF files of version 3, read through scipy."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_import.unsupported import UnsupportedSourceError
from zarr_import.variable import Contents, Folder, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import JSON

    from zarr_import.hdf5_tree import Choice

    NDArray = np.ndarray[Any, Any]

_MAGIC = (b"CDF\x01", b"CDF\x02")
_NOT_READ = b"CDF\x05"


def is_netcdf3(source: Any) -> bool:
    """Whether a file is NetCDF of version 3, by its first bytes.

    Raises
    ------
    UnsupportedSourceError
        If it is of the kind with 64 bits, which scipy does not read.
    """
    if isinstance(source, str | os.PathLike):
        if not os.path.isfile(source):
            return False  # who opens it says what is wrong
        with open(source, "rb") as file:
            first = file.read(4)
    elif hasattr(source, "read") and hasattr(source, "seek"):
        first = source.read(4)
        source.seek(0)
    else:
        return False
    if first == _NOT_READ:
        raise UnsupportedSourceError(
            str(source), "NetCDF of the kind CDF-5 is not read; rewrite it: nccopy -k nc4 old new"
        )
    return first in _MAGIC


@contextmanager
def netcdf3_contents(source: Any, choice: Choice) -> Iterator[Contents]:
    """What such a file holds; open as long as it is read.

    Raises
    ------
    ImportError
        If scipy is not installed.
    """
    try:
        from scipy.io import netcdf_file  # type: ignore[import-untyped]  # noqa: PLC0415 - lazy
    except ImportError as error:
        raise ImportError(
            f"reading NetCDF of version 3 takes scipy: pip install 'zarr-import[netcdf3]' ({error})"
        ) from error
    file = netcdf_file(source, "r", mmap=isinstance(source, str | os.PathLike), maskandscale=False)
    try:
        root = Folder("", "/", {name: _json(it) for name, it in file._attributes.items()})  # noqa: SLF001 - no other way
        found: list[tuple[str, Any]] = [("", root), *((name, None) for name in file.variables)]
        nodes = [
            node if isinstance(node, Folder) else _variable(name, file)
            for name, node in choice.of(found)
        ]
        yield Contents(nodes)
    finally:
        file.close()


def _variable(name: str, file: Any) -> Variable:
    variable = file.variables[name]
    attributes: dict[str, Any] = dict(variable._attributes)  # noqa: SLF001 - as above
    missing = attributes.pop("_FillValue", None)
    dtype = variable.data.dtype
    if missing is not None:
        missing = np.asarray(missing).astype(dtype).reshape(-1)[0]
    return Variable(
        name, f"/{name}", tuple(variable.shape), dtype,
        # A variable that is held, here or there, would keep the file mapped.
        lambda box: np.array(file.variables[name].data[box]),
        {key: _json(value) for key, value in attributes.items()},
        dimension_names=tuple(variable.dimensions), missing_value=missing,
    )  # fmt: skip


def _json(value: Any) -> JSON:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    array = np.asarray(value)
    plain: JSON = array.reshape(-1)[0].item() if array.size == 1 else array.tolist()
    return plain
