"""Values are preserved bit for bit: byte orders, NaN payloads, signs of zero, bools, edges."""

from __future__ import annotations

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.stores.memory import MemoryStore

LAYOUTS = {
    "raw": {"chunks": (4, 5), "compressors": None},
    "gzip": {"chunks": (4, 5), "compressors": "gzip"},
    "crc32c": {"chunks": (4, 5), "compressors": ["crc32c"]},
    "transposed": {
        "chunks": (4, 5),
        "filters": [{"name": "transpose", "configuration": {"order": [1, 0]}}],
        "compressors": "zstd",
    },
    "transposed raw": {
        "chunks": (4, 5),
        "filters": [{"name": "transpose", "configuration": {"order": [1, 0]}}],
        "compressors": None,
    },
    "shard": {"chunks": (2, 5), "shards": (8, 10)},
    "shard raw": {"chunks": (2, 5), "shards": (8, 10), "compressors": None},
}
SHAPE = (11, 13)  # not a multiple of any chunk or shard


def same(one, other) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    return (
        one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bools_are_stored_as_0_and_1(layout):
    array = zarr.create_array(MemoryStore(), shape=SHAPE, dtype=bool, **LAYOUTS[layout])
    octets = np.random.default_rng(5).choice(np.array([0, 1, 2, 128, 255], "u1"), SHAPE)
    array[...] = octets.view(bool)  # that NumPy supports
    assert same(array[...], octets != 0)
    array[1:7, 2:11] = octets[:6, :9].view(bool)
    octets[1:7, 2:11] = octets[:6, :9].copy()
    assert same(array[...], octets != 0)
