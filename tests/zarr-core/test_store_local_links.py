"""Symbolic links in the directory of a local store."""

import os
import shutil
import sys
import warnings
from contextlib import suppress

import numpy as np
import pytest
import zarr_core as zarr
from store_contract import get_into
from zarr_core.errors import StoreError, StoreReadError
from zarr_core.interfaces.byte_reader import ByteReader
from zarr_core.stores import local_files
from zarr_core.stores.local import LocalStore


@pytest.fixture(params=["one call", "directory after directory"])
def store(request, tmp_path, monkeypatch):
    if request.param != "one call":
        monkeypatch.setattr(local_files, "openat2", None)
    return LocalStore(tmp_path / "store.zarr")


def room(size=16):
    return memoryview(bytearray(size))


@pytest.fixture
def linked(store, tmp_path):
    """A store with links to targets inside and outside."""
    store.set("a/k", b"inside")
    outside = tmp_path / "store.zarr-not"  # starts with the name of the store
    outside.mkdir()
    (outside / "k").write_bytes(b"outside")
    os.symlink(outside, os.path.join(store.path, "out"))
    os.symlink("a", os.path.join(store.path, "in"))
    os.symlink("a/k", os.path.join(store.path, "file"))
    os.symlink("..", os.path.join(store.path, "a", "up"))
    return store


def test_links_that_stay_inside_are_followed(linked):
    assert linked.get("in/k") == b"inside"
    assert linked.get("file") == b"inside"
    assert linked.getsize("file") == 6
    assert get_into(linked, "in/k", room()) == 6
    with linked.open_value("file") as reader:
        assert reader.size == 6
    assert linked.get("a/up/a/k") == b"inside"


@pytest.mark.parametrize("key", ["out/k", "out/none", "in/up/out/k"])
def test_links_that_leave_the_store_are_rejected(linked, key):
    for call in (
        linked.get,
        linked.exists,
        linked.open_value,
        lambda key: get_into(linked, key, room()),
        lambda key: linked.set(key, b"new"),
        lambda key: linked.erase(key),
        lambda key: linked.update(key, lambda reader: b"new"),
        lambda key: linked.list_dir("out/"),
        lambda key: linked.list_prefix("out/"),
        lambda key: linked.erase_prefix("out/sub/"),
    ):
        for _ in range(2):  # also the second time
            with pytest.raises(StoreReadError, match="'follow_links': True"):
                call(key)
    assert os.listdir(os.path.join(linked.path, "out")) == ["k"]


def test_links_that_leave_the_store_are_followed_on_request(linked):
    store = LocalStore(linked.path, follow_links=True)
    assert store.get("out/k") == b"outside"
    assert store.list_dir("out/") == (["out/k"], [])
    assert "out/k" in store.list()


@pytest.mark.parametrize(
    "listing", [lambda store: store.list_dir(""), lambda store: [*store.list()]]
)
def test_a_warning_names_directories_that_a_listing_hides(linked, listing):
    with pytest.warns(UserWarning, match=r"hidden: 'out'\. .*'follow_links': True"):
        listing(linked)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        listing(linked)
        listing(LocalStore(linked.path, follow_links=True))


def test_one_option_follows_all_links(tmp_path):
    elsewhere = zarr.create_group(tmp_path / "elsewhere")
    elsewhere.create_array("member", data=np.arange(6, dtype="u2"), chunks=2)
    group = zarr.create_group(tmp_path / "group.zarr")
    array = group.create_array("array", data=np.arange(4.0), chunks=4)
    os.symlink(tmp_path / "elsewhere" / "member", tmp_path / "group.zarr" / "linked")
    chunk = tmp_path / "group.zarr" / "array" / "c" / "0"
    chunk.rename(tmp_path / "annex")
    os.symlink(tmp_path / "annex", chunk)
    with pytest.warns(UserWarning, match="hidden: 'linked'"):
        assert [*zarr.open_group(tmp_path / "group.zarr", mode="r").keys()] == ["array"]
    with pytest.raises(StoreReadError, match="'follow_links': True"):
        array[...]
    for place in (tmp_path / "group.zarr", str(tmp_path / "group.zarr")):
        found = zarr.open(place, mode="r", storage_options={"follow_links": True})
        assert sorted(found.keys()) == ["array", "linked"]
        assert found["linked"][...].tolist() == [0, 1, 2, 3, 4, 5]
        assert found["array"][...].tolist() == [0, 1, 2, 3]


@pytest.mark.filterwarnings("ignore:.*symbolic links to directories")
def test_circles_of_links_end(linked):
    os.symlink(".", os.path.join(linked.path, "self"))
    os.makedirs(os.path.join(linked.path, "b"))
    os.symlink("../b", os.path.join(linked.path, "a", "to_b"))
    os.symlink("../a", os.path.join(linked.path, "b", "to_a"))
    found = list(linked.list())
    assert len(found) == len(set(found)) < 30
    assert {"a/k", "in/k", "file", "b/to_a/k"} <= set(found)
    keys, prefixes = linked.list_dir("")
    assert sorted(keys) == ["file", "out"]
    assert sorted(prefixes) == ["a/", "b/", "in/"]
    assert linked.list_dir("b/to_a/") == (["b/to_a/k"], [])


