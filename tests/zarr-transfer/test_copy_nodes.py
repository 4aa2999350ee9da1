"""Nodes that are copied: existing ones, ignored ones, decoded ones."""

import io
import json
from itertools import pairwise

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from failing_store import FailingStore
from unlisted_store import UnlistedStore
from zarr_core.errors import (
    NodeExistsError,
    NodeTypeError,
    StoreCapabilityError,
    StoreError,
    StoreReadOnlyError,
)
from zarr_core.extension import StoreTraits
from zarr_core.names import CHECKPOINT_NAME as NAME


def hierarchy(zarr_format=3, store=None):
    root = zarr.create_group(store, zarr_format=zarr_format, attributes={"title": "all"})
    root.create_array("g/a", data=np.arange(10), chunks=2, attributes={"n": 1})
    root.create_group("g/empty", attributes={"m": 2})
    root.create_array("b", data=np.arange(4.0), chunks=2)
    root.store.set("g/readme.txt", b"notes")
    return root


def contents(store, prefix=""):
    return {
        key[len(prefix) :]: json.loads(bytes(store.get(key)))
        if key.rpartition("/")[2] in ("zarr.json", ".zarray", ".zgroup", ".zattrs")
        else bytes(store.get(key))
        for key in store.list_prefix(prefix)
    }


# --- existing nodes ---


def test_only_missing_values_are_copied():
    source, dest = hierarchy(), hierarchy()
    del dest["g/empty"]
    dest["g/a"][...] = -1
    dest.store.set("g/readme.txt", b"other notes")
    dest["g"].attrs["own"] = True
    before = contents(dest.store)
    zarr.copy(source["g"], dest, if_exists="skip")
    after = contents(dest.store)
    assert after.pop("g/empty/zarr.json")["attributes"] == {"m": 2}
    assert after == before


def test_arrays_are_replaced_and_other_members_stay():
    source, dest = hierarchy(), hierarchy()
    dest.create_array("g/more", data=[1, 2])
    dest.create_array("g/a", shape=(99,), chunks=1, dtype="i1", overwrite=True)[...] = 3
    zarr.copy(source["g"], dest, if_exists="replace")
    expected = contents(source.store, "g/")
    found = contents(dest.store, "g/")
    assert found.pop("more/zarr.json")
    assert found.pop("more/c/0")
    assert found == expected


@pytest.mark.parametrize("if_exists", ["replace", "skip"])
def test_node_of_another_type_blocks(if_exists):
    source, dest = hierarchy(), zarr.create_group()
    dest.create_array("g", data=[1, 2])
    dest.create_group("b/below")
    done = zarr.copy_all(source, dest, if_exists=if_exists)
    if if_exists == "skip":
        assert done == (0, 4, 0)
        assert dest["g"][...].tolist() == [1, 2]
        assert "b/below" in dest
    else:
        assert done[:2] == (4, 0)
        assert contents(dest.store) == contents(source.store)


@pytest.mark.parametrize("if_exists", ["skip", "skip_initialized"])
@pytest.mark.parametrize("copy", [zarr.copy, zarr.copy_all], ids=["node", "members"])
def test_nothing_is_written_below_an_existing_array(copy, if_exists):
    source, dest = zarr.create_group(), zarr.create_group()
    source.create_array("a/h/x", data=[1, 2])
    dest.create_array("a", data=[5])
    before = contents(dest.store)
    if copy is zarr.copy:
        assert copy(source["a"], dest, if_exists=if_exists)[...].tolist() == [5]
    else:
        assert copy(source, dest, if_exists=if_exists) == (0, 3, 0)
    assert contents(dest.store) == before


def test_replacing_a_group_keeps_unmanaged_keys():
    source, dest = hierarchy(), zarr.create_group()
    dest.create_group("b")
    dest.store.set("b/thesis.txt", b"years of work")
    with pytest.raises(NodeExistsError, match=r"thesis\.txt"):
        zarr.copy(source["b"], dest, if_exists="replace")
    assert dest.store.get("b/thesis.txt")


