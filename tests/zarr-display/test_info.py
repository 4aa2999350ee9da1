"""The properties of nodes as tables."""

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore


def test_the_table_of_an_array_never_touches_the_store():
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(
        store, path="x", shape=(4, 6), chunks=(2, 3), dtype="int16", dimension_names=["a", None]
    )
    store.calls.clear()
    info = array.info
    assert info["Shape"] == "4 x 6"
    assert info["Dimension names"] == "a, None"
    assert info["Data type"] == "int16"
    assert info["Size"] == "48 B"
    assert "Shard shape" not in info
    assert len(info) == len(list(info)) == len(info.to_dict())
    assert dict(info) == info.to_dict() == info
    lines = repr(info).splitlines()
    assert lines[0].split(" : ") == ["Name" + " " * (len(lines[0].split(" : ")[0]) - 4), "/x"]
    assert len({line.index(" : ") for line in lines}) == 1
    assert not store.calls
    info.to_dict().clear()
    assert len(info) > 5


def test_whether_damage_is_noticed():
    def noticed(**options):
        return zarr.create_array(shape=4, chunks=2, **options).info["Damage detected"]

    assert noticed(compressors="crc32c") == "yes"
    assert noticed(compressors=None) == "not in every case"
    assert noticed(compressors="crc32c", shards=4) == "yes"


@pytest.mark.parametrize("shards", [None, (4, 4)])
def test_stored_bytes(shards):
    array = zarr.create_array(
        shape=(10, 6), chunks=(2, 2), shards=shards, dtype="int32", compressors=None
    )
    what = "Shards" if shards else "Chunks"
    total = 6 if shards else 15
    info = array.info_complete()
    assert info[f"{what} stored"] == f"0 of {total}"
    assert info["Size stored"] == "0 B"
    assert "Storage ratio" not in info
    array[8:, 4:] = 1  # the last chunk, in a shard that extends beyond the array
    info = array.info_complete()
    assert info[f"{what} stored"] == f"1 of {total}"
    stored = array.nbytes_stored()
    assert info["Size stored"] == f"{stored} B"
    assert info["Storage ratio"] == f"{16 / stored:.1f}"
    array[...] = 1
    assert array.info_complete()[f"{what} stored"] == f"{total} of {total}"


def test_sizes_are_readable():
    array = zarr.create_array(shape=2**52, chunks=2**20, dtype="float64")
    assert array.info["Size"] == "32.0 PiB (36,028,797,018,963,968 B)"
    array.resize(2**58)
    assert array.info["Size"].startswith("2048.0 PiB")
    array.resize(200)
    assert array.info["Size"] == "1.6 KiB (1,600 B)"
    assert zarr.create_array(shape=()).info["Shape"] == "() (one element)"


def test_the_table_of_a_group():
    store = CountingStore(zarr.MemoryStore())
    group = zarr.create_group(store, attributes={"a": 1})
    group.create_array("b/c", data=np.zeros(2))
    group.create_array("d", shape=1)
    store.calls.clear()
    info = group.info
    assert (info["Type"], info["Attributes"], info["Consolidated metadata"]) == ("Group", "1", "no")
    assert not store.calls
    complete = group.info_complete()
    assert (complete["Arrays"], complete["Groups"], complete["Members at any depth"]) == (
        "1", "1", "3",
    )  # fmt: skip
    zarr.consolidate_metadata(store)
    assert zarr.open(store).info["Consolidated metadata"] == "yes"
    assert repr(type(info)([])) == ""
