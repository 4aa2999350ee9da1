"""Consolidated metadata: reading, writing, updating, checking."""

import json
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core import strictjson
from zarr_core.errors import (
    MetadataValidationError,
    NodeExistsError,
    NodeNotFoundError,
    NodeTypeError,
    StoreReadOnlyError,
)
from zarr_formats.consolidate import Difference, difference


@pytest.fixture
def store():
    store = CountingStore(zarr.MemoryStore())
    root = zarr.create_group(store)
    root.create_array("a", data=np.arange(4), chunks=2, attributes={"n": 1})
    root.create_array("g/h/b", data=np.arange(4), chunks=2)
    zarr.consolidate_metadata(store)
    store.calls.clear()
    return store


def entries(store, path=""):
    document = json.loads(bytes(store.get(f"{path}zarr.json")))
    return document["consolidated_metadata"]["metadata"]


def document(store, path):
    return json.loads(bytes(store.get(f"{path}/zarr.json")))


def test_written_metadata(store):
    member = json.loads(bytes(store.get("zarr.json")))["consolidated_metadata"]
    assert (member["kind"], member["must_understand"]) == ("inline", False)
    assert list(member["metadata"]) == ["a", "g", "g/h", "g/h/b"]
    assert member["metadata"]["a"] == document(store, "a")
    zarr.consolidate_metadata(store, path="g")
    assert list(entries(store, "g/")) == ["h", "h/b"]
    assert not zarr.check_consolidated(zarr.open(store))
    with pytest.raises(NodeTypeError, match="is an array"):
        zarr.consolidate_metadata(store, path="a")
    with pytest.raises(NodeNotFoundError):
        zarr.consolidate_metadata(store, path="x")
    with pytest.raises(StoreReadOnlyError):
        zarr.consolidate_metadata(zarr.MemoryStore(dict(store.inner._mapping), read_only=True))


def test_everything_is_found_by_one_read(store):
    group = zarr.open_consolidated(store, mode="r")
    assert group.read_only
    names = [path for path, _ in group.members(None)]
    assert names == ["a", "g", "g/h", "g/h/b"]
    assert ("a" in group, "g/x" in group) == (True, False)
    assert group["g"]["h/b"].attrs == {}
    assert next(iter(group["g"].groups()))[1].path == "g/h"
    assert "b (4,) int64" in repr(group.tree())
    with pytest.raises(KeyError):
        group["g/x"]
    assert store.keys() == ["zarr.json"]
    assert group["a"][...].tolist() == [0, 1, 2, 3]
    assert store.keys("get_limited") == ["a/c/0", "a/c/1"] or store.count() > 1


def test_open_consolidated_opens_for_writing_by_default(store):
    group = zarr.open_consolidated(store)
    assert not group.read_only
    group["a"].attrs["note"] = "changed"
    assert zarr.open_consolidated(store, mode="r")["a"].attrs["note"] == "changed"
    assert not zarr.check_consolidated(zarr.open(store))
    reader = zarr.MemoryStore(dict(store.inner._mapping), read_only=True)
    assert zarr.open_consolidated(reader).read_only


def test_when_copies_are_used(store):
    def reads(group):
        store.calls.clear()
        group["a"]
        return store.count()

    assert reads(zarr.open_group(store, "r")) == 0
    assert reads(zarr.open_group(store, "r", use_consolidated=False)) == 1
    assert reads(zarr.open_group(store, "r+")) == 1
    assert reads(zarr.open_group(store, "r+", use_consolidated=True)) == 0
    group = zarr.open_group(store, "r")
    store.calls.clear()
    assert len(group.members(None, use_consolidated_for_children=False)) == 4
    assert store.count() > 0


def test_a_group_without_copies_cannot_be_asked_for_them():
    group = zarr.create_group()
    for opener in (
        lambda: zarr.open_consolidated(group.store),
        lambda: zarr.open_group(group.store, use_consolidated=True),
        lambda: zarr.check_consolidated(group),
    ):
        with pytest.raises(ValueError, match="has no consolidated metadata"):
            opener()


def in_step(store):
    return not zarr.check_consolidated(zarr.open_group(store))