def test_a_whole_node_makes_room():
    source, dest = hierarchy(), hierarchy()
    dest.create_array("g/more", data=[1, 2])
    dest.store.erase("g/readme.txt")
    zarr.copy(source["g"], dest, overwrite=True)
    assert contents(dest.store) == contents(source.store)
    dest.create_array("g/more", data=[1, 2])
    dest.store.erase("g/readme.txt")
    assert zarr.copy_all(source, dest, overwrite=True)[:2] == (4, 0)
    assert contents(dest.store) == contents(source.store)
    dest.store.erase("g/readme.txt")
    assert zarr.copy(source["b"], dest, "g", overwrite=True)[...].tolist() == [0, 1, 2, 3]


def test_documents_that_cannot_be_read_are_not_replaced_by_accident():
    source, dest = hierarchy(), zarr.create_group()
    dest.store.set("b/zarr.json", b"{")
    for if_exists in ("raise", "skip"):
        with pytest.raises(ValueError, match="b/zarr"):
            zarr.copy(source["b"], dest, if_exists=if_exists)
    zarr.copy(source["b"], dest, if_exists="replace")
    assert dest["b"][...].tolist() == [0, 1, 2, 3]


def test_nothing_is_copied_if_a_member_is_there():
    source, dest = hierarchy(), zarr.create_group()
    dest.create_group("g")
    before = contents(dest.store)
    with pytest.raises(NodeExistsError, match="'/g': a node already exists"):
        zarr.copy_all(source, dest)
    assert contents(dest.store) == before


def test_remains_of_another_node_are_rejected():
    source, dest = hierarchy(), zarr.MemoryStore()
    zarr.create_array(dest, path="g/a", data=[5])
    dest.erase("zarr.json")
    dest.erase("g/zarr.json")
    with pytest.raises(NodeExistsError, match="'/g/a': a node already exists"):
        zarr.copy(source["g"], dest, "g")


def test_wrong_words():
    source = hierarchy()
    for words, message in [
        ({"only": "g"}, "must be a function"),
        ({"executor": "threads"}, "CopyExecutor"),
    ]:
        with pytest.raises(TypeError, match=message):
            zarr.copy(source, None, **words)
    with pytest.raises(ValueError, match="if_exists must be"):
        zarr.copy(source["g"], None, if_exists="update")
    with pytest.raises(ValueError, match="pass only one of them"):
        zarr.copy(source["g"], None, overwrite=True, if_exists="skip")
    with pytest.raises(TypeError, match="log must be"):
        zarr.copy(source["g"], None, log=5)


# --- interrupted ---


def test_interrupted_copy_is_not_a_source():
    source = hierarchy()
    dest = CountingStore(zarr.MemoryStore())
    zarr.copy(source["g"], dest)
    expected = contents(dest)
    for key in ("zarr.json", "a/zarr.json", "a/c/3", "a/c/4"):
        dest.erase(key)
    dest.set("a/c/2", b"another version")
    dest.calls.clear()
    zarr.copy(source["g"], dest)
    assert contents(dest) == expected
    assert sorted(dest.keys("set")) == [
        "a/c/2", "a/c/3", "a/c/4", "a/zarr.json", "empty/zarr.json", "zarr.json",
    ]  # fmt: skip


def test_only_bytes_tell_a_value_from_another_of_its_length():
    source, dest = hierarchy(), zarr.MemoryStore()
    zarr.copy(source["b"], dest)
    right = bytes(dest.get("c/1"))
    dest.erase("zarr.json")
    dest.set("c/1", bytes(len(right)))
    zarr.copy(source["b"], dest)
    assert bytes(dest.get("c/1")) == right


def test_a_value_that_vanishes_meanwhile():
    class Vanishing(zarr.MemoryStore):
        def get(self, key):
            return None if key == "b/c/1" else super().get(key)

    source = hierarchy()
    dest = zarr.MemoryStore({"c/1": b"left by an interrupted copy"})
    zarr.copy(zarr.open(Vanishing(source.store._mapping))["b"], dest)
    assert sorted(dest.list()) == ["c/0", "zarr.json"]


