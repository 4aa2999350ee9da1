"""The only module that imports h5py, when a file is opened."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


def import_h5py() -> Any:
    """Return the module ``h5py``, with the filters of hdf5plugin if that is installed."""
    try:
        import h5py  # type: ignore[import-untyped]  # has no types
    except ImportError as error:
        raise ImportError(
            f"reading HDF5 requires h5py: pip install 'zarr-import[hdf5]' ({error})"
        ) from error
    with suppress(ImportError):
        import hdf5plugin  # noqa: F401 - registers filters
    return h5py