def test_erasing_a_prefix_removes_links_and_not_what_they_lead_to(linked):
    linked.erase_prefix("in/")
    assert linked.get("a/k") == b"inside"
    linked.erase_prefix("")
    assert os.listdir(linked.path) == []
    assert os.listdir(linked.path + "-not") == ["k"]


def test_a_store_behind_a_circle_of_links_is_an_error(store):
    os.symlink("store.zarr", store.path)
    with pytest.raises(StoreReadError, match="Too many levels"):
        store.get("a/k")


# --- directories that are replaced by links while the store is used ---


OPERATIONS = {
    "get": lambda store, key: store.get(key),
    "get_limited": lambda store, key: store.get_limited(key, 9, memoryview(bytearray(9))),
    "exists": lambda store, key: store.exists(key),
    "getsize": lambda store, key: store.getsize(key),
    "open_value": lambda store, key: store.open_value(key),
    "set": lambda store, key: store.set(key, b"written"),
    "update": lambda store, key: store.update(key, lambda reader: b"updated"),
    "erase": lambda store, key: store.erase(key),
    "list": lambda store, key: list(store.list_prefix(key.rpartition("/")[0] + "/")),
    "erase_prefix of all": lambda store, key: store.erase_prefix("a/"),
    "erase_prefix": lambda store, key: store.erase_prefix(key.rpartition("/")[0] + "/"),
}


@pytest.mark.parametrize("depth", ["a", "a/c/1"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_directory_that_was_used_before_and_is_now_a_link_is_refused(
    store, tmp_path, operation, depth
):
    key = "a/c/1/value"
    store.set(key, b"inside")
    OPERATIONS["get_limited"](store, key)
    outside = tmp_path / "outside"
    inner = outside / "value" if depth == key.rpartition("/")[0] else outside / "c/1/value"
    inner.parent.mkdir(parents=True)
    inner.write_bytes(b"outside")
    folder = os.path.join(store.path, depth)
    shutil.rmtree(folder)
    os.symlink(outside, folder)
    if operation.startswith("erase_prefix") and (depth != "a" or "all" in operation):  # the link
        OPERATIONS[operation](store, key)
    else:
        with pytest.raises(StoreReadError, match="leads out of the store"):
            OPERATIONS[operation](store, key)
    assert inner.read_bytes() == b"outside"
    assert [path.name for path in inner.parent.iterdir()] == ["value"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_directory_that_becomes_a_link_at_any_moment_of_an_operation_never_leads_outside(
    store, tmp_path, operation
):
    key = "a/c/1/value"
    folder = os.path.join(store.path, "a")
    outside = tmp_path / "outside"
    (outside / "c" / "1").mkdir(parents=True)
    for name in ("value", "other"):
        (outside / "c" / "1" / name).write_bytes(b"outside")
    remaining = [-1]  # events until the directory is replaced

    def hook(event, arguments):
        if remaining[0] >= 0 and event.startswith(("open", "os.", "fcntl.")):
            remaining[0] -= 1
            if remaining[0] < 0:
                os.rename(folder, tmp_path / f"away{number}")
                os.symlink(outside, folder)

    sys.addaudithook(hook)
    for number in range(100):
        store.set(key, b"inside")
        remaining[0] = number
        result = None
        with suppress(StoreError, FileNotFoundError):
            result = OPERATIONS[operation](store, key)
        is_complete = remaining[0] >= 0
        remaining[0] = -1
        if isinstance(result, ByteReader):
            result = result.read(0, result.size)
        names = [[key], [], ["a/c/1/other", key], [key, "a/c/1/other"]]  # listing reads no values
        assert result in (None, b"inside", True, 6, *names)
        found = {path.name: path.read_bytes() for path in (outside / "c" / "1").iterdir()}
        assert found == {"value": b"outside", "other": b"outside"}
        if is_complete:
            break
        if os.path.islink(folder):
            os.unlink(folder)
    assert is_complete


def test_a_directory_that_is_replaced_by_another_is_used(store):
    store.set("a/k", b"old")
    os.rename(os.path.join(store.path, "a"), os.path.join(store.path, "b"))
    os.mkdir(os.path.join(store.path, "a"))
    assert store.get("a/k") is None
    store.set("a/k", b"new")
    assert (store.get("a/k"), store.get("b/k")) == (b"new", b"old")


def test_a_store_whose_own_path_is_a_link_is_emptied(store, tmp_path):
    store.set("a/k", b"v")
    os.symlink(store.path, tmp_path / "link")
    LocalStore(tmp_path / "link").erase_prefix("")
    assert list(store.list()) == []
    assert (tmp_path / "link").is_symlink()