# --- ignored nodes ---


def test_arrays_alone():
    source = hierarchy()
    copy = zarr.copy(source, None, shallow=True)
    assert [path for path, _ in copy.members(None)] == ["b"]
    assert sorted(copy.store.list()) == ["b/c/0", "b/c/1", "b/zarr.json", "zarr.json"]
    dest = zarr.create_group()
    assert zarr.copy_all(source, dest, shallow=True)[:2] == (1, 0)
    assert list(dest) == ["b"]


def test_attributes():
    source = hierarchy()
    copy = zarr.copy(source, None, without_attrs=True)
    assert [dict(node.attrs) for _, node in copy.members(None)] == [{}] * 4
    assert dict(copy.attrs) == {}
    assert copy["g/a"][...].tolist() == list(range(10))
    dest = zarr.create_group(attributes={"mine": 1})
    zarr.copy_all(source, dest)
    assert dict(dest.attrs) == {"mine": 1, "title": "all"}
    zarr.copy_all(source, dest, without_attrs=True, if_exists="replace")
    assert dict(dest.attrs) == {"mine": 1, "title": "all"}
    assert dict(dest["g/a"].attrs) == {}


def test_copies_of_documents_that_would_be_wrong_are_omitted():
    source = hierarchy()
    source.store.erase("g/readme.txt")
    zarr.consolidate_metadata(source.store)
    source = zarr.open_group(source.store)
    assert not zarr.check_consolidated(zarr.copy(source, None))
    to_2 = {"zarr_format": 2, "chunks": "auto"}
    for options in ({"shallow": True}, {"without_attrs": True}, {"chunks": 5}, to_2):
        lines = []
        copy = zarr.copy(source, None, **options, log=lines.append)
        assert copy.metadata.consolidated is None
        assert not [line for line in lines if line.startswith("note: ")]
    dest = zarr.create_group()
    dest.create_array("more", data=[1])
    zarr.copy(source, dest.store, if_exists="replace")
    assert zarr.open_group(dest.store).metadata.consolidated is None


def test_consolidated_metadata_of_the_destination_are_kept_in_step():
    source, dest = hierarchy(), zarr.create_group()
    dest = zarr.consolidate_metadata(dest.store)
    zarr.copy(source["g"], dest, "x/g")
    zarr.copy_all(source, dest, if_exists="skip")
    assert not zarr.check_consolidated(dest)
    assert zarr.move(source["b"], dest, "moved").path == "moved"
    assert not zarr.check_consolidated(dest)


# --- logs ---


def test_dry_run():
    source, dest = hierarchy(), zarr.create_group()
    dest.create_array("b", data=[1])
    before = contents(dest.store)
    file = io.StringIO()
    done = zarr.copy_all(source, dest, if_exists="skip", dry_run=True, log=file)
    assert done == (3, 1, 0)
    assert contents(dest.store) == before
    assert file.getvalue().splitlines() == [
        "skip /b (4,)", "copy /g", "copy /g/a (10,)", "copy /g/empty",
        "dry run: 3 copied, 1 skipped",
    ]  # fmt: skip
    nowhere = zarr.MemoryStore()
    assert zarr.copy_all(source, nowhere, dry_run=True) == (4, 0, 0)
    assert zarr.copy(source, nowhere, "x", dry_run=True) is None
    assert list(nowhere.list()) == []
    with pytest.raises(NodeExistsError):
        zarr.copy(source["b"], dest, dry_run=True)


def test_logs(tmp_path):
    lines = []
    zarr.copy(hierarchy()["b"], None, log=lines.append)
    nbytes = lines.pop().removeprefix("all done: 1 copied, 0 skipped, ")
    assert nbytes.endswith(" bytes copied")
    zarr.copy(hierarchy()["b"], None, log=tmp_path / "log.txt")
    assert (tmp_path / "log.txt").read_text().startswith("copy /b (4,)\nall done: 1 copied")


