"""Metadata that is compared with the store before it is used."""

import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.errors import NodeNotFoundError, NodeTypeError, StoreReadOnlyError
from zarr_stores.cache.lru_cache import LRUCacheStore
from zarr_stores.cache.recheck import recheck
from zarr_stores.databases.dbm import DBMStore
from zarr_stores.databases.lmdb import LMDBStore
from zarr_stores.databases.sqlite import SQLiteStore

FORMATS = [2, 3, "n5"]


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_the_shape_and_the_attributes_of_another_writer_are_seen(tmp_path, zarr_format):
    writer = zarr.create_array(
        tmp_path / "a", shape=(4, 6), chunks=(2, 3), dtype="int32", zarr_format=zarr_format
    )
    once = zarr.open_array(tmp_path / "a")
    always = recheck(zarr.open_array(tmp_path / "a"))
    writer.append(np.full((3, 6), 7, "int32"))
    writer.attrs["step"] = 7
    assert (once.shape, dict(once.attrs)) == ((4, 6), {})
    assert always[6].tolist() == [7] * 6
    assert (always.shape, dict(always.attrs)) == ((7, 6), {"step": 7})
    writer.resize(2, 6)
    assert always[...].shape == (2, 6)
    always[1:] = 5
    assert writer[1].tolist() == [5] * 6


STORES = {
    "directory": zarr.LocalStore,
    "sqlite": SQLiteStore,
    "lmdb": LMDBStore,
    "dbm": DBMStore,
    "memory": lambda path: zarr.MemoryStore(),
    "cached": lambda path: LRUCacheStore(zarr.LocalStore(path), 10**6),
}
"""Some of their updates hold locks or transactions."""


@pytest.mark.parametrize("name", STORES)
def test_an_array_is_changed_and_followed(tmp_path, name):
    with STORES[name](tmp_path / "store") as store:
        writer = zarr.create_array(store, data=np.arange(4), chunks=2)
        always = recheck(zarr.open(store))
        always.append(np.arange(4, 6))
        always.attrs["by"] = "always"
        assert always[...].tolist() == [*range(6)]
        writer.refresh()
        assert (writer.shape, dict(writer.attrs)) == ((6,), {"by": "always"})
        writer.append([6])
        writer.attrs["by"] = "writer"
        assert always[...].tolist() == [*range(7)]
        assert dict(always.attrs) == {"by": "writer"}
        always.resize(2, only="shrink")
        always.refresh()
        writer.refresh()
        assert writer.shape == always.shape == (2,)


@pytest.mark.parametrize("kind", ["integers", "fields"])
def test_a_read_compares_once_and_reads_the_document_only_after_a_change(tmp_path, kind):
    store = CountingStore(zarr.LocalStore(tmp_path))
    dtype = "int32" if kind == "integers" else np.dtype([("x", "i4"), ("y", "f4")])
    writer = zarr.create_array(store, shape=4, dtype=dtype, zarr_format=2)
    always = recheck(zarr.open(store))
    assert len(always[...]) == 4  # reads the documents once after opening
    store.calls.clear()
    assert always[1] is not None
    assert store.keys("generation").count(".zarray") == 1
    assert store.keys("get", "get_limited").count(".zarray") == 0
    writer.resize(6)
    store.calls.clear()
    assert len(always["y" if kind == "fields" else ...]) == 6
    assert store.keys("get", "get_limited").count(".zarray") == 1


def test_seconds_limit_the_age_of_metadata(tmp_path):
    writer = zarr.create_array(tmp_path / "a", shape=4)
    hour = recheck(zarr.open(tmp_path / "a"), 3600)
    soon = recheck(zarr.open(tmp_path / "a"), 0.05)
    writer.resize(9)
    assert hour.shape == (4,)
    time.sleep(0.06)
    assert soon.shape == (9,)


def test_own_changes_are_visible_at_once(tmp_path):
    zarr.create_array(tmp_path / "a", shape=4)
    hour = recheck(zarr.open(tmp_path / "a"), 3600)
    hour.resize(9)
    assert hour.shape == (9,)


def test_members_of_a_group_are_rechecked_too(tmp_path):
    writer = zarr.create_group(tmp_path / "g")
    array = writer.create_array("below/a", shape=4)
    group = recheck(zarr.open_group(tmp_path / "g"))
    found = group["below"]["a"]
    (_, listed), *_ = group["below"].members()
    array.resize(7)
    writer.attrs["n"] = 1
    assert (found.shape, listed.shape, dict(group.attrs)) == ((7,), (7,), {"n": 1})


