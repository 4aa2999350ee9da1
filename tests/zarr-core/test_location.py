"""From whatever names a place to a store with a path in it."""

import os
import types
from pathlib import Path

import pytest
import zarr_core as zarr
from zarr_core.errors import NodeNameError, StoreError, UnknownExtensionError
from zarr_core.hierarchy.location import locate


def test_paths_and_urls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("x", "./x", str(tmp_path / "x"), tmp_path / "x", (tmp_path / "x").as_uri()):
        store, path = locate(place)
        assert (store, path) == (zarr.LocalStore(tmp_path / "x"), "")
    assert locate("x.zarr")[0] == zarr.LocalStore(tmp_path / "x.zarr")
    assert locate("x.dat", "/a/b/")[1] == "a/b"
    assert not list(tmp_path.iterdir())
    assert locate("x", read_only=True)[0].read_only
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="not a directory"):
        locate("file")
    with pytest.raises(StoreError, match="not the path of a directory"):
        locate("")


def test_memory():
    first, second = locate(None)[0], locate(None)[0]
    assert first != second
    mapping = {}
    assert locate(mapping)[0] == locate(mapping)[0] == zarr.MemoryStore(mapping)
    assert locate(mapping, read_only=True)[0].read_only
    assert locate("memory://shared")[0] == locate("memory://shared")[0]
    zarr.create_group(mapping)
    assert list(mapping) == ["zarr.json"]


def test_stores_and_nodes_are_taken_as_they_are():
    store = zarr.MemoryStore()
    assert locate(store, "a", read_only=True) == (store, "a")
    assert locate(store)[0] is store
    group = zarr.create_group(store, path="a")
    assert locate(group, "b") == (store, "a/b")
    assert locate(group)[0] is store


def test_the_store_of_a_suffix(tmp_path, install):
    install(
        "acme-box",
        {"store": {"box": "acme_box:Box", "zip": "acme_box:Box"}},
        {
            "acme_box.py": "from zarr_core import MemoryStore\n"
            "class Box(MemoryStore):\n"
            "    @classmethod\n"
            "    def from_url(cls, url, *, read_only=False, **options):\n"
            "        box = cls({}, read_only)\n"
            "        box.given = (url, options)\n"
            "        return box\n"
        },
    )
    store = locate(tmp_path / "x.BOX", storage_options={"key": 1})[0]
    assert store.given == (str(tmp_path / "x.BOX"), {"key": 1})
    assert locate("box://there/x", read_only=True)[0].read_only
    (tmp_path / "dir.box").mkdir()
    assert isinstance(locate(tmp_path / "dir.box")[0], zarr.LocalStore)
    assert isinstance(locate(tmp_path / "x.other")[0], zarr.LocalStore)


def test_options_go_with_urls(tmp_path):
    for place in ({}, None, zarr.create_group):
        with pytest.raises(StoreError):
            locate(place, storage_options={"a": 1})
    with pytest.raises(StoreError, match="not with a path"):
        locate(tmp_path / "x", storage_options={"a": 1})
    assert locate((tmp_path / "x").as_uri(), storage_options={"fsync": True})[0]
    with pytest.raises(StoreError, match="has no options a"):
        locate((tmp_path / "x").as_uri(), storage_options={"a": 1})
    for given in (zarr.MemoryStore(), zarr.create_group()):
        with pytest.raises(StoreError, match="storage_options go with a URL"):
            zarr.open(given, "a", storage_options={"a": 1})


@pytest.mark.parametrize("place", [5, b"path", object(), types.MappingProxyType({}), ["a"], Path])
def test_what_is_no_place(place):
    with pytest.raises(StoreError, match="is no place for a hierarchy"):
        locate(place)


class Bytes(os.PathLike):
    def __fspath__(self):
        return b"path"


def test_paths_of_bytes():
    with pytest.raises(StoreError, match="not bytes"):
        locate(Bytes())


@pytest.mark.parametrize(
    ("url", "name"), [("s3x://b/k", "s3x"), ("simplecache::s3x://b/k", "simplecache::s3x")]
)
def test_urls_of_stores_that_are_not_installed(url, name):
    with pytest.raises(UnknownExtensionError, match=name):
        zarr.open(url)


def test_paths_that_break_the_grammar():
    for path in ("a/..", "../x", "a/./b", "a\0b"):
        with pytest.raises(NodeNameError):
            locate({}, path)
    with pytest.raises(TypeError, match="a path of a node is a string"):
        locate({}, 5)