@pytest.mark.parametrize("requests", [None, 8])
def test_progress(requests):
    source = hierarchy()
    dest = CountingStore(zarr.MemoryStore())
    dest.max_concurrency = requests
    seen = []
    zarr.copy(source["g"], dest, "x", progress=seen.append)
    assert all(one.done <= other.done for one, other in pairwise(seen))
    last = seen[-1]
    assert (last.path, last.done, last.total, last.unit) == ("x", 6, 6, "keys")
    assert last.nbytes == sum(
        len(dest.get(key)) for key in dest.list_prefix("x/") if not key.endswith(".json")
    )
    assert "100%" in str(last)


def test_whoever_watches_may_stop_it(capsys):
    class Enough(Exception):
        pass

    def stop(progress):
        raise Enough

    dest = zarr.MemoryStore()
    with pytest.raises(Enough):
        zarr.copy(hierarchy()["g"], dest, progress=stop)
    assert "zarr.json" not in set(dest.list())
    zarr.copy(hierarchy()["g"], dest, progress=True)
    assert capsys.readouterr().err.endswith("100%\n")


# --- formats, layouts ---


def test_another_format_is_rejected_with_what_to_do():
    source = hierarchy(2)
    for dest in (zarr.create_group(), zarr.create_group().store):
        before = contents(dest.store if isinstance(dest, zarr.Group) else dest)
        for work in (
            lambda dest: zarr.copy(source["g"], dest, "x"),
            lambda dest: zarr.copy_all(source, dest),
            lambda dest: zarr.move(source["g"], dest, "x"),
        ):
            with pytest.raises(NodeExistsError, match=r"zarr_transfer\.convert, or say"):
                work(dest)
        assert contents(dest.store if isinstance(dest, zarr.Group) else dest) == before
    assert source["g/a"][...].tolist() == list(range(10))


@pytest.mark.parametrize("zarr_format", [1, 2, "draft", "draft-2021", "n5"])
def test_every_format_is_copied_within_itself(zarr_format):
    if zarr_format == 1:
        source = zarr.create_array(data=np.arange(6), chunks=2, zarr_format=1)
        copy = zarr.copy(source, None)
        assert contents(copy.store) == contents(source.store)
        return
    root = zarr.create_group(zarr_format=zarr_format, attributes={"title": "all"})
    root.create_array("g/a", data=np.arange(10), chunks=2, attributes={"n": 1})
    copy = zarr.copy(root["g"], zarr.create_group(zarr_format=zarr_format), "x/y")
    assert copy["a"][...].tolist() == list(range(10))
    assert dict(copy["a"].attrs) == {"n": 1}
    assert sorted(zarr.copy(root, None).store.list()) == sorted(root.store.list())
    before = zarr.getsize(copy)
    zarr.move(copy, zarr.open_group(copy.store), "moved")
    moved = zarr.open_group(copy.store)
    assert "x/y" not in moved
    assert moved["moved/a"][...].tolist() == list(range(10))
    assert zarr.getsize(moved["moved"]) == before


@pytest.mark.parametrize("target", [2, 3])
@pytest.mark.parametrize("source", [2, 3])
def test_arrays_get_another_layout(source, target):
    root = hierarchy(source)
    root.store.erase("g/readme.txt")
    dest = zarr.create_group(zarr_format=target)
    seen = []
    copy = zarr.copy(root["g"], dest, chunks=5, compressors=None, progress=seen.append)
    assert copy["a"].zarr_format == target
    assert copy["a"].chunks == (5,)
    assert copy["a"].compressors == ()
    assert copy["a"][...].tolist() == list(range(10))
    assert dict(copy["a"].attrs) == {"n": 1}
    assert dict(copy["empty"].attrs) == {"m": 2}
    assert (seen[-1].unit, seen[-1].done, seen[-1].total) == ("elements", 10, 10)
    done = zarr.copy_all(root, dest, chunks=3, if_exists="skip")
    assert done[:2] == (1, 3)  # the groups and an array exist
    assert dest["b"].chunks == (3,)
    assert dest["g/a"].chunks == (5,)
    zarr.copy(root["g"], dest, if_exists="replace", chunks=2, attributes={"x": 1})
    assert dest["g/a"].chunks == (2,)
    assert dict(dest["g/a"].attrs) == {"x": 1}


