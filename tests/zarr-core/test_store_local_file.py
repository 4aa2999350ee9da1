"""Opening a file as a local store."""

import os

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import StoreError


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (b"\x89HDF\r\n\x1a\n....", "is a file, not a directory.*zarr-import imports HDF5"),
        (b"PK\x03\x04....", "is not a zip archive, is truncated|the store is read-only"),
        (b"", "is a file, not a directory"),
    ],
)
def test_a_file_is_not_opened_and_kept(tmp_path, start, sentence):
    path = tmp_path / "something"
    path.write_bytes(start)
    for mode in ("r", "a", "w"):
        with pytest.raises(StoreError, match=sentence):
            zarr.open(path, mode=mode)
    assert path.read_bytes() == start


def test_a_pipe_does_not_make_anyone_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="not a directory"):
        zarr.open(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["archive", "results.bin", "field.zarr"])
def test_a_zip_archive_is_read_whatever_its_suffix(tmp_path, name):
    group = zarr.create_group(tmp_path / "field.zip")
    group.create_array("a", data=np.arange(6, dtype="u2"), chunks=4)
    group.store.close()
    path = tmp_path / name
    (tmp_path / "field.zip").rename(path)
    stored = path.read_bytes()
    for options in ({}, {"mode": "r"}):
        assert zarr.open(path, **options)["a"][...].tolist() == [0, 1, 2, 3, 4, 5]
    for change in (
        lambda: zarr.open(path, mode="w"),
        lambda: zarr.create_array(path, path="b", shape=3),
        lambda: zarr.open_group(path, mode="r+").attrs.update(a=1),
    ):
        with pytest.raises(StoreError):
            change()
    assert path.read_bytes() == stored