def test_changes_through_the_group_are_recorded(store):
    root = zarr.open_group(store, "r+")
    root["a"].attrs["n"] = 2
    assert in_step(store)
    root["g/h/b"].resize(9)
    assert entries(store)["g/h/b"]["shape"] == [9]
    root["g"].attrs["x"] = 1
    root.attrs["y"] = 2
    root["g"].create_array("deep/er/new", shape=2)
    assert in_step(store), "groups that were made on the way are recorded too"
    root.require_group("r/s").require_array("t", shape=1)
    root["n"] = np.zeros(3)
    assert in_step(store)
    root.move("g/h", "moved/here")
    assert in_step(store)
    assert "g/h" not in entries(store)
    root.create_group("moved", overwrite=True)
    assert in_step(store), "nothing is left of what was overwritten"
    zarr.copy(root["a"], root, "copies/a")
    del root["a"]
    del root["n"]
    assert in_step(store)
    assert not zarr.check_consolidated(root), "a handle sees what it has changed"
    root.clear()
    assert in_step(store)
    assert entries(store) == {}


def test_groups_above_a_recorded_node_are_recorded(store):
    zarr.create_group(store, path="g/other/group")
    root = zarr.open_group(store, "r+")
    root["g/other/group"].create_array("new", shape=2)
    assert {"g/other", "g/other/group", "g/other/group/new"} <= entries(store).keys()
    assert in_step(store)


def test_each_change_is_one_write_of_the_copies(store):
    root = zarr.open_group(store, "r+")
    store.calls.clear()
    root.create_array("p/q/r", shape=1)
    assert store.keys("update").count("zarr.json") == 1


def test_a_change_changes_one_copy_and_no_order(store):
    whole = json.loads(bytes(store.get("zarr.json")))
    member = whole["consolidated_metadata"]
    shuffled = {
        "must_understand": False,
        "metadata": {path: member["metadata"][path] for path in ("g/h", "a", "g/h/b", "g")},
        "kind": "inline",
    }
    store.set("zarr.json", json.dumps({**whole, "consolidated_metadata": shuffled}).encode())
    zarr.open_group(store, "r+")["a"].attrs["n"] = 5
    after = json.loads(bytes(store.get("zarr.json")))
    shuffled["metadata"]["a"]["attributes"]["n"] = 5
    assert json.dumps(after["consolidated_metadata"]) == json.dumps(shuffled)


def test_staleness_is_noticed(store):
    root = zarr.open_group(store)
    zarr.open(store, path="a").attrs["n"] = 7  # not reached through the group
    zarr.create_array(store, path="g/new", shape=1)
    del zarr.open(store, path="g")["h"]
    difference = zarr.check_consolidated(root)
    assert difference
    assert difference.stale == ("a",)
    assert difference.missing == ("g/new",)
    assert difference.extra == ("g/h", "g/h/b")
    assert "1 stale ('a')" in str(difference)
    zarr.consolidate_metadata(store)
    assert str(zarr.check_consolidated(root)) == "up to date"


def test_requiring_looks_at_what_is_stored(store):
    zarr.create_group(store, path="unknown")
    group = zarr.open_group(store, "r+", use_consolidated=True)
    assert "unknown" not in group
    assert group.require_group("unknown").path == "unknown"
    with pytest.raises(NodeExistsError):
        group.create_group("unknown")


def test_refreshing_takes_new_copies(store):
    reader = zarr.open_consolidated(store)
    zarr.open_group(store, "r+").create_group("late")
    assert "late" not in reader
    reader.refresh()
    assert "late" in reader
    document = json.loads(bytes(store.get("zarr.json")))
    del document["consolidated_metadata"]
    store.set("zarr.json", json.dumps(document).encode())
    child = reader["g"]
    reader.refresh()
    assert "late" in reader
    assert child.path == "g"
    writer = zarr.open_group(store, "r+")
    writer.create_group("more")
    assert "more" in reader, "members are looked up in the store"
    assert "consolidated_metadata" not in json.loads(bytes(store.get("zarr.json")))


