"""Values are preserved bit for bit: byte orders, NaN payloads, signs of zero, bools, edges."""

from __future__ import annotations

import json

import numpy as np
import pytest
import zarr_core as zarr
from reliability_data import put
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
@pytest.mark.parametrize(
    ("dtype", "fill"),
    [
        ("f4", np.uint32(0x7FC12345).view("f4")),
        ("f4", np.uint32(0xFF800001).view("f4")),
        ("f8", np.uint64(0x7FF8000000000123).view("f8")),
        ("f2", np.uint16(0xFE01).view("f2")),
        ("f8", -0.0),
        ("f4", 0.0),
        ("c8", np.array([0x7FC00001, 0x80000000], "u4").view("c8")[0]),
    ],
    ids=str,
)
def test_fill_values_are_bits(tmp_path, dtype, fill, layout):
    fill = np.asarray(fill, dtype)
    options = dict(LAYOUTS[layout], shape=SHAPE, dtype=dtype, fill_value=fill[()])
    options["serializer"] = {"name": "bytes", "configuration": {"endian": "big"}}
    zarr.create_array(tmp_path, **options)
    array = zarr.open_array(tmp_path)
    assert np.asarray(array.fill_value).tobytes() == fill.tobytes()
    assert same(array[...], np.full(SHAPE, fill))
    assert same(array[10, 12], fill)
    # A value that differs from the fill value in one bit is not the fill value.
    word = f"u{np.dtype(dtype).itemsize // (2 if dtype[0] == 'c' else 1)}"
    near = np.full(SHAPE, fill)
    near.view(word)[...] ^= np.array(1, word) << np.array(8 * np.dtype(word).itemsize - 1, word)
    array[...] = near
    assert array.nchunks_initialized > 0
    assert same(array[...], near)
    array[3:5, 4:6] = fill
    near[3:5, 4:6] = fill
    assert same(array[...], near)
    array[...] = fill
    assert array.nchunks_initialized == 0
    array[0, 0] = 1
    expected = np.full(SHAPE, fill)
    expected[0, 0] = 1
    assert same(array[...], expected)
    array.resize(30, 30)
    assert same(array[11:, 13:], np.full((19, 17), fill))


def test_a_nan_payload_in_a_document_is_read(tmp_path):
    array = zarr.create_array(tmp_path, shape=3, dtype="f4", fill_value=0)
    document = json.loads((tmp_path / "zarr.json").read_text())
    document["fill_value"] = "0x7fc00abc"
    put(tmp_path, "zarr.json", json.dumps(document).encode())
    array = zarr.open_array(tmp_path)
    assert array[...].view("u4").tolist() == [0x7FC00ABC] * 3
    array.attrs["a"] = 1
    assert json.loads((tmp_path / "zarr.json").read_text())["fill_value"] == "0x7fc00abc"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bools_are_stored_as_0_and_1(layout):
    array = zarr.create_array(MemoryStore(), shape=SHAPE, dtype=bool, **LAYOUTS[layout])
    octets = np.random.default_rng(5).choice(np.array([0, 1, 2, 128, 255], "u1"), SHAPE)
    array[...] = octets.view(bool)  # that NumPy supports
    assert same(array[...], octets != 0)
    array[1:7, 2:11] = octets[:6, :9].view(bool)
    octets[1:7, 2:11] = octets[:6, :9].copy()
    assert same(array[...], octets != 0)
