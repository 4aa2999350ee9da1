"""How much of the store a read touches."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.config import config


@pytest.fixture
def sizes(monkeypatch):
    """Bytes asked for by every read of a file."""
    from zarr_core.stores import local_read

    seen = []
    preadv = local_read.os.preadv

    def recorded(descriptor, buffers, offset):
        seen.extend(len(buffer) for buffer in buffers)
        return preadv(descriptor, buffers, offset)

    monkeypatch.setattr(local_read.os, "preadv", recorded)
    return seen


@pytest.mark.parametrize("threads", [1, 2])
def test_a_thin_slab_of_large_raw_chunks_reads_little(tmp_path, sizes, threads):
    data = np.arange(512 * 1024, dtype="f4").reshape(512, 1024)
    array = zarr.create_array(tmp_path, data=data, chunks=(256, 512), compressors=None)
    sizes.clear()
    with config.set(threads=threads):
        assert (array[300] == data[300]).all()
    assert sum(sizes) == data[300].nbytes
