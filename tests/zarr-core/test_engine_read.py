"""The bytes that reads request from the store."""

import os

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.config import config


@pytest.fixture
def sizes(monkeypatch):
    """The number of bytes requested by each read of a file."""
    from zarr_core.stores import local_files

    seen = []
    preadv = local_files.os.preadv

    def recorded(descriptor, buffers, offset):
        seen.extend(len(buffer) for buffer in buffers)
        return preadv(descriptor, buffers, offset)

    monkeypatch.setattr(os, "preadv", recorded)
    return seen


@pytest.mark.parametrize("threads", [1, 2])
def test_a_thin_slab_of_large_raw_chunks_reads_little(tmp_path, sizes, threads):
    data = np.arange(512 * 1024, dtype="f4").reshape(512, 1024)
    zarr.create_array(tmp_path, data=data, chunks=(256, 512), compressors=None)
    with config.set(threads=threads, native="off"):
        array = zarr.open_array(tmp_path)
        sizes.clear()
        assert (array[300] == data[300]).all()
    assert sum(sizes) == data[300].nbytes


@pytest.mark.parametrize("dtype", ["uint8", "bool", ">i4"])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.999])
def test_masks_of_chunks_without_compression(dtype, share):
    array = zarr.create_array(shape=(300, 200), chunks=(128, 90), dtype=dtype, compressors=None)
    random = np.random.default_rng(0)
    expected = random.integers(0, 2, (300, 200)).astype(dtype)
    array[...] = expected
    mask = random.random((300, 200)) < share
    mask[200:] = False
    mask[0, 0] = True
    np.testing.assert_array_equal(array[mask], expected[mask])
    array[mask] = 0
    expected[mask] = 0
    np.testing.assert_array_equal(array[...], expected)
