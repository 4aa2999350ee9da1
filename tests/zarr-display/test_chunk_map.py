"""Chunk maps: numbers and text."""

import json
import xml.etree.ElementTree
from itertools import product

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import StoreCapabilityError
from zarr_display.chunk_map import chunk_map

RANDOM = np.random.default_rng(7)


def noise(*shape):
    return RANDOM.integers(-(2**31), 2**31 - 1, shape, np.int32)


@st.composite
def arrays(draw):
    """Arrays of one to three dimensions, with shards or without, of which a part is stored."""
    shape = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    chunks = [draw(st.integers(1, 3)) for _ in shape]
    shards = [draw(st.integers(1, 3)) * it for it in chunks] if draw(st.booleans()) else None
    array = zarr.create_array(
        shape=shape, chunks=chunks, shards=shards, dtype="int32", compressors=["crc32c"]
    )
    for _ in range(draw(st.integers(0, 2))):
        array[tuple(slice(draw(st.integers(0, 8)), None) for _ in shape)] = 1
    return array


@settings(max_examples=30)
@given(arrays(), st.integers(1, 4))
def test_cells_sum_stored_chunks(array, cells):
    shown = chunk_map(array, cells=cells)
    whole = array[...]
    counts = [-(-n // c) for n, c in zip(array.shape, array.chunks, strict=True)]
    stored = np.zeros(counts, int)  # only chunks that hold something are
    for at in product(*map(range, counts)):
        box = (slice(i * c, (i + 1) * c) for i, c in zip(at, array.chunks, strict=True))
        stored[at] = whole[tuple(box)].any()
    if stored.ndim == 3:
        stored = stored.sum(axis=0)
    for axis, each in enumerate(shown.per_cell):
        stored = np.add.reduceat(stored, range(0, stored.shape[axis], each), axis=axis)
    np.testing.assert_array_equal(shown.stored, stored)
    assert shown.chunks.sum() == array.nchunks
    nbytes = np.prod(array.chunks) * 4 + 4
    np.testing.assert_array_equal(shown.nbytes, stored * nbytes)
    assert not shown.incompressible.any()  # a checksum is not meant to make anything smaller
    assert max(shown.chunks.shape) <= max(cells, 1)


@pytest.fixture
def three():
    """Stored at one time only: noise at one corner, the same number elsewhere."""
    array = zarr.create_array(
        shape=(3, 8, 12), chunks=(1, 2, 3), dtype="int32", compressors=["zstd"],
        dimension_names=["t", "y", "x"], path="a/b",
    )  # fmt: skip
    array[1] = 7
    array[1, :2, :3] = noise(2, 3)
    array[1, 6:] = 0
    return array


def test_choose_dimensions(three):
    assert chunk_map(three).others == "summed over t"
    shown = chunk_map(three, at={"t": -2})
    assert (shown.dims, shown.others, shown.shape) == (("y", "x"), "t = 1", (4, 4))
    assert shown.stored.tolist() == [[1] * 4] * 3 + [[0] * 4]
    assert chunk_map(three, at={0: 0}).stored.sum() == 0
    assert chunk_map(three, dims=("x", "t")).stored.tolist() == [[0, 3, 0]] * 4
    assert chunk_map(three, dims="t").stored.tolist() == [0, 12, 0]
    assert chunk_map(three, dims=()).stored == 12
    assert chunk_map(three, dims=["y"], at={"x": 11, "t": 1}).stored.tolist() == [1, 1, 1, 0]
    for wrong in (
        {"dims": "z"},
        {"dims": [3]},
        {"dims": [0, 1, 2]},
        {"dims": [0, -3]},
        {"at": {"t": 3}},
        {"dims": "t", "at": {"t": 0}},
        {"cells": 0},
    ):
        with pytest.raises(ValueError, match=r"dim|cells"):
            chunk_map(three, **wrong)


def test_incompressible_chunks(three):
    shown = chunk_map(three, at={"t": 1})
    assert np.argwhere(shown.incompressible).tolist() == [[0, 0]]
    assert shown.ratios[0, 0] < 1 < shown.ratios[0, 1]
    assert np.isnan(shown.ratios[3]).all()
    assert shown.nbytes.sum() == three.nbytes_stored()
    document = json.loads(json.dumps(shown.to_dict()))
    assert (document["total"], document["total_stored"]) == (16, 12)
    assert document["total_incompressible"] == 1
    assert document["nbytes"][3] == [0] * 4


def test_text(three):
    lines = repr(chunk_map(three, at={"t": 1})).splitlines()
    assert lines[0].startswith("/a/b: 12 of 16 chunks stored, ")
    assert lines[1] == "rows: y (4 chunks), columns: x (4 chunks), t = 1"
    assert lines[3][0] == "!"
    assert lines[3][1:] in ("▆▆▆", "▅▅▅", "▇▇▇", "▄▄▄")
    assert lines[6] == "····"
    assert lines[8].startswith("· not stored  ! not smaller than in memory  ▁ to █ up to ")
    assert "░" in repr(chunk_map(three, cells=2))
    assert "2 x 2 chunks per cell" in repr(chunk_map(three, cells=2))
    assert repr(chunk_map(zarr.create_array(shape=(0, 3)))).splitlines()[3] == "(no chunks)"
    scalar = chunk_map(zarr.create_array(data=np.int8(3), compressors=None))
    assert repr(scalar).splitlines() == [
        "/: 1 of 1 chunk stored, 1 B, ratio 1.0", "", "█", "", "▁ to █ up to 1 B per chunk",
    ]  # fmt: skip


@pytest.mark.parametrize("sharded", [False, True])
def test_no_chunk_is_read(sharded):
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(
        store, shape=(32, 32), chunks=4, shards=8 if sharded else None, dtype="int32"
    )
    array[:16] = noise(16, 32)
    store.calls.clear()
    assert chunk_map(array).stored.sum() == 32
    if sharded:
        assert (store.count("getsize"), store.count("open_value")) == (0, 16)
        assert store.nbytes() <= 16 * (4 * 16 + 4)
    else:
        assert store.count("list_prefix") == 1
        assert store.count("getsize") == store.count() - 1 == 33  # one of them of the document
        store.calls.clear()
        assert chunk_map(array, at={0: 3}).stored.tolist() == [1] * 8
        assert store.count("getsize") == store.count() == 8  # so few are not listed
    store.calls.clear()
    assert chunk_map(array, sizes=False, inner=False).nbytes is None
    assert store.count("getsize", "get", "open_value") == 0


def test_sizes_from_listings():
    inner = zarr.MemoryStore()
    zarr.create_array(inner, data=noise(32, 32), chunks=4)

    class Listing(CountingStore):
        def list_sizes(self, prefix):
            self.note("list_sizes", prefix)
            return self.inner.list_sizes(prefix)

    store = Listing(inner)
    array = zarr.open_array(store)
    store.calls.clear()
    assert chunk_map(array).nbytes.sum() == array.nbytes_stored()
    assert array.info_complete()["Size stored"].endswith(f"({array.nbytes_stored():,} B)")
    assert store.count() == store.count("list_sizes") == 4


def test_shards_without_inner_chunks():
    array = zarr.create_array(shape=(8, 8), chunks=2, shards=4, dtype="int32", compressors="zstd")
    array[:4, 4:] = noise(4, 4)
    shown = chunk_map(array, inner=False)
    assert (shown.unit, shown.shape) == ("shard", (2, 2))
    assert shown.nbytes.tolist() == [[0, array.nbytes_stored()], [0, 0]]
    assert shown.incompressible.tolist() == [[0, 1], [0, 0]]
    inner = chunk_map(array)
    assert inner.unit == "chunk"
    assert inner.nbytes[:2, 2:].sum() == array.nbytes_stored() - (4 * 16 + 4)


def test_only_required_shards_are_read():
    array = zarr.create_array(shape=(4, 7), chunks=(1, 2), shards=(2, 4), dtype="int8")
    array[0] = 1
    array[1, :2] = 1
    array[3, 6] = 1
    found = [chunk_map(array, at={0: number}).stored.tolist() for number in range(4)]
    assert found == [[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    assert chunk_map(array, at={1: 6}).stored.tolist() == [1, 0, 0, 1]


def test_damaged_shards():
    array = zarr.create_array(shape=80, chunks=2, shards=4, dtype="int32")
    array[:] = 1
    array.store.set("c/1", array.store.get("c/1")[:-1] + b"?")
    shown = chunk_map(array)
    assert shown.stored.tolist() == [1, 1, 0, 0] + [1] * 36
    assert "c/1" in shown.problems[0]
    assert "c/1" in repr(shown)


def test_limits():
    array = zarr.create_array(shape=100, chunks=1, dtype="int8")
    array[:] = 1
    shown = chunk_map(array, most=40)
    assert not shown.complete
    assert shown.stored.sum() == 40
    assert "incomplete" in repr(shown)
    assert chunk_map(array, most=100).complete
    with pytest.raises(ValueError, match="is too large"):
        chunk_map(zarr.create_array(shape=2**40, chunks=1), cells=2**40)
    with pytest.raises(ValueError, match="select an index"):
        chunk_map(zarr.create_array(shape=(2**40, 2**40), chunks=1))


def test_stores_without_listing():
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(store, shape=100, chunks=1, dtype="int8")
    array[50] = 1
    store.supports_listing = False
    store.calls.clear()
    assert np.flatnonzero(chunk_map(array, cells=100).stored) == [50]
    assert store.count() == store.count("getsize") == 100
    with pytest.raises(StoreCapabilityError, match="most=100"):
        chunk_map(array, most=99)


def test_html_is_the_text(three):
    three = zarr.create_array(three.store, path="<script>", data=three[...], chunks=(1, 2, 3))
    shown = chunk_map(three)
    html = shown._repr_html_()
    assert "<script" not in html
    assert "".join(xml.etree.ElementTree.fromstring(html).itertext()) == repr(shown)
