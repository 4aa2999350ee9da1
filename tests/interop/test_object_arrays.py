"""Arrays and groups in a bucket, compared with NumPy."""

from uuid import uuid4

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import s3_options, s3_store
from zarr_core.errors import NodeNotFoundError

pytest_plugins = ["servers.fixtures"]
LAYOUTS = {
    "plain": {"chunks": (7, 5)},
    "raw": {"chunks": (7, 5), "compressors": None},
    "sharded": {"chunks": (5, 5), "shards": (20, 15)},
    "raw shards": {"chunks": (5, 5), "shards": (20, 15), "compressors": None},
    "large shards": {"chunks": (100, 150), "shards": (200, 300), "compressors": None},
    "v2": {"chunks": (7, 5), "zarr_format": 2},
    "n5": {"chunks": (7, 5), "zarr_format": "n5"},
}


@pytest.fixture
def store(s3_server):
    return s3_store(s3_server)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_are_read_and_written(store, layout):
    draw = np.random.default_rng(len(layout))
    large = layout.startswith("large")
    shape = (400, 500) if large else (40, 50)
    expected = draw.integers(0, 9, shape).astype("int32")
    options = dict(LAYOUTS[layout])
    array = zarr.create_array(store, shape=shape, dtype="int32", fill_value=0, **options)
    array[...] = expected
    again = zarr.open_array(store)
    for number in range(8):
        ranges = [np.sort(draw.integers(0, length + 1, 2)) for length in shape]
        part = tuple(slice(*map(int, pair), int(draw.integers(1, 4))) for pair in ranges)
        new = draw.integers(0, 9, expected[part].shape).astype("int32") * (number % 4 != 0)
        again[part] = expected[part] = new
        assert np.array_equal(array[part], expected[part])
        rows = draw.integers(0, shape[0], 5)
        assert np.array_equal(array.oindex[rows, part[1]], expected[rows, part[1]])
        columns = draw.integers(0, shape[1], 5)
        assert np.array_equal(array.vindex[rows, columns], expected[rows, columns])
    assert np.array_equal(array[...], expected)
    array[...] = 0
    assert [key for key in store.list() if "json" not in key and not key.startswith(".z")] == []


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_hierarchies_are_changed(s3_server, zarr_format):
    place = f"s3://{s3_server.bucket}/{uuid4()}"
    options = s3_options(s3_server)
    root = zarr.create_group(place, zarr_format=zarr_format, storage_options=options)
    array = root.create_array("a/b", data=np.arange(12.0).reshape(3, 4), chunks=(2, 2))
    array.append(np.ones((2, 4)))
    array.attrs["unit"] = "m"
    array.resize((4, 4))
    root.create_group("c").attrs["title"] = "of no use"
    memory = zarr.MemoryStore()
    zarr.copy_store(root.store, memory)
    zarr.copy_store(memory, s3_store(s3_server, place=f"{place}-copy"))
    del root["c"]
    zarr.consolidate_metadata(root)
    for url, members in ((place, ["a"]), (f"{place}-copy", ["a", "c"])):
        group = zarr.open_group(url, mode="r", storage_options=options)
        assert sorted(name for name, _ in group.members()) == members
        assert group["a/b"].attrs["unit"] == "m"
        assert np.array_equal(group["a/b"][3], np.ones(4))
        assert group["a/b"].shape == (4, 4)
    root["a"].store.erase_prefix("")
    with pytest.raises(NodeNotFoundError):
        zarr.open(place, storage_options=options)