def test_removed_copies_are_not_made_again(store):
    writer = zarr.open_group(store, "r+")
    document = json.loads(bytes(store.get("zarr.json")))
    del document["consolidated_metadata"]
    store.set("zarr.json", json.dumps(document).encode())
    writer["a"].attrs["n"] = 9
    assert "consolidated_metadata" not in json.loads(bytes(store.get("zarr.json")))


@pytest.mark.parametrize("handles", ["one", "many"])
def test_concurrent_changes_leave_the_copies_in_step(store, handles):
    shared = zarr.open_group(store, "r+")

    def work(number):
        root = shared if handles == "one" else zarr.open_group(store, "r+")
        for attempt in range(5):
            root["a"].attrs[f"{number}"] = attempt
            root.require_group(f"common/{attempt}")
            root.create_array(f"own/{number}/{attempt}", shape=1)
            if attempt % 2:
                del root[f"own/{number}/{attempt}"]

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert str(zarr.check_consolidated(shared)) == "up to date"
    assert len(zarr.open(store, path="a").attrs) == 7


def test_invalid_consolidated_metadata(store):
    whole = json.loads(bytes(store.get("zarr.json")))
    copies = whole["consolidated_metadata"]["metadata"]
    impossible = (
        "../out",
        "a//b",
        "",
        "g/./x",
        "g/../b",
        "__a/b",
        "g/zarr.json",
        "/g",
        "g/",
        "g/__c/d",
    )
    for path in (*impossible, "__reserved"):
        copies[path] = document(store, "g")
    copies["broken"] = {"zarr_format": 3, "node_type": "array"}
    store.set("zarr.json", json.dumps(whole).encode())
    group = zarr.open_consolidated(store)
    assert list(group) == ["__reserved", "a", "broken", "g"]
    with pytest.raises(MetadataValidationError, match="consolidated metadata of 'broken'"):
        group.members()
    assert [path for path, _ in group["g"].members(None)] == ["h", "h/b"]
    del copies["broken"]
    store.set("zarr.json", json.dumps(whole).encode())
    assert list(zarr.open_consolidated(store)) == ["__reserved", "a", "g"]
    for path in ("../out", "a//b"):
        with pytest.raises(KeyError):
            group[path]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_copies_are_removed(zarr_format):
    root = zarr.create_group(zarr_format=zarr_format, attributes={"a": 1})
    root.create_array("x", data=[1, 2])
    before = {key: bytes(root.store.get(key)) for key in root.store.list()}
    zarr.consolidate_metadata(root)
    bare = zarr.unconsolidate_metadata(root)
    assert bare.metadata.consolidated is None
    assert list(bare) == ["x"]
    assert {key: bytes(root.store.get(key)) for key in root.store.list()} == before
    assert zarr.unconsolidate_metadata(root.store).metadata.consolidated is None


@pytest.mark.parametrize("requests", [None, 2])
def test_how_far_reading_has_come(requests, monkeypatch):
    monkeypatch.setattr("zarr_transfer.progress._EVERY", 0.0)
    store = zarr.MemoryStore()
    root = zarr.create_group(store)
    for path in ("b", *(f"g{number}" for number in range(40)), "b/c"):
        root.require_group(path)
    store.max_concurrency = requests
    told = []
    group = zarr.consolidate_metadata(store, progress=told.append)
    assert len(group.metadata.consolidated.entries) == 42
    assert (told[-1].done, told[-1].total, told[-1].unit) == (42, 42, "nodes")
    assert [it.done for it in told] == sorted(it.done for it in told)
    assert len(told) > 40
    told.clear()
    assert not zarr.check_consolidated(group, progress=told.append)
    assert told[-1].done == 42


def test_listing_checks_each_name_once(monkeypatch):
    depth = 300
    entries = {
        "/".join(["a"] * level + [f"b{level}"]): {"zarr_format": 3, "node_type": "group"}
        for level in range(depth)
    }
    entries |= {"/".join(["a"] * level): entries["b0"] for level in range(1, depth)}
    inline = {"kind": "inline", "must_understand": False, "metadata": entries}
    document = {"zarr_format": 3, "node_type": "group", "consolidated_metadata": inline}
    group = zarr.open_group(
        zarr.MemoryStore({"zarr.json": json.dumps(document).encode()}), mode="r"
    )
    asked = []

    def is_valid_name(self, name):
        asked.append(name)
        return True

    monkeypatch.setattr(type(group.stored.format), "is_valid_name", is_valid_name)
    assert group.nmembers(None) == len(entries)
    assert len(asked) <= 2 * depth  # not once for each name of each path


