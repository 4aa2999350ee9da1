"""Keys that belong to a node of version 2 or 3, and unmanaged keys."""

import json

import pytest
from zarr_core import MemoryStore
from zarr_core.formats.v3 import V3

GROUP = b'{"zarr_format": 3, "node_type": "group"}'
ARRAY = json.dumps(
    {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [1],
        "data_type": "int8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
        "chunk_key_encoding": "default",
        "fill_value": 0,
        "codecs": ["bytes"],
    }
).encode()
NODES = {
    "zarr.json": GROUP,
    ".zgroup": b"",
    ".zmetadata": b"",
    "a/zarr.json": ARRAY,
    "a/c/0": b"",
    "a/c/7": b"",
    "a/.DS_Store": b"",
    "b/.zarray": b"",
    "b/.zattrs": b"",
    "b/0": b"",
    "b/12.0.3": b"",
    "b/12/0/3": b"",
    "c/damaged/zarr.json": b"",
    "c/c/0/0": b"",
    "c/c.0.0": b"",
}


def found(*keys, path=""):
    return V3().find_unmanaged_key(MemoryStore(NODES | dict.fromkeys(keys, b"")), path)


def test_parts_of_nodes():
    assert found() is None


@pytest.mark.parametrize(
    "key",
    [
        "notes.txt",
        "a/notes.txt",
        "a/sub/0.csv",
        "0.0",
        "b/0.x",
        "b/0./1",
        "b/0.1/2",
        "b/.zarray.bak",
        "b/notes",
        "b/0/.hidden",
        "bb/0.0",
        "b/\u0660",
    ],
)
def test_keys_of_something_else(key):
    assert found(key) == key
    assert found(key, path="a") == (key if key.startswith("a/") else None)


def test_only_below_the_prefix():
    assert found("x/y", path="b") is None
    assert found("b/y", path="b") == "b/y"
