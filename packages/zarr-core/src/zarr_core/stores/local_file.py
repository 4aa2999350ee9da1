"""What a file is that somebody took for a directory."""

from __future__ import annotations

import os
from contextlib import suppress

# First bytes, what they mean, what to do.
_SIGNATURES = (
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "read it with h5py, or as references with kerchunk"),
    (b"CDF", "a netCDF file", "read it with xarray, or as references with kerchunk"),
    (b"PK", "a zip archive", "open it as zip://PATH, or give it the suffix .zip"),
    (b"II*\0", "a TIFF file", "read it with tifffile, which can show it as Zarr"),
    (b"MM\0*", "a TIFF file", "read it with tifffile, which can show it as Zarr"),
    (b"SQLite format 3", "an SQLite database", "open it as sqlite://PATH"),
    (b"\x93NUMPY", "an array of NumPy", "read it with numpy.load"),
)


def told(path: str) -> str:
    """Say what stands in the place of a directory.

    Parameters
    ----------
    path : str
        Something that exists and is no directory.
    """
    start = b""
    if os.path.isfile(path):  # to open a pipe would wait for its writer
        with suppress(OSError), open(path, "rb", buffering=0) as file:
            start = file.read(16)
    for signature, meaning, advice in _SIGNATURES:
        if start.startswith(signature):
            return f"is {meaning}, not a directory, so not a local store; {advice}"
    return "is a file, not a directory, so not a local store"
