"""Symbolic links in the directory of a local store."""

import os
import warnings

import numpy as np
import pytest
import zarr_core as zarr
from store_contract import get_into
from zarr_core.errors import StoreReadError
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
