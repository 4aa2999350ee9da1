"""Keys of documents and chunks, and operations on nodes of both drafts."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import (
    ARRAY,
    DIALECT,
    OLD_ARRAY,
    TEXT,
    array_store,
    document_of,
    open_a,
    ramp,
    store_of,
)
from zarr_core.errors import (
    ExtensionConfigurationError,
    NodeExistsError,
    NodeNotFoundError,
    StoreCapabilityError,
)
from zarr_core.extension import ExtensionDefinition, Location, create_extension
from zarr_core.metadata.group import GroupMetadata
from zarr_core.registry.resolve import format_named
from zarr_core.stores.memory import MemoryStore
from zarr_formats.draft.chunk_keys import DraftEncoding
from zarr_formats.draft.keys import Layout


def test_keys_of_no_document():
    layout = Layout()
    for key in ("zarr.json", "data/a.array.json", "meta/a.json", "meta/a.array.yaml", "array.json"):
        assert layout.node(key, ".json") is None


@pytest.mark.parametrize(("name", "key"), [("draft", "data/a/c"), ("draft-2021", "data/root/a/c0")])
def test_the_chunk_of_an_array_without_dimensions(name, key):
    store = store_of({}, None)
    array = zarr.create_array(store, path="a", data=np.float64(2.5), zarr_format=name)
    assert store.get(key)
    assert array.nchunks_initialized == 1


def test_names_that_only_the_final_version_reserves():
    store = store_of({})
    for name in ("__x", "zarr.json"):
        zarr.create_array(store, path=name, data=ramp((2,)))
        assert zarr.open(store, path=name)[...].tolist() == [0, 1]
    assert sorted(zarr.open_group(store)) == ["__x", "zarr.json"]


@pytest.mark.parametrize("configuration", [{"separator": "-"}, {"scalar": "0"}, {"colour": 1}])
def test_configurations_that_are_rejected(configuration):
    with pytest.raises(ExtensionConfigurationError):
        create_extension("chunk_key_encoding", ExtensionDefinition("v3_draft", configuration))
    if "colour" not in configuration:
        with pytest.raises(ExtensionConfigurationError):
            DraftEncoding.from_definition(ExtensionDefinition("v3_draft", configuration))


NAMES = ("draft", "draft-2021")
ENTRIES = {"draft": TEXT, "draft-2021": DIALECT}
META = {"draft": "meta/", "draft-2021": "meta/root/"}
DATA = {"draft": "data/", "draft-2021": "data/root/"}
DOCUMENT = {"draft": ARRAY, "draft-2021": OLD_ARRAY}
GROUP = {"attributes": {}}


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def keys_of(store):
    return sorted(key for key in store.list() if key != "zarr.json")


def hierarchy(name, arrays=(), groups=()):
    """A store with these nodes; every array has one chunk."""
    store = store_of({}, ENTRIES[name])
    for path in arrays:
        store.set(f"{META[name]}{path}.array.json", json.dumps(DOCUMENT[name]).encode())
        store.set(f"{DATA[name]}{path}/c0/0", ramp((2, 3)).tobytes())
    for path in groups:
        store.set(f"{META[name]}{path}.group.json", json.dumps(GROUP).encode())
    return store


# --- discovery, existence ---


def test_the_root_is_a_group_from_the_entry_point_on(name):
    """Otherwise a hierarchy whose last node was removed would accept nodes of other formats."""
    store = store_of({}, ENTRIES[name])
    root = zarr.open_group(store)
    assert list(root) == []
    root.create_array("a", shape=2, dtype="i1")
    assert root["a"].stored.format.name == name
    del root["a"]
    assert list(zarr.open_group(store)) == []
    assert keys_of(store) == []


def test_a_prefix_that_holds_nothing_is_not_a_group(name, tmp_path):
    zarr.create_array(tmp_path, path="a/b", shape=2, zarr_format=name)
    zarr.open_group(tmp_path)["a"]
    (tmp_path / META[name] / "empty").mkdir()
    assert list(zarr.open_group(tmp_path)) == ["a"]
    with pytest.raises(NodeNotFoundError):
        zarr.open(tmp_path, path="empty")


class Unlisted(MemoryStore):
    supports_listing = False

    def list_prefix(self, prefix):
        raise StoreCapabilityError("cannot list", self)

    list_dir = list_prefix


def test_a_store_that_cannot_list(name):
    store = Unlisted()
    for key, value in (
        ("zarr.json", ENTRIES[name]), (f"{META[name]}foo/bar.array.json", DOCUMENT[name]),
        (f"{META[name]}g.group.json", GROUP),
    ):  # fmt: skip
        store.set(key, json.dumps(value).encode())
    assert zarr.open(store, path="foo/bar")[0, 0] == 0
    assert zarr.open(store, path="g").attrs == {}
    with pytest.raises(NodeNotFoundError):
        zarr.open(store, path="foo")
    with pytest.raises(StoreCapabilityError):
        list(zarr.open_group(store))


# --- creating ---


def test_no_groups_are_created_to_lead_to_a_node(name):
    store = store_of({}, None)
    zarr.create_array(store, path="a/b/c", shape=2, zarr_format=name)
    zarr.create_group(store, path="a/d/e")
    assert keys_of(store) == [f"{META[name]}a/b/c.array.json", f"{META[name]}a/d/e.group.json"]
    assert list(zarr.open_group(store, path="a")) == ["b", "d"]


def test_an_implied_group_can_be_made_explicit(name):
    store = hierarchy(name, ["g/a"])
    with pytest.raises(NodeExistsError):
        zarr.create_array(store, path="g", shape=2)
    zarr.create_group(store, path="g", attributes={"x": 1})
    assert list(zarr.open_group(store, path="g")) == ["a"]
    with pytest.raises(NodeExistsError):
        zarr.create_group(store, path="g")


def test_overwriting_removes_nothing_else(name):
    store = hierarchy(name, ["g/a"])
    notes = f"{DATA[name]}g/notes.txt"
    store.set(notes, b"mine")
    with pytest.raises(NodeExistsError, match=notes):
        zarr.create_array(store, path="g", shape=2, overwrite=True)
    store.erase(notes)
    other = f"{META[name]}g/readme"
    store.set(other, b"mine")
    with pytest.raises(NodeExistsError, match=other):
        zarr.create_group(store, path="g", overwrite=True)
    store.erase(other)
    beside = f"{DATA[name]}g/a/notes.txt"
    store.set(beside, b"beside the chunks of an array")
    with pytest.raises(NodeExistsError, match=beside):
        zarr.create_group(store, path="g", overwrite=True)
    store.erase(beside)
    zarr.create_group(store, path="g", overwrite=True)
    assert keys_of(store) == [f"{META[name]}g.group.json"]


@pytest.mark.parametrize("key", [".zgroup", ".zarray", "attributes.json", "meta", "zarr.json"])
def test_the_root_of_another_hierarchy_is_rejected(name, key):
    store = store_of({}, None)
    value = {"zarr_format": 3, "node_type": "group"} if key == "zarr.json" else {"zarr_format": 2}
    store.set(key, json.dumps(value).encode())
    with pytest.raises(NodeExistsError):
        format_named(name).create(store, "a", GroupMetadata())
    assert list(store.list()) == [key]


def test_the_other_draft_is_rejected():
    for one, other in (NAMES, NAMES[::-1]):
        with pytest.raises(NodeExistsError):
            format_named(one).create(hierarchy(other), "a", GroupMetadata())


# --- changing ---


# --- removing ---


def test_overwriting_the_root_keeps_the_entry_point(name):
    store = hierarchy(name, ["a"], ["g"])
    before = store.get("zarr.json")
    zarr.create_array(store, data=np.arange(3), overwrite=True, zarr_format=name)
    assert zarr.open(store)[...].tolist() == [0, 1, 2]
    assert bytes(store.get("zarr.json")) == bytes(before)
    assert not [key for key in store.list() if "/a." in key or "/g." in key]


# --- copying, moving ---


def test_copying_and_moving(name):
    store = hierarchy(name, ["g/a", "g/b/c"], ["g/e"])
    root = zarr.open_group(store)
    root.move("g", "h/i")
    assert sorted(root) == ["h"]
    assert sorted(root["h/i"]) == ["a", "b", "e"]
    assert root["h/i/b/c"][1, 2] == 5
    target = MemoryStore()
    zarr.copy(root["h/i"], target, "x")
    assert keys_of(target) == sorted(key.replace("h/i/", "x/") for key in keys_of(store)), (
        "groups stay implied"
    )
    assert zarr.open(target, path="x/b/c")[1, 2] == 5
    assert document_of(target, "zarr.json") == ENTRIES[name]


def test_the_format_is_shown(name):
    array = open_a(array_store(ENTRIES[name]))
    assert array.zarr_format == 3
    assert name in repr(array.info)


def test_members_of_the_document_of_an_implied_group_are_kept(name):
    document = {"minor": 1}  # of a later version of the draft
    found = format_named(name).from_json(document, Location("store"))
    assert isinstance(found, GroupMetadata)
    assert format_named(name).to_json(found.replace(attributes={"x": 1})) == {
        "minor": 1,
        "group": {"attributes": {"x": 1}},
    }
