"""The only door to h5py, opened when a file is."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


def library() -> Any:
    """The module, with the filters of hdf5plugin if that is installed.

    Raises
    ------
    ImportError
        If h5py is not there; says how to install it.
    """
    try:
        import h5py  # type: ignore[import-untyped]  # noqa: PLC0415 - lazy; has no types
    except ImportError as error:
        raise ImportError(
            f"reading HDF5 takes h5py: pip install 'zarr-import[hdf5]' ({error})"
        ) from error
    with suppress(ImportError):
        import hdf5plugin  # noqa: F401, PLC0415 - registers filters
    return h5py