def test_remains_of_a_decoding_copy_are_removed():
    source = zarr.create_array(data=np.array([0, 0, 1, 1]), chunks=2, fill_value=0)
    dest = zarr.MemoryStore({"c/0": b"of an earlier attempt"})
    copy = zarr.copy(source, dest, chunks=1)
    assert copy[...].tolist() == [0, 0, 1, 1]
    assert sorted(dest.list()) == ["c/2", "c/3", "zarr.json"]
    dest = zarr.MemoryStore({"c/17": b"somebody's"})
    with pytest.raises(NodeExistsError, match="'c/17', which is not part of a node"):
        zarr.copy(source, dest, chunks=1)


# --- stores that cannot do everything ---


def test_unlistable_group_is_copied_by_its_metadata():
    root = hierarchy()
    zarr.consolidate_metadata(root.store)
    store = UnlistedStore(root.store._mapping, read_only=True)
    copy = zarr.copy(zarr.open_group(store, use_consolidated=True), None)
    expected = contents(root.store)
    del expected["g/readme.txt"]  # it cannot be discovered
    assert contents(copy.store) == expected
    assert zarr.copy(zarr.open_array(store, path="g/a"), None)[...].tolist() == list(range(10))
    with pytest.raises(StoreCapabilityError, match="cannot list"):
        zarr.copy(zarr.open_group(store, use_consolidated=False), None)


def test_to_where_nothing_can_be_listed():
    dest = UnlistedStore()
    zarr.copy(hierarchy()["g"], dest)
    assert zarr.open_array(dest, path="a")[...].tolist() == list(range(10))
    with pytest.raises(NodeExistsError):
        zarr.copy(hierarchy()["g"], dest)


def test_to_where_nothing_can_be_removed():
    class Kept(zarr.MemoryStore):
        traits = StoreTraits(supports_erasing=False)

    store = Kept()
    root = zarr.create_group(store)
    zarr.copy(hierarchy()["g"], root)
    before = contents(store)
    for options in ({"overwrite": True}, {"if_exists": "replace"}):
        with pytest.raises(StoreCapabilityError, match="copy to another location"):
            zarr.copy(hierarchy()["g/a"], root, "g/a", **options)
    for work in (
        lambda: zarr.move(root["g"], None),
        lambda: root.move("g", "h"),
        lambda: root.__delitem__("g"),
        lambda: zarr.rmdir(store, "g"),
    ):
        with pytest.raises(StoreCapabilityError, match="cannot remove keys"):
            work()
    assert contents(store) == before


def test_who_may_only_read():
    source = hierarchy()
    reading = zarr.MemoryStore(hierarchy().store._mapping, read_only=True)
    for work in (
        lambda: zarr.copy(source["g"], reading, "x"),
        lambda: zarr.copy_all(source, reading),
        lambda: zarr.move(source["g"], reading, "x"),
        lambda: zarr.move(zarr.open(reading)["g"], None),
        lambda: zarr.rmdir(reading, "g"),
    ):
        with pytest.raises(StoreReadOnlyError):
            work()
    assert contents(reading) == contents(source.store)


def test_not_into_itself():
    root = hierarchy()
    before = contents(root.store)
    for work in (
        lambda: zarr.copy_all(root, root),
        lambda: zarr.copy_all(root, root["g"]),
        lambda: zarr.copy_all(root, root["g"], if_exists="replace"),
        lambda: zarr.copy(root["g/a"], root, "g", if_exists="replace"),
        lambda: zarr.move(root["g"], root["g"], "x"),
        lambda: zarr.move(root["g"], root),
    ):
        with pytest.raises(NodeExistsError, match="overlap|is within"):
            work()
    for source, dest in (("b", "g"), ("g", "b")):
        with pytest.raises(NodeTypeError, match="is an array, "):
            zarr.copy_all(root[source], root[dest])
    assert contents(root.store) == before


