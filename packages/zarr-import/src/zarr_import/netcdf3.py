"""Read NetCDF 3 files with scipy."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_import.errors import UnsupportedSourceError, read_errors
from zarr_import.variable import Contents, SourceGroup, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import JSON

    from zarr_import.hdf5_tree import PathFilter

    NDArray = np.ndarray[Any, Any]

_MAGIC = (b"CDF\x01", b"CDF\x02")
_CDF5 = b"CDF\x05"


def is_netcdf3(source: Any) -> bool:
    """Return whether a file is NetCDF 3, by its first bytes.

    Raises UnsupportedSourceError if it is in the format CDF-5, which scipy does not support.
    """
    if isinstance(source, str | os.PathLike):
        if not os.path.isfile(source):
            return False  # opening it reports the error
        with read_errors(os.fspath(source)), open(source, "rb") as file:
            first = file.read(4)
    elif hasattr(source, "read") and hasattr(source, "seek"):
        first = source.read(4)
        source.seek(0)
    else:
        return False
    if first == _CDF5:
        raise UnsupportedSourceError(
            str(source), "the NetCDF format CDF-5 is not supported; convert: nccopy -k nc4 old new"
        )
    return first in _MAGIC


@contextmanager
def netcdf3_contents(source: Any, path_filter: PathFilter) -> Iterator[Contents]:
    """Yield the contents of a NetCDF 3 file, which is open within the context.

    Raises ImportError if scipy is not installed, and SourceReadError if the file is damaged.
    """
    try:
        from scipy.io import netcdf_file  # type: ignore[import-untyped]  # has no types
    except ImportError as error:
        raise ImportError(
            f"reading NetCDF 3 requires scipy: pip install 'zarr-import[netcdf3]' ({error})"
        ) from error
    mapped = isinstance(source, str | os.PathLike)
    label = os.fspath(source) if mapped else str(source)
    with read_errors(label, "the header, the NetCDF file is damaged"):
        file = netcdf_file(source, "r", mmap=mapped, maskandscale=False)
    try:
        with read_errors(label, "the attributes"):
            root = SourceGroup("", "/", {name: _json(v) for name, v in file._attributes.items()})  # noqa: SLF001 - no other way
        contents: list[tuple[str, Any]] = [("", root), *((name, None) for name in file.variables)]
        nodes: list[SourceGroup | Variable] = []
        for name, node in path_filter.select(contents):
            if isinstance(node, SourceGroup):
                nodes.append(node)
            else:
                with read_errors(f"{label} /{name}"):
                    nodes.append(_variable(name, file, f"{label} /{name}"))
        yield Contents(nodes)
    finally:
        file.close()


def _variable(name: str, file: Any, label: str) -> Variable:
    variable = file.variables[name]
    attributes: dict[str, Any] = dict(variable._attributes)  # noqa: SLF001 - as above
    missing = attributes.pop("_FillValue", None)
    dtype = variable.data.dtype
    if missing is not None:
        missing = np.asarray(missing).astype(dtype).reshape(-1)[0]

    def read(box: tuple[slice, ...]) -> NDArray:
        with read_errors(label):
            # A reference to the variable would keep the file mapped.
            return np.array(file.variables[name].data[box])

    return Variable(
        name, f"/{name}", tuple(variable.shape), dtype, read,
        {key: _json(value) for key, value in attributes.items()},
        dimension_names=tuple(variable.dimensions), missing_value=missing,
    )  # fmt: skip


def _json(value: Any) -> JSON:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    array = np.asarray(value)
    plain: JSON = array.reshape(-1)[0].item() if array.size == 1 else array.tolist()
    return plain
