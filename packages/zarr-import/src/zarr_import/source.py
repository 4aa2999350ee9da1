"""Open HDF5 and NetCDF files for import."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from zarr_import._h5py import import_h5py
from zarr_import.errors import (
    UnsupportedSourceError,
    check_exists,
    describe,
    read_error,
    read_errors,
)
from zarr_import.hdf5_contents import hdf5_contents
from zarr_import.netcdf3 import is_netcdf3, netcdf3_contents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_import.hdf5_tree import PathFilter
    from zarr_import.variable import Contents


def source_name(source: Any) -> str:
    """Return the name of a source for messages: the path of the file if it has one."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    file = getattr(source, "file", None)
    return str(getattr(file, "filename", None) or getattr(source, "name", None) or source)


@contextmanager
def open_source(
    source: Any, group: str, path_filter: PathFilter, max_memory: int, *, external: bool
) -> Iterator[tuple[Contents, list[UnsupportedSourceError]]]:
    """Open a source and yield its contents and the problems found.

    Raises SourceReadError if the file, or its root, cannot be read, and UnsupportedSourceError if
    the group does not exist, or the file format is not supported.
    """
    check_exists(source)
    label = source_name(source)
    if is_netcdf3(source):
        with netcdf3_contents(source, path_filter) as contents:
            yield contents, []
        return
    h5py = import_h5py()
    if isinstance(source, h5py.Group | h5py.Dataset):
        below = group.strip("/")  # an absolute path would begin at the root of the file
        with read_errors(label, f"{group!r}"):
            root = source[below] if below and isinstance(source, h5py.Group) else source
        yield hdf5_contents(h5py, root, path_filter, external=external)
        return
    # A chunk of the source may be needed for several new chunks, so the cache is enlarged.
    try:
        file = h5py.File(source, "r", rdcc_nbytes=max(1 << 20, max_memory // 4))
    except Exception as error:  # mostly OSError, also ValueError and others
        reason = f"is not an HDF5 file, or is damaged ({describe(error)})"
        if label.lower().endswith(".npy"):
            reason += "; use zarr_core.create_array(dest, data=numpy.load(file, mmap_mode='r'))"
        elif label.lower().endswith(".npz"):
            reason += "; use zarr_core.save(dest, **numpy.load(file))"
        raise read_error(label, error, reason) from error
    with file:
        with read_errors(label, f"{group!r}"):
            if group not in file:
                raise UnsupportedSourceError(f"{label} {group!r}", "no such group or dataset")
            root = file[group]
        yield hdf5_contents(h5py, root, path_filter, external=external)
