"""Opening a file as a local store."""

import os

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import StoreError


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (b"\x89HDF\r\n\x1a\n....", "an HDF5 file, not a directory.*import it with zarr-import"),
        (b"CDF\x01....", "a NetCDF file.*import it with zarr-import"),
        (b"PK\x03\x04....", r"a zip archive.*suffix \.zip"),
        (b"II*\0....", "a TIFF file"),
        (b"MM\0*....", "a TIFF file"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"words", "is a file, not a directory"),
        (b"", "is a file, not a directory"),
    ],
)
def test_files_are_reported_by_their_first_bytes(tmp_path, start, sentence):
    path = tmp_path / "something"
    path.write_bytes(start)
    for mode in ("r", "a", "w"):
        with pytest.raises(StoreError, match=sentence):
            zarr.open(path, mode=mode)
    assert path.read_bytes() == start


def test_numpy_file_is_reported(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3))
    with pytest.raises(StoreError, match=r"array of NumPy.*numpy\.load"):
        zarr.open(tmp_path / "x.npy")


def test_a_pipe_does_not_make_anyone_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="not a directory"):
        zarr.open(tmp_path / "pipe")
