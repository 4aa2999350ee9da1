"""Damaged or malicious hierarchies of the drafts: an error of this library, immediately, without writing."""

import copy
import json

import pytest
import zarr_core as zarr
from draft_stores import DIALECT, SPEC, TEXT
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import (
    ChunkDecodeError,
    CodecError,
    ExtensionError,
    MetadataError,
    NodeNameError,
    NodeNotFoundError,
    UnknownExtensionError,
    ZarrError,
)
from zarr_core.stores.memory import MemoryStore

UNKNOWN = "http://example.org/zarr/unknown"
SHARDING = {
    "extension": f"{SPEC}extensions/storage_transformers/sharding/1.0",
    "type": "indexed",
    "configuration": {"chunks_per_shard": [2, 2]},
}
ARRAY = {
    "shape": [8, 8],
    "data_type": "int32",
    "chunk_grid": {"type": "regular", "chunk_shape": [4, 4], "separator": "/"},
    "chunk_memory_layout": "C",
    "codecs": [{"type": f"{SPEC}codecs/gzip/1.0", "configuration": {"level": 1}}],
    "fill_value": 0,
    "extensions": [],
    "attributes": {"a": 1},
    "storage_transformers": [SHARDING],
}
OLD = {
    **{name: value for name, value in ARRAY.items() if name != "codecs"},
    "data_type": "<i4",
    "compressor": {"codec": f"{SPEC}codec/gzip/1.0", "configuration": {"level": 1}},
    "attributes": {"filters": [{"id": "delta", "dtype": "<i4"}]},
}
KEYS = {"draft": "meta/a.array.json", "draft-2021": "meta/root/a.array.json"}
GOOD = {"draft": (TEXT, ARRAY), "draft-2021": (DIALECT, OLD)}


