"""From whatever names a place to a store with a path in it."""

import os
import types
from collections import OrderedDict, UserDict
from pathlib import Path

import pytest
import zarr_core as zarr
from zarr_core.config import config
from zarr_core.errors import NodeNameError, StoreError, UnknownExtensionError
from zarr_core.hierarchy.location import locate
from zarr_core.stores.mapping import MappingStore


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


@pytest.mark.parametrize("place", [5, b"path", object(), ["a"], Path, {"a"}])
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
    ("url", "name"),
    [
        ("s3x://b/k", "'s3x'"),
        ("s3x+y://b/k", "'s3x'"),
        ("s3x://[::1]/k", "'s3x'"),
        ("s3x://b/a::b", "'s3x'"),
    ],
)
def test_urls_of_stores_that_are_not_installed(url, name):
    with pytest.raises(UnknownExtensionError, match=rf"{name}.*fsspec\+s3x://"):
        zarr.open(url)


def test_mappings_of_other_kinds():
    for mapping in (UserDict(), OrderedDict()):
        store = locate(mapping)[0]
        assert type(store) is MappingStore
        assert store == locate(mapping)[0]
        zarr.create_array(mapping, data=[1, 2])
        assert "zarr.json" in mapping
        assert locate(mapping, read_only=True)[0].read_only
    shown = types.MappingProxyType(dict(mapping))
    assert locate(shown)[0].read_only
    assert zarr.open(shown, mode="r")[1] == 2


BOX = """
from zarr_core import MemoryStore

class Box(MemoryStore):
    asked = []

    @classmethod
    def from_url(cls, url, *, read_only=False, **options):
        box = cls({}, read_only)
        box.given = (url, options)
        return box

    @classmethod
    def from_object(cls, place, *, read_only=False):
        cls.asked.append(type(place).__name__)
        return None if place.values is None else cls(place.values, read_only)
"""
FOREIGN = """
class Thing:
    def __init__(self, values):
        self.values = values

class PathThing(Thing):
    def __fspath__(self):
        return "from a path"
"""


@pytest.fixture
def boxes(install, tmp_path):
    """A store for the objects of a package, and one of its scheme for a single module."""
    install(
        "acme-box",
        {"store": {"foreign_lib": "acme_box:Box", "box": "acme_box:Box"}},
        {"acme_box.py": BOX, "foreign_lib/__init__.py": "", "foreign_lib/deep.py": FOREIGN},
    )


def test_objects_of_other_libraries(boxes, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    from foreign_lib.deep import PathThing, Thing

    class Mine(Thing):
        """A class of the user's that is derived from theirs."""

    for kind in (Thing, Mine, PathThing):
        thing = kind({})
        store, path = locate(thing, "a", read_only=True)
        assert (type(store).__name__, path, store.read_only) == ("Box", "a", True)
        zarr.create_group(thing)
        assert list(thing.values) == ["zarr.json"]
    assert locate(PathThing(None))[0] == zarr.LocalStore("from a path")
    with pytest.raises(StoreError, match="is no place for a hierarchy"):
        locate(Thing(None))
    with pytest.raises(StoreError, match="storage_options go with a URL"):
        locate(Thing({}), storage_options={"a": 1})


def test_nobody_is_asked_about_objects_of_others(boxes):
    import acme_box

    for place in (UserDict(), Path("x"), None, {}, "x"):
        locate(place)
    with pytest.raises(StoreError):
        locate(types.SimpleNamespace())
    assert acme_box.Box.asked == []


def test_a_store_can_be_asked_for_by_its_name(boxes):
    assert locate("box+s3://b/k")[0].given == ("box+s3://b/k", {})
    assert locate("box+a+b://b/k", storage_options={"x": 1})[0].given[1] == {"x": 1}


def test_a_name_that_is_no_suffix(boxes, tmp_path):
    import acme_box

    acme_box.Box.is_for = classmethod(lambda cls, path: path.endswith("yes.box"))
    assert type(locate(tmp_path / "yes.box")[0]).__name__ == "Box"
    assert isinstance(locate(tmp_path / "no.box")[0], zarr.LocalStore)
    assert type(locate("box://there/no.box")[0]).__name__ == "Box"


def test_a_scheme_may_have_a_plus(install):
    install(
        "acme-box",
        {"store": {"box+ssl": "acme_box:Box", "box": "acme_box:None"}},
        {"acme_box.py": BOX},
    )
    assert locate("box+ssl://b/k")[0].given == ("box+ssl://b/k", {})


def test_chains_of_urls_are_for_fsspec():
    class Chained(zarr.MemoryStore):
        from_url = classmethod(lambda cls, url, *, read_only=False, **_: cls({"url": url}))

    with zarr.extensions({"store": {"fsspec": Chained}}):
        for url in ("simplecache::s3://b/k", "zip://inner::https://host/x.zip", "a::b::file:///x"):
            assert locate(url)[0]._mapping == {"url": url}


def test_what_would_take_an_object_is_said():
    for module, distribution in (
        ("zarr.abc.store", "zarr-bridge"),
        ("fsspec.mapping", "zarr-stores"),
    ):
        thing = type("Thing", (), {"__module__": module})()
        with config.set(disabled_plugins={"*"}), pytest.raises(StoreError, match=distribution):
            locate(thing)


def test_paths_that_break_the_grammar():
    for path in ("a/..", "../x", "a/./b", "a\0b"):
        with pytest.raises(NodeNameError):
            locate({}, path)
    with pytest.raises(TypeError, match="a path of a node is a string"):
        locate({}, 5)


def test_a_message_about_an_unknown_scheme_tells_no_secret():
    with pytest.raises(zarr.errors.UnknownExtensionError) as caught:
        zarr.open("nobodys://me:pass@word/slash@host/place?token=hidden")
    assert "host/place" in str(caught.value)
    assert not {"pass", "word", "hidden"} & set(str(caught.value).replace("@", "/").split("/"))
    assert "hidden" not in str(caught.value)
