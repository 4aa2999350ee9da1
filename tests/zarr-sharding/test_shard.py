"""Shards: grids of inner chunks, and bytes of other writers."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path

import numpy as np
import pytest
from zarr_core.extension import (
    BasicIndexer,
    BufferByteReader,
    ExtensionDefinition,
    create_extension,
)
from zarr_sharding.codec import ShardingCodec
from zarr_sharding.shard import inner_grid


@pytest.mark.parametrize(
    ("shape", "inner", "message"),
    [
        ((8,), (2, 2), "2 dimensions, but the shard has 1"),
        ((8, 9), (2, 2), "9 is not a multiple of 2 in dimension 1"),
        ((2**14, 2**14), (1, 1), "index of 4294967296 bytes"),
        ((2, 2), (4, 4), "2 is not a multiple of 4 in dimension 0"),
    ],
)
def test_invalid_grids_raise(shape, inner, message):
    with pytest.raises(ValueError, match=message):
        inner_grid(shape, inner)


@pytest.fixture
def shard(rep):
    return ShardingCodec((2, 3, 1))._shard(rep((4, 6, 2), "uint8"))


def test_numbers_count_in_c_order(shard):
    coordinates = shard.coordinates(range(shard.count))
    assert coordinates == [(a, b, c) for a in range(2) for b in range(2) for c in range(2)]
    assert shard.numbers(coordinates).tolist() == list(range(8))
    assert [shard.number(place) for place in coordinates] == list(range(8))
    assert shard.coordinates(range(3, 5)) == coordinates[3:5]


@pytest.mark.parametrize("order", ["C", "F"])
def test_blocks_are_views_whatever_the_strides(shard, order):
    array = np.zeros((8, 6, 4), np.uint8, order)[::-2, :, 1:3]
    blocks = shard.blocks(array)
    assert blocks.shape == (2, 2, 2, 2, 3, 1)
    blocks[1, 0, 1] = 7
    assert (array[2:, :3, 1:] == 7).all()
    assert array.sum() == 7 * 6


def test_threads_are_used_only_for_enough_work(rep):
    def parallel(inner, count):
        return ShardingCodec(inner)._shard(rep((1 << 20,), "uint8")).parallel(count)

    assert parallel((1 << 16,), 16) is True
    assert parallel((1 << 16,), 2) is False
    assert parallel((1 << 15,), 32) is None
    assert parallel((1 << 10,), 1024) is False


def test_cache_does_not_keep_its_key_alive(rep):
    codec = ShardingCodec((2,))
    decoded = rep((4,), "uint8")
    assert codec._shard(decoded) is codec._shard(decoded)
    gone = weakref.ref(decoded)
    del decoded
    gc.collect()
    assert gone() is None


DATA = Path(__file__).parent / "data"
CASES = json.loads((DATA / "cases.json").read_text())


def prepared(case, rep):
    fill = np.asarray(float("nan") if case["fill_value"] == "NaN" else case["fill_value"])
    codec = create_extension("codec", ExtensionDefinition.from_json(case["codec"]))
    decoded = rep(case["shape"], case["dtype"], fill.astype(case["dtype"]))
    values = (np.arange(decoded.size) % 100).reshape(decoded.shape).astype(case["dtype"])
    values[tuple(slice(n) for n in codec.chunk_shape)] = decoded.fill_value
    return codec, decoded, values


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_shards_of_others_are_decoded_and_changed(case, rep):
    codec, decoded, values = prepared(case, rep)
    data = (DATA / f"{case['name']}.bin").read_bytes()
    np.testing.assert_array_equal(codec.decode(data, decoded), values)
    # ... and in parts, among them the empty inner chunk.
    for axis in range(values.ndim):
        index = tuple(
            slice(1, n - 1, 1) if it == axis else slice(0, n, 1)
            for it, n in enumerate(values.shape)
        )
        out = np.zeros_like(values[index])
        codec.partial_decode(BufferByteReader(data), decoded, BasicIndexer(index), out)
        np.testing.assert_array_equal(out, values[index])
    # A change keeps the rest.
    corner = tuple(slice(n - 1, n, 1) for n in values.shape)
    new = np.full(values[corner].shape, 42, values.dtype)
    changed = b"".join(
        codec.partial_encode(BufferByteReader(data), decoded, BasicIndexer(corner), new)
    )
    values[corner] = 42
    np.testing.assert_array_equal(codec.decode(changed, decoded), values)