def test_new_members_of_a_group_are_rechecked_too(tmp_path):
    zarr.create_group(tmp_path / "g")
    group = recheck(zarr.open_group(tmp_path / "g"))
    below = group.create_group("below")
    created = [
        below.create_array("a", shape=4),
        below.create_array("b", shape=4),
        below.zeros("c", shape=4),
        group.require_group("below").require_array("d", shape=4),
    ]
    for array in zarr.open(tmp_path / "g/below").values():
        array.resize(7)
    assert [array.shape for array in created] == [(7,)] * 4


def test_consolidated_metadata_of_another_writer_is_seen(tmp_path):
    writer = zarr.create_group(tmp_path / "g")
    writer.create_array("a", shape=4)
    zarr.consolidate_metadata(tmp_path / "g")
    group = recheck(zarr.open_group(tmp_path / "g", "r"))
    zarr.open_consolidated(tmp_path / "g", "r+").create_array("b", shape=2)
    assert list(group) == ["a", "b"]


def test_created_arrays_can_be_rechecked(tmp_path):
    array = recheck(zarr.create_array(tmp_path / "a", shape=4))
    opened = recheck(zarr.open(tmp_path / "b", "w", shape=4))
    for name, created in (("a", array), ("b", opened)):
        zarr.open(tmp_path / name).resize(6)
        assert created.shape == (6,)


def test_it_is_equal_to_the_array_and_can_be_pickled(tmp_path):
    plain = zarr.create_array(tmp_path / "a", shape=4)
    hour = recheck(zarr.open(tmp_path / "a", "r"), 3600)
    assert hour == plain
    assert plain == hour
    assert hash(plain) == hash(hour)
    assert hour != zarr.create_array(tmp_path / "b", shape=4)
    pickled = pickle.dumps(hour)
    plain.resize(8)
    other = pickle.loads(pickled)
    assert (other.shape, hour.shape, other.read_only) == ((8,), (4,), True)
    with pytest.raises(StoreReadOnlyError):
        other[...] = 1
    group = recheck(zarr.open_group(zarr.create_group(tmp_path / "g").store))
    assert pickle.loads(pickle.dumps(group)) == group == zarr.open(tmp_path / "g")


def test_a_removed_or_replaced_node_is_an_error(tmp_path):
    zarr.create_array(tmp_path / "a", shape=4)
    always = recheck(zarr.open(tmp_path / "a"))
    zarr.create_group(tmp_path / "a", overwrite=True)
    with pytest.raises(NodeTypeError, match="other type"):
        always[...]
    zarr.remove(tmp_path / "a")
    with pytest.raises(NodeNotFoundError, match="has been removed"):
        always[...]


@pytest.mark.parametrize("when", ["sometimes", "open", -1, True, float("nan"), {"data": 60}])
def test_other_values_are_rejected(tmp_path, when):
    array = zarr.create_array(tmp_path / "a", shape=4)
    with pytest.raises(ValueError, match='when must be "always" or a number'):
        recheck(array, when)


@pytest.mark.parametrize(
    "other", [np.array([1, 2]), np.float32(1), 1, 2.5, True, [1, 2]], ids=lambda it: repr(it)
)
def test_comparing_an_array_with_elements_is_an_error(other):
    array = recheck(zarr.create_array({}, data=np.array([1, 2], "u1")))
    for compare in (array.__eq__, array.__ne__):
        with pytest.raises(TypeError, match=r"array\[\.\.\.\] == other"):
            compare(other)
    assert array == array
    assert array not in [None, "x", zarr.array([1, 2])]
    assert {array: 1}[array] == 1


def test_threads_share_one_object(tmp_path):
    writer = zarr.create_array(tmp_path / "a", shape=0, chunks=16, dtype="int64")
    always = recheck(zarr.open(tmp_path / "a"))

    def read(_):
        seen = 0
        for _ in range(40):
            values = always[...]
            assert values.tolist() == list(range(len(values)))
            assert len(values) >= seen
            seen = len(values)

    with ThreadPoolExecutor(4) as threads:
        readers = [threads.submit(read, number) for number in range(3)]
        for number in range(60):
            writer.append([number])
        for reader in readers:
            reader.result()
    assert always.shape == (60,)


def test_comparing_arrays_that_recheck_sends_no_request(tmp_path):
    zarr.create_group(tmp_path / "g").create_array("a", shape=3)
    store = CountingStore(zarr.LocalStore(tmp_path / "g"))
    arrays = [recheck(zarr.open_array(store, path="a")) for _ in range(2)]
    groups = [recheck(zarr.open_group(store)) for _ in range(2)]
    once = zarr.open_array(store, path="a")
    store.calls.clear()
    assert arrays[0] == arrays[1] == once
    assert groups[0] == groups[1]
    assert arrays[0] != groups[0]
    assert store.calls == []
