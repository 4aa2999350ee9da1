"""Arrays of version 1 through the public functions."""

import json

import numpy as np
import pytest
import zarr_core
from zarr_core.errors import (
    MetadataDecodeError,
    MetadataError,
    NodeNotFoundError,
)
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore

VALUES = np.arange(35, dtype="<i2").reshape(7, 5)
META = {
    "zarr_format": 1,
    "shape": [4],
    "chunks": [2],
    "dtype": "<i2",
    "compression": "none",
    "compression_opts": None,
    "fill_value": 7,
    "order": "C",
}


@pytest.fixture(params=["memory", "local"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else LocalStore(tmp_path / "store")


def make(store, name="", **options):
    options = {"data": VALUES, "chunks": (3, 2), "zarr_format": 1, **options}
    return zarr_core.create_array(store, path=name, **options)


def content(store, key):
    return json.loads(bytes(store.get(key)))


@pytest.mark.parametrize("path", ["", "a", "a/b"])
def test_an_array_is_created_and_filled(store, path):
    prefix = f"{path}/" if path else ""
    array = make(store, path, attributes={"unit": "m"}, fill_value=9)
    assert content(store, f"{prefix}meta") == {
        "zarr_format": 1,
        "shape": [7, 5],
        "chunks": [3, 2],
        "dtype": "<i2",
        "compression": "blosc",
        "compression_opts": {"cname": "lz4", "clevel": 5, "shuffle": 1},
        "fill_value": 9,
        "order": "C",
    }
    assert content(store, f"{prefix}attrs") == {"unit": "m"}
    assert store.exists(f"{prefix}2.0")
    array.resize(4, 9)
    expected = np.full((4, 9), 9, "i2")
    expected[:, :5] = VALUES[:4]
    assert np.array_equal(zarr_core.open(store, path=path)[...], expected)


def test_a_change_writes_only_what_changed(store):
    store.set("meta", json.dumps(META, indent=1).encode())
    array = zarr_core.open(store)
    array.attrs["a"] = 1
    assert store.get("meta") == json.dumps(META, indent=1).encode()
    store.set("attrs", b'{"a":   1}')
    array.resize(6)
    assert store.get("attrs") == b'{"a":   1}'
    assert content(store, "meta") == META | {"shape": [6]}


def test_nothing_says_what_is_undefined(store):
    store.set("meta", json.dumps(META | {"fill_value": None}).encode())
    array = zarr_core.open(store)
    assert array.fill_value is None
    assert array[...].tolist() == [0, 0, 0, 0]
    array[:2] = 0
    assert store.exists("0")  # other types could have any value


def test_groups_are_not_supported(store):
    make(store, "a/b")
    for path in ("", "a"):
        with pytest.raises(NodeNotFoundError):
            zarr_core.open(store, path=path)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff\xfe", b"not JSON", b"{", b"[]", b"3", b"{}", b'{"zarr_format": 2}',
        b'{"zarr_format": 3, "node_type": "group"}', b'{"zarr_format": "1"}',
        b'{"zarr_format": true}', b'{"author": "me"}', b"key: value\n",
    ],
)  # fmt: skip
def test_a_meta_of_others_is_not_ours(store, data):
    store.set("meta", data)
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store)
    store.set("zarr.json", b'{"zarr_format": 3, "node_type": "group"}')
    assert isinstance(zarr_core.open(store), zarr_core.Group)


def test_a_meta_that_is_far_too_large_is_not_ours(store):
    store.set("meta", json.dumps(META).encode() + b" " * (1 << 24))
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store)


def test_keys_below_meta_are_not_ours(store):
    store.set("meta/root.array.json", b"{}")
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store, zarr_format=1)


def test_a_damaged_meta_is_reported(store):
    data = json.dumps(META).encode()
    for cut in (20, len(data) - 1):
        store.set("meta", data[:cut])
        with pytest.raises(MetadataDecodeError):
            zarr_core.open(store, zarr_format=1)
    store.set("meta", data)
    for attributes in (b"", b"{", b"[]", b"1"):
        store.set("attrs", attributes)
        with pytest.raises(MetadataError):
            zarr_core.open(store)
