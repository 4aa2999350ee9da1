"""Registered codecs in arrays: filters before and within shards, partial writes, empty chunks."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zarr_core

if TYPE_CHECKING:
    from pathlib import Path

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
SHAPE = (24, 30)


def codec(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


def shards(shape: list[int], *codecs: Any) -> dict[str, Any]:
    inner = {"chunk_shape": shape, "codecs": list(codecs), "index_codecs": [BYTES, "crc32c"]}
    return codec("sharding_indexed", **inner)


NAN_IN_A_BYTE = [
    codec("scale_offset", offset=-10, scale=0.1),
    codec(
        "cast_value",
        data_type="uint8",
        scalar_map={"encode": [["NaN", 0]], "decode": [[0, "NaN"]]},
    ),
]
CASES: dict[str, tuple[str, float, list[Any], Any]] = {
    "numbers in a byte inside shards": ("f8", np.nan, [], shards([4, 5], *NAN_IN_A_BYTE, BYTES)),
    "numbers in a byte before shards": ("f8", np.nan, NAN_IN_A_BYTE, shards([4, 5], BYTES, "crc32c")),
    "packbits": ("u2", 7, [], codec("packbits", last_bit=11, padding_encoding="first_byte")),
    "packbits inside shards": ("u2", 7, [], shards([4, 5], codec("packbits", last_bit=11))),
    "transpose, packbits": (
        "u2", 7, [codec("transpose", order=[1, 0])], codec("packbits", last_bit=11),
    ),
    "reshape before shards": ("u2", 7, [codec("reshape", shape=[[0, 1]])], shards([20], BYTES)),
    "bitround before shards": ("f8", 1.5, [codec("bitround", keepbits=30)], shards([4, 5], BYTES)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_parts_and_missing_chunks(name: str, tmp_path: Path) -> None:
    dtype, fill, filters, serializer = CASES[name]
    array = zarr_core.create_array(
        tmp_path, shape=SHAPE, chunks=(8, 10), dtype=dtype, fill_value=fill,
        filters=filters, serializer=serializer, compressors=[],
    )  # fmt: skip
    expected = np.full(SHAPE, fill, dtype)
    rng = np.random.default_rng(0)
    for _ in range(12):
        rows, columns = (slice(*sorted(rng.integers(0, length + 1, 2))) for length in SHAPE)
        block = rng.integers(0, 250, expected[rows, columns].shape) * 10
        array[rows, columns] = expected[rows, columns] = block.astype(dtype)
        stored = zarr_core.open_array(tmp_path, mode="r")
        for got, wanted in (
            (stored[...], expected),
            (stored[::3, 5:20:2], expected[::3, 5:20:2]),
            (stored.oindex[[3, 1, 20], [2, 9]], expected[np.ix_([3, 1, 20], [2, 9])]),
            (stored.vindex[[3, 1, 20], [2, 9, 29]], expected[[3, 1, 20], [2, 9, 29]]),
        ):
            np.testing.assert_array_equal(got, wanted)
    again = pickle.loads(pickle.dumps(stored))
    np.testing.assert_array_equal(again[...], expected)
