"""Shards: bytes of other writers, layouts and chunk names."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from zarr_core.errors import StoreKeyError
from zarr_core.extension import (
    BasicIndexer,
    BufferByteReader,
    ExtensionDefinition,
    create_extension,
)
from zarr_core.stores.memory import MemoryStore
from zarr_sharding.codec import ShardingCodec
from zarr_sharding.shard import inner_grid
from zarr_sharding.transformer.chunk_names import KeyFormat, parse_name, parse_prefix
from zarr_sharding.transformer.layout import ChunkPosition
from zarr_sharding.transformer.sharded_store import sharded


def test_grid():
    assert inner_grid((8, 9), (2, 3)) == (4, 3)
    assert inner_grid((), ()) == ()


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
def test_decodes(case, rep):
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_changes_and_keeps_the_rest(case, rep):
    codec, decoded, values = prepared(case, rep)
    data = (DATA / f"{case['name']}.bin").read_bytes()
    corner = tuple(slice(n - 1, n, 1) for n in values.shape)
    new = np.full(values[corner].shape, 42, values.dtype)
    changed = b"".join(
        codec.partial_encode(BufferByteReader(data), decoded, BasicIndexer(corner), new)
    )
    values[corner] = 42
    np.testing.assert_array_equal(codec.decode(changed, decoded), values)


def layout(prefix, *counts):
    return sharded(MemoryStore(), prefix, counts).layout


def test_the_example_of_the_text():
    it = layout("data/root/foo/baz/", 32, 2)
    for chunk in ("96/18", "96/19", "97/18", "127/19"):
        place = it.locate(f"data/root/foo/baz/c{chunk}")
        assert place is not None
        assert place.shard == "data/root/foo/baz/c3/9"
    assert it.locate("data/root/foo/baz/c96/18") == ChunkPosition("data/root/foo/baz/c3/9", 0)
    assert it.locate("data/root/foo/baz/c96/19") == ChunkPosition("data/root/foo/baz/c3/9", 1)
    assert it.locate("data/root/foo/baz/c127/19") == ChunkPosition("data/root/foo/baz/c3/9", 63)
    assert it.index.size == 16 * 64


@pytest.mark.parametrize(
    ("chunk", "shard"),
    [("c5/7", "c2/2"), ("c5.7", "c2.2"), ("c/5/7", "c/2/2"), ("5.7", "2.2"), ("5/7", "2/2")],
)
def test_a_shard_is_named_as_its_chunks_are(chunk, shard):
    assert layout("", 2, 3).locate(chunk) == ChunkPosition(shard, 4)


def test_other_keys_have_no_position():
    it = layout("data/foo/", 2, 2)
    for key in ("data/foo", "data/food/c0/0", "data/c0/0", "c0/0", "data/foo/c0", "data/foo/x"):
        assert it.locate(key) is None


@pytest.mark.parametrize("key", ["c", "c0", "0"])
def test_without_dimensions(key):
    it = layout("a/")
    assert it.locate(f"a/{key}") == ChunkPosition(f"a/{key}", 0)
    assert it.keys(f"a/{key}", np.array([0])) == [f"a/{key}"]


def test_keys_of_a_shard():
    it = layout("a/", 2, 3)
    assert it.keys("a/c1/2", np.array([0, 4, 5])) == ["a/c2/6", "a/c3/7", "a/c3/8"]
    assert it.keys("a/c1/2", np.array([0, 4, 5]), [3]) == ["a/c3/7", "a/c3/8"]
    assert it.keys("a/c1/2", np.array([0, 4, 5]), [4]) == []
    assert it.keys(f"a/c{10**18}/0", np.array([0])) == [f"a/c{2 * 10**18}/0"]


def test_partial_prefixes():
    it = layout("a/", 2, 3, 4)
    corner = it.partial_prefix("a/c5/7/")
    assert corner is not None
    assert (corner.numbers, corner.shards) == ([5, 7], "a/c2/2/")
    for prefix in ("", "a/", "b/c5/", "a/c/", "a/c5/7/1/", "a/x/"):
        assert it.partial_prefix(prefix) is None


def test_prefixes_of_all_chunks_that_a_shard_can_have():
    it = layout("a/", 2, 3, 4)
    assert it.prefixes("a/c2/") == ["a/c4/", "a/c5/"]
    assert it.prefixes("a/c2/1/", [5]) == ["a/c5/3/", "a/c5/4/", "a/c5/5/"]
    assert it.prefixes("a/x/") is None
    assert layout("", 3, 1).prefixes("c/1/") == ["c/3/", "c/4/", "c/5/"]


def test_invalid_prefix():
    with pytest.raises(StoreKeyError):
        layout("a", 1)


FORMS = [KeyFormat(before, between) for before in ("", "c") for between in ("/", ".")]
FORMS += [KeyFormat("c/", "/"), KeyFormat("c.", ".")]
NUMBERS = st.integers(0, 10**19 - 1)


@given(st.sampled_from(FORMS), st.lists(NUMBERS, min_size=2, max_size=5))
def test_name_round_trip(form, numbers):
    assert parse_name(form.name(numbers), len(numbers)) == (form, numbers)
    for ndim in {0, 1, len(numbers) - 1, len(numbers) + 1} - {len(numbers)}:
        assert parse_name(form.name(numbers), ndim) is None


@given(st.sampled_from(FORMS), NUMBERS)
def test_one_number_needs_no_separator(form, number):
    found = parse_name(form.name([number]), 1)
    assert found is not None
    assert (found[0].leading, found[1]) == (form.leading, [number])


@given(st.sampled_from(FORMS), st.lists(NUMBERS, min_size=1, max_size=4))
def test_prefix_round_trip(form, numbers):
    prefix = form.prefix(numbers)
    expected = (form, numbers) if form.separator == "/" else None
    if prefix.endswith("/"):
        assert parse_prefix(prefix, len(numbers) + 1) == expected
        assert parse_prefix(prefix, len(numbers)) is None


@pytest.mark.parametrize("name", ["c", "c0", "0"])
def test_names_without_dimensions(name):
    assert parse_name(name, 0) == (KeyFormat(name, ""), [])


@pytest.mark.parametrize(
    ("name", "ndim"),
    [
        ("", 0), ("", 1), ("c", 1), ("c/", 1), ("c1", 0), ("zarr.json", 1), ("zarr.json", 2),
        ("c00", 1), ("c/01/0", 2), ("-1", 1), ("c+1", 1), ("c 1", 1), ("1_0", 1), ("c\u0661", 1),
        ("c0/0/", 2), ("c/0.0", 2), ("c.0/0", 2), ("c//0", 2), ("d0/0", 2), ("C0/0", 2),
        ("c0\n", 1), ("1" + "0" * 19, 1), ("c0/0.0", 3), ("cc0", 1),
    ],
)  # fmt: skip
def test_other_names(name, ndim):
    assert parse_name(name, ndim) is None


@pytest.mark.parametrize("prefix", ["c/", "c./", "c.0/", "c0.0/", "x/", "c0/x/", "00/", "c0//"])
def test_other_prefixes(prefix):
    assert parse_prefix(prefix, 3) is None
