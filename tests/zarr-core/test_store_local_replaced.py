"""Directories of a local store that are replaced by links while the store is used."""

import logging
import os
import shutil
import sys
import time

import pytest
from store_contract import get_into
from zarr_core.errors import StoreReadError
from zarr_core.stores.local import LocalStore

OPERATIONS = {
    "get": lambda store, key: store.get(key),
    "get_limited": lambda store, key: get_into(store, key, memoryview(bytearray(9))),
    "exists": lambda store, key: store.exists(key),
    "getsize": lambda store, key: store.getsize(key),
    "open_value": lambda store, key: store.open_value(key),
    "set": lambda store, key: store.set(key, b"written"),
    "update": lambda store, key: store.update(key, lambda reader: b"updated"),
    "erase": lambda store, key: store.erase(key),
    "list": lambda store, key: list(store.list_prefix(key.rpartition("/")[0] + "/")),
    "erase_prefix": lambda store, key: store.erase_prefix(key.rpartition("/")[0] + "/"),
}


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "store")


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
    time.sleep(0.001)  # a directory is not compared for each of many small chunks
    if operation == "erase_prefix" and depth != "a":  # removes the link
        OPERATIONS[operation](store, key)
    else:
        with pytest.raises(StoreReadError, match="leads out of the store"):
            OPERATIONS[operation](store, key)
    assert inner.read_bytes() == b"outside"
    assert [path.name for path in inner.parent.iterdir()] == ["value"]


def test_a_directory_that_is_replaced_by_another_is_used(store):
    store.set("a/k", b"old")
    os.rename(os.path.join(store.path, "a"), os.path.join(store.path, "b"))
    os.mkdir(os.path.join(store.path, "a"))
    assert store.get("a/k") is None
    time.sleep(0.001)
    store.set("a/k", b"new")
    assert (store.get("a/k"), store.get("b/k")) == (b"new", b"old")


@pytest.mark.skipif(os.scandir not in os.supports_fd, reason="no descriptors of directories")
def test_removing_a_prefix_does_not_enter_a_link_that_replaces_a_directory(store, tmp_path):
    outside = tmp_path / "outside"
    for name in ("deep", "empty"):
        (outside / name).mkdir(parents=True)
    (outside / "deep" / "kept").write_bytes(b"kept")
    (outside / "kept").write_bytes(b"kept")
    for key in ("a/x", "a/deep/y", "a/deep/deeper/z", "a/empty/x"):
        store.set(key, b"v")
    folder = os.path.join(store.path, "a")
    events = []

    def hook(event, arguments):
        if event == "os.scandir" and active and not events:
            events.append(arguments)
            os.rename(folder, tmp_path / "away")
            os.symlink(outside, folder)

    active = [True]
    sys.addaudithook(hook)
    store.erase_prefix("a/")
    active.clear()
    assert events
    for name in ("kept", "deep/kept", "empty"):
        assert (outside / name).exists()


def test_names_in_the_log_do_not_forge_lines(store, caplog):
    store.set("a\nb/k", b"v")
    old = os.path.join(store.path, "a\nb", ".k.4000000-1.zarr-partial")
    with open(old, "wb"):
        os.utime(old, (0, 0))
    with caplog.at_level(logging.INFO, "zarr_core.recovery"):
        assert store.sweep() == 1
    [record] = caplog.records
    assert "\n" not in record.getMessage()
    assert "a\\nb" in record.getMessage()


def test_a_store_whose_own_path_is_a_link_is_emptied(store, tmp_path):
    store.set("a/k", b"v")
    os.symlink(store.path, tmp_path / "link")
    LocalStore(tmp_path / "link").erase_prefix("")
    assert list(store.list()) == []
    assert (tmp_path / "link").is_symlink()
