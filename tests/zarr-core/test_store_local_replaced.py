"""Directories of a local store that are replaced by links while the store is used."""

import os
import shutil
import sys
from contextlib import suppress

import pytest
from zarr_core.errors import StoreError, StoreReadError
from zarr_core.interfaces.byte_reader import ByteReader
from zarr_core.stores import local_files
from zarr_core.stores.local import LocalStore

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


@pytest.fixture(params=["one call", "directory after directory"])
def store(request, tmp_path, monkeypatch):
    if request.param != "one call":
        monkeypatch.setattr(local_files, "openat2", None)
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