# --- any hierarchy ---


def test_keys_not_copied_by_decoding_are_reported(tmp_path):
    """If chunks are copied without decoding, all their properties are kept."""
    group = zarr.create_group(tmp_path / "source")
    group.create_array("a", data=np.arange(4), chunks=2)
    strangers = ["a/why.txt", "notes/1999.txt", "x/.zarray", "x/0"]
    for key in strangers:
        group.store.set(key, b"{}")
    assert set(strangers) <= set(zarr.copy(group, tmp_path / "all").store.list())
    lines = []
    with pytest.warns(
        UserWarning, match=r"/: unmanaged keys are not copied: 'notes/', and 2 other notes; log="
    ) as seen:
        copy = zarr.copy(group, tmp_path / "some", chunks=4, log=lines.append)
    assert seen[0].filename == __file__
    notes = [line for line in lines if line.startswith("note: ")]
    assert notes[2] == "note: /a: unmanaged keys are not copied: 'a/why.txt'"
    assert notes[1].startswith("note: /x: has the format v2, so it is not a member")
    assert sorted(copy.store.list()) == ["a/c/0", "a/zarr.json", "zarr.json"]
    # The choice of the caller is used.
    zarr.copy(group, tmp_path / "chosen", chunks=4, only=lambda path: path == "a")


def test_a_layout_that_is_rejected_costs_nothing():
    source, dest = hierarchy(), hierarchy()
    source.create_array("g/z", data=np.ones((2, 2)))
    dest["g/a"][...] = -1
    dest.store.erase("g/readme.txt")
    before = contents(dest.store)
    source.store.erase("g/readme.txt")
    for options in (
        {"overwrite": True},
        {"if_exists": "replace"},
        {"if_exists": "replace", "dry_run": True},
    ):
        with pytest.raises(ValueError, match="lengths for 2 dimensions"):
            zarr.copy(source["g"], dest, **options, chunks=(5,))
        assert contents(dest.store) == before


def test_a_note_that_outlived_its_copy_goes_with_the_next():
    source, dest = zarr.create_group(), zarr.create_group()
    source.create_array("a", data=np.arange(40), chunks=2)
    inner, stop = dest.store, 1
    while f"a/{NAME}" not in (left := contents(inner)) or "a/zarr.json" not in left:
        inner.erase_prefix("a/")
        with pytest.raises(StoreError):
            zarr.copy(
                source, FailingStore(inner, stop, forever=True), "", if_exists="skip", chunks=1
            )
        stop += 1
    zarr.copy(source, inner, if_exists="skip", chunks=1)
    assert f"a/{NAME}" not in contents(inner)
    np.testing.assert_array_equal(zarr.open(inner)["a"][...], np.arange(40))


def test_implicit_group_is_not_a_group():
    source = zarr.create_group(zarr_format="n5", attributes={"title": "all"})
    source.create_array("a", data=np.arange(4), chunks=2)
    dest = zarr.MemoryStore()
    zarr.create_group(dest, path="other", zarr_format="n5")  # like the members of a copy
    dest.set("a.txt", b"own")
    source.store.set("a.txt", b"of the source")
    copied = zarr.copy(source, dest, if_exists="skip")
    assert dict(copied.attrs) == {"title": "all"}
    assert bytes(dest.get("a.txt")) == b"own"


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_group_that_stays_shows_its_new_members(zarr_format):
    source, dest = hierarchy(zarr_format), zarr.create_group(zarr_format=zarr_format)
    dest.create_array("g/a", data=[1, 2])
    zarr.consolidate_metadata(dest.store)
    zarr.copy(source, dest.store, if_exists="skip")
    seen = zarr.open_consolidated(dest.store)
    assert not zarr.check_consolidated(seen)
    assert {"b", "g"} <= set(seen)
