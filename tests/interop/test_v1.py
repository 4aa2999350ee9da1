"""Version 1 written or changed by this library, read by zarr-python 1.0 and 1.1.

``test_fixtures.py`` reads what they wrote; they read new arrays in ``test_write_back.py``.
"""

from __future__ import annotations

import base64

import numpy as np
import pytest
import zarr_core
from old_libraries import need, read_all, run, same_bits

SHAPE, CHUNKS = (7, 5), (3, 2)
READERS = ["zarr1", "zarr1.0"]
FILLS = [
    ("f4", float("nan")), ("f8", -np.inf), ("f8", -0.0), ("f4", 0.1), ("i8", -(2**63)),
    ("u8", 2**64 - 1), ("?", True), ("S3", b"ab"), ("U3", "Ωz"), ("c8", 2.5),
    ("M8[s]", np.datetime64("2001-02-03", "s")), ("M8[s]", np.datetime64("NaT", "s")),
]  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
def test_bytes_that_we_write_are_read(tmp_path, reader):
    values = np.frombuffer(np.random.default_rng(1).bytes(105), "V3").reshape(SHAPE).copy()
    options = {"chunks": CHUNKS, "zarr_format": 1}
    array = zarr_core.create_array(tmp_path, shape=SHAPE, dtype=values.dtype, **options)
    array[:4] = values[:4]
    values[4:] = b"\0\0\0"
    program = "import sys, zarr; print(zarr.open(sys.argv[1], mode='r')[:].tobytes().hex())"
    assert run(need(reader), program, tmp_path).strip() == values.tobytes().hex()


@pytest.mark.parametrize("reader", READERS)
def test_fill_values_that_we_write_are_read(tmp_path, reader):
    python = need(reader)
    places = []
    for number, (dtype, fill_value) in enumerate(FILLS):
        places.append(("directory", tmp_path / str(number), ""))
        options = {"zarr_format": 1, "fill_value": fill_value, "compressors": None}
        zarr_core.create_array(tmp_path / str(number), shape=(3,), dtype=dtype, **options)
    for (dtype, fill_value), answer in zip(FILLS, read_all(python, places), strict=True):
        assert "error" not in answer, (dtype, answer["error"])
        expected = np.array(fill_value, dtype)
        assert base64.b64decode(answer["fill_value"]) == expected.tobytes(), dtype
        assert same_bits(answer["values"], np.full((3,), expected)), dtype


@pytest.mark.parametrize("writer", READERS)
@pytest.mark.parametrize("compression", ["blosc", "zlib"])
def test_changes_are_read_by_peers(tmp_path, writer, compression):
    python = need(writer)
    program = """
import sys, numpy as np, zarr
array = zarr.open(sys.argv[1], mode="w", shape=(7, 5), chunks=(3, 2), dtype="<i4", order="F",
    compression=sys.argv[2], fill_value=float("nan") if sys.argv[2] == "none" else 9)
array[:5] = np.arange(25).reshape(5, 5)
array.attrs["mine"] = 1
"""
    run(python, program, tmp_path, compression)
    values = np.full(SHAPE, 9, "i4")
    values[:5] = np.arange(25).reshape(5, 5)
    array = zarr_core.open(tmp_path)
    assert same_bits(array[...], values)
    array[2:6, 1:] = 5
    array.attrs["ours"] = "é"
    array.resize(8, 4)
    values = np.concatenate([values, np.full((1, 5), 9, "i4")])[:, :4]
    values[2:6, 1:] = 5
    (answer,) = read_all(python, [("directory", tmp_path, "")])
    assert same_bits(answer["values"], values)
    assert answer["attributes"] == {"mine": 1, "ours": "é"}
