"""Chunks, their keys, the shards where they lie."""

from __future__ import annotations

import numpy as np
import pytest
from zarr_core.errors import StoreKeyError
from zarr_core.stores.memory import MemoryStore
from zarr_sharding.transformer.layout import ChunkPosition
from zarr_sharding.transformer.sharded_store import sharded


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