def consolidated_store(zarr_format):
    store = CountingStore(zarr.MemoryStore())
    root = zarr.create_group(store, zarr_format=zarr_format)
    root.create_array("a", data=np.arange(4), attributes={"n": 1})
    zarr.consolidate_metadata(store)
    store.calls.clear()
    return store


def calls_of_consolidated(store, zarr_format):
    """The calls for the key with the consolidated metadata."""
    key = "zarr.json" if zarr_format == 3 else ".zmetadata"
    return [call.method for call in store.calls if call.key == key]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("count", [3, 30])
def test_a_batch_reads_and_writes_consolidated_metadata_once(zarr_format, count):
    store = consolidated_store(zarr_format)
    root = zarr.open_group(store, "r+")
    store.calls.clear()
    with root.batch() as same:
        assert same is root
        for number in range(count):
            array = root.create_array(f"b/{number}", shape=2)
            array.attrs["n"] = number
            root["b"].require_group(f"g{number}").attrs["m"] = number
        root["a"].attrs["n"] = 2
        del root["b/1"]
        assert calls_of_consolidated(store, zarr_format) == []
    methods = ["reader.read", "update"] if zarr_format == 3 else ["get", "set"]
    assert calls_of_consolidated(store, zarr_format) == methods
    assert str(zarr.check_consolidated(root)) == "up to date"
    reader = zarr.open_consolidated(store, mode="r")
    assert (reader["a"].attrs["n"], reader["b/2"].attrs["n"], "b/1" in reader) == (2, 2, False)
    store.calls.clear()
    root.create_group("after")
    assert calls_of_consolidated(store, zarr_format)[-1] == methods[-1]


def test_an_empty_batch_and_one_without_consolidated_metadata_write_nothing(store):
    with zarr.open_group(store, "r+").batch():
        pass
    with zarr.create_group(zarr.MemoryStore()).batch() as group:
        group.create_group("x")
    assert store.keys("update") == []
    assert list(group) == ["x"]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_batch_that_raises_writes_what_was_stored(zarr_format):
    store = consolidated_store(zarr_format)
    root = zarr.open_group(store, "r+")

    def create():
        with root.batch():
            root.create_array("b", shape=2)
            root.create_array("c", data=["x"], dtype="int8")

    with pytest.raises(ValueError, match="cannot convert"):
        create()
    assert str(zarr.check_consolidated(root)) == "up to date"
    assert sorted(zarr.open_consolidated(store, mode="r")) == ["a", "b"]


def test_lookups_in_a_batch_find_its_changes(store):
    root = zarr.open_group(store, "r+", use_consolidated=True)
    with root.batch():
        root.create_array("b", shape=2)
        assert "b" in root
        root["b"].attrs["n"] = 3
        assert root["b"].attrs["n"] == 3
        del root["g"]
        assert list(root) == ["a", "b"]
        root.attrs["title"] = "written with the old consolidated metadata"
        assert list(root) == ["a", "b"]
        root.create_group("c")
        assert list(root) == ["a", "b", "c"]
    assert list(zarr.open_consolidated(store, mode="r")) == ["a", "b", "c"]
    assert in_step(store)


def test_nested_batches_of_a_thread_write_once(store):
    root = zarr.open_group(store, "r+")
    with root.batch():
        with root["g"].batch() as child:
            child.create_group("x")
        assert store.keys("update").count("zarr.json") == 0
    assert store.keys("update").count("zarr.json") == 1
    assert in_step(store)