def encoded(value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def store_of(entry=TEXT, array=ARRAY, name="draft"):
    store = MemoryStore()
    store.set("zarr.json", encoded(entry))
    store.set(KEYS[name], encoded(array))
    return store


def refused(error, entry=TEXT, array=ARRAY, name="draft", match=None):
    """Reading a node, and an element of it, raises an error; the store does not change."""
    store = store_of(entry, array, name)
    before = {key: bytes(store.get(key)) for key in store.list()}
    with pytest.raises(error, match=match):
        zarr.open(store, path="a")[0, 0]
    assert {key: bytes(store.get(key)) for key in store.list()} == before


@pytest.mark.parametrize("name", GOOD)
def test_the_hierarchy_without_damage(name):
    entry, array = GOOD[name]
    assert zarr.open(store_of(entry, array, name), path="a")[0, 0] == 0


# --- invalid documents ---

WHOLE = json.dumps(ARRAY)
TEXTS = {
    "twice": WHOLE.replace('"shape"', '"shape": [1], "shape"', 1).encode(),
    "byte order mark": b"\xef\xbb\xbf" + WHOLE.encode(),
    "NaN": WHOLE.replace('"fill_value": 0', '"fill_value": NaN').encode(),
    "deep": WHOLE.replace('"a": 1', '"a": ' + "[" * 100_000 + "]" * 100_000).encode(),
    "long": WHOLE.replace('"a": 1', '"a": ' + "9" * 5000).encode(),
    "bytes": bytes(range(256)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_invalid_documents(name):
    refused(MetadataError, array=TEXTS[name], match=r"meta/a\.array\.json")


@pytest.mark.parametrize("name", ["byte order mark", "deep", "bytes"])
def test_entry_points_that_are_none(name):
    entry = TEXTS[name].replace(b'"shape"', b'"zarr_format": "http://x/y/3.0", "shape"')
    refused(MetadataError, entry, match=r"zarr\.json")


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("shape", [-8, 8]), ("shape", [8]), ("shape", [8.0, 8]), ("shape", [True, 8]),
        ("shape", ["8", 8]), ("shape", [2**70, 8]), ("shape", [1] * 100), ("shape", {}),
        ("chunk_grid/chunk_shape", [0, 4]), ("chunk_grid/chunk_shape", [4]),
        ("chunk_grid/chunk_shape", [4, -4]), ("chunk_grid/chunk_shape", [4, 2**70]),
        ("chunk_grid/separator", "../"), ("chunk_grid/type", "..."), ("chunk_grid", []),
        ("data_type", "|V2000000000"), ("data_type", "r17"), ("data_type", "<f16"),
        ("data_type", "i4,f8"), ("data_type", "|O"), ("data_type", 1), ("data_type", {}),
        ("data_type", {"extension": "TODO: x", "type": [["a", "|O"]]}),
        ("fill_value", "abc"), ("fill_value", 2**40), ("fill_value", []),
        ("chunk_memory_layout", "X"), ("chunk_memory_layout", 0),
        ("attributes", None), ("extensions", [1]),
        ("storage_transformers/0/configuration/chunks_per_shard", [2, 2, 2]),
        ("storage_transformers/0/configuration/chunks_per_shard", [0, 2]),
        ("storage_transformers/0/configuration/chunks_per_shard", [2**40, 2**40]),
        ("storage_transformers/0/configuration", {}),
        ("storage_transformers/0/type", "pickle"),
    ],
)  # fmt: skip
def test_values_that_are_none(name, pointer, value):
    entry, array = copy.deepcopy(GOOD[name])
    inner = array
    *path, last = pointer.split("/")
    for step in path:
        inner = inner[int(step) if step.isdigit() else step]
    inner[last] = value
    refused((MetadataError, ExtensionError, CodecError), entry, array, name)


def test_pickled_objects_are_rejected():
    array = {
        **OLD,
        "data_type": {"extension": "TODO: object array protocol URL", "type": "|O"},
        "attributes": {"filters": [{"id": "pickle", "protocol": 4}]},
        "fill_value": None,
        "storage_transformers": [],
    }
    refused(UnknownExtensionError, DIALECT, array, "draft-2021", match="pickle")


def test_a_large_chunk_is_not_made_before_it_is_needed():
    grid = {"type": "regular", "chunk_shape": [2**20, 2**20], "separator": "/"}
    array = {**ARRAY, "shape": [2**40, 2**40], "chunk_grid": grid, "storage_transformers": []}
    found = zarr.open(store_of(array=array), path="a")
    assert found[2**39, 5] == 0
    store = store_of(array=array)
    store.set("data/a/c0/0", b"\x1f\x8b sixteen bytes")
    with pytest.raises(ZarrError):
        zarr.open(store, path="a")[0, 0]


@pytest.mark.parametrize(
    "shard",
    [
        b"", b"short", bytes(64), b"\xff" * 63,
        (2**62).to_bytes(8, "little") * 8,
        (2**64 - 1).to_bytes(8, "little") + bytes(56),
        (2**64 - 16).to_bytes(8, "little") * 2 + b"\xff" * 48,
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", GOOD)
def test_damaged_shards_are_named(name, shard):
    entry, array = GOOD[name]
    store = store_of(entry, array, name)
    key = "data/root/a/c0/0" if name == "draft-2021" else "data/a/c0/0"
    store.set(key, shard)
    found = zarr.open(store, path="a")
    with pytest.raises(ChunkDecodeError, match=key):
        found[0, 0]


@pytest.mark.parametrize("path", ["..", "a/../b", "../../etc", "a/./b", "a\\..\\b", "a\0b"])
def test_paths_stay_inside(path):
    store = store_of()
    for use in (
        lambda: zarr.open(store, path=path),
        lambda: zarr.create_group(store, path=path, zarr_format="draft"),
    ):
        with pytest.raises(NodeNameError):
            use()
    assert len(list(store.list())) == 2


def test_unmanaged_keys_are_not_nodes():
    store = store_of()
    for key in ("meta/.array.json", "meta/...group.json", "meta/b.txt"):
        store.set(key, b"{}")
    assert list(zarr.open_group(store)) == ["a"]
    with pytest.raises(NodeNotFoundError):
        zarr.open(store, path="b")


def test_a_damaged_array_does_not_hide_the_others():
    store = store_of()
    store.set("meta/b.array.json", b"{")
    store.set("meta/c.group.json", b'{"attributes": {}}')
    root = zarr.open_group(store)
    assert list(root) == ["a", "b", "c"]
    assert root["a"].shape == (8, 8)
    with pytest.raises(MetadataError, match=r"meta/b\.array\.json"):
        root["b"]
    del root["b"]
    assert list(root) == ["a", "c"]


# --- any value, at any key ---

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["<f8", "|O", "r8", f"{SPEC}codecs/gzip/1.0", UNKNOWN, "/", "C", "0x00"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["extension", "type", "configuration", "fallback", "id", "codec", "x"]),
        inner, max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(
        value, list) else ()  # fmt: skip
    for key, inner in items:
        yield from places(inner, (*path, key))


@given(st.sampled_from(sorted(GOOD)), st.data())
@settings(max_examples=60)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_value_anywhere_is_read_or_rejected(name, data):
    documents = copy.deepcopy(list(GOOD[name]))
    path = data.draw(st.sampled_from([place for place in places(documents) if place[1:]]))
    inner = documents
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = data.draw(ANYTHING)
    store = store_of(*documents, name)
    try:
        found = zarr.open(store, path="a")
        if isinstance(found, zarr.Array) and found.ndim == 2 and found.size:
            found[0, 0]
        found.stored.format.to_json(found.metadata)
        found.attrs["written"] = 1
    except ZarrError:
        return
    assert zarr.open(store, path="a").attrs["written"] == 1