@pytest.mark.parametrize("handles", ["one", "many"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_concurrent_batches_lose_no_changes(zarr_format, handles):
    store = consolidated_store(zarr_format)
    shared = zarr.open_group(store, "r+")

    def work(number):
        root = shared if handles == "one" else zarr.open_group(store, "r+")
        for attempt in range(3):
            with root.batch():
                root["a"].attrs[f"{number}"] = attempt
                for name in range(4):
                    root.create_array(f"own/{number}/{attempt}/{name}", shape=1)
            assert f"own/{number}/{attempt}/3" in zarr.open_consolidated(store, mode="r")
            root.require_group(f"common/{attempt}")
            del root[f"own/{number}/{attempt}/0"]

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert str(zarr.check_consolidated(shared)) == "up to date"
    assert len(zarr.open(store, path="a").attrs) == 7


def test_threads_within_a_batch_take_part(store):
    root = zarr.open_group(store, "r+")
    with root.batch(), ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: root.create_group(f"n{number}"), range(20)))
    assert store.keys("update").count("zarr.json") == 1
    assert in_step(store)


def test_a_batch_whose_group_was_removed_raises(store):
    root = zarr.open_group(store, "r+")

    def change():
        with root.batch():
            root.create_group("b")
            zarr.remove(store)

    with pytest.raises(NodeNotFoundError, match="has been removed"):
        change()


def test_encoding_by_entries_gives_the_same_document(store):
    root = zarr.open_group(store, "r+")
    root.attrs["x"] = {"consolidated_metadata": {"metadata": [1, {"é": "\n"}]}, "y": 0.1}
    root["a"].attrs["long"] = ["0.1000000000000000055511151231257827", 1e300, None, [], {}]
    root.create_array('é/"quoted', shape=2, fill_value=float("nan"), dtype="f4")
    written = bytes(store.get("zarr.json"))
    assert written == strictjson.encode(strictjson.loads(written))
    assert in_step(store)
    root.clear()
    written = bytes(store.get("zarr.json"))
    assert written == strictjson.encode(strictjson.loads(written))


@pytest.mark.parametrize(("version", "names"), [(2, ["encode"]), (3, ["plain", "loads"])])
def test_a_change_encodes_only_what_has_changed(monkeypatch, version, names):
    def encoded(count):
        root = zarr.create_group(zarr.MemoryStore(), zarr_format=version)
        for number in range(count):
            root.create_group(f"g{number}")
        root = zarr.consolidate_metadata(root.store)
        root["g1"].attrs["n"] = 0  # encodes everything once
        counters = {name: Mock(wraps=getattr(strictjson, name)) for name in names}
        with monkeypatch.context() as patched:
            for name, counter in counters.items():
                patched.setattr(strictjson, name, counter)
            root["g1"].attrs["n"] = 1
            root.create_group("new")
        assert in_step(root.store)
        return sum(counter.call_count for counter in counters.values())

    encoded(5)  # the documents of new nodes are cached from here on
    assert 0 < encoded(10) == encoded(100) < 12


# --- differences ---

ENTRIES = {"a": {"n": 1, "m": "x"}, "b": {}, "b/c": {"n": 1}}


def test_copies_in_copies_are_not_compared():
    # As written by zarr-python: empty consolidated metadata of nested groups, or null.
    nested = {path: {**ENTRIES[path], "consolidated_metadata": None} for path in ENTRIES}
    assert not difference(nested, ENTRIES)


def test_up_to_date_copies_have_no_difference():
    reordered = {path: dict(reversed(item.items())) for path, item in ENTRIES.items()}
    assert not difference(ENTRIES, reordered)
    assert str(difference(ENTRIES, reordered)) == "up to date"


def test_every_difference_is_found():
    now = {**ENTRIES, "a": {"n": True, "m": "x"}}  # equal to 1 in Python, not in JSON
    now["new"] = now.pop("b/c")
    found = difference(ENTRIES, now)
    assert found == Difference(stale=("a",), missing=("new",), extra=("b/c",))
    assert found
    assert str(found) == "1 stale ('a'), 1 missing ('new'), 1 extra ('b/c')"


def test_many_differences_are_abbreviated():
    assert str(Difference(missing=("a", "b", "c", "d"))) == "4 missing ('a', 'b', 'c' and 1 more)"
