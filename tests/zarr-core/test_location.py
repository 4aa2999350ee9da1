"""Resolution of all forms of locations to a store and a path."""

import os
import pickle
import pwd
import types
from collections import OrderedDict, UserDict
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import NodeNotFoundError, StoreError, UnknownExtensionError
from zarr_core.extension import Location
from zarr_core.hierarchy.store_path import resolve_store_path
from zarr_core.registry.resolve import create_extension
from zarr_core.stores.memory import MemoryStore


def test_paths_and_urls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("x", "./x", str(tmp_path / "x"), tmp_path / "x", (tmp_path / "x").as_uri()):
        store, path = resolve_store_path(place)
        assert (store, path) == (zarr.LocalStore(tmp_path / "x"), "")
    assert resolve_store_path("x.zarr")[0] == zarr.LocalStore(tmp_path / "x.zarr")
    assert resolve_store_path("x.dat", "/a/b/")[1] == "a/b"
    assert not list(tmp_path.iterdir())
    assert resolve_store_path("x", read_only=True)[0].read_only
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="not a directory"):
        resolve_store_path("file")
    with pytest.raises(StoreError, match="not the path of a directory"):
        resolve_store_path("")


def test_memory():
    first, second = resolve_store_path(None)[0], resolve_store_path(None)[0]
    assert first != second
    mapping = {}
    assert (
        resolve_store_path(mapping)[0]
        == resolve_store_path(mapping)[0]
        == zarr.MemoryStore(mapping)
    )
    assert resolve_store_path(mapping, read_only=True)[0].read_only
    assert resolve_store_path("memory://shared")[0] == resolve_store_path("memory://shared")[0]
    zarr.create_group(mapping)
    assert list(mapping) == ["zarr.json"]


def test_stores_and_nodes_are_taken_as_they_are():
    store = zarr.MemoryStore()
    assert resolve_store_path(store, "a", read_only=True) == (store, "a")
    assert resolve_store_path(store)[0] is store
    group = zarr.create_group(store, path="a")
    assert resolve_store_path(group, "b") == (store, "a/b")
    assert resolve_store_path(group)[0] is store


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
    def from_object(cls, place, *, read_only=False, **options):
        if isinstance(place, str):
            return cls.from_url(place) if place.endswith("yes.box") else None
        cls.asked.append(type(place).__name__)
        return None if place.values is None else cls(place.values, read_only)
"""


def test_the_store_of_a_suffix(tmp_path, install):
    source, _, _ = BOX.partition("    @classmethod\n    def from_object")
    install(
        "acme-box",
        {"store": dict.fromkeys(["box", "zip"], "acme_box:Box")},
        {"acme_box.py": source},
    )
    store = resolve_store_path(tmp_path / "x.BOX", storage_options={"key": 1})[0]
    assert store.given == (str(tmp_path / "x.BOX"), {"key": 1})
    assert resolve_store_path("box://there/x", read_only=True)[0].read_only
    (tmp_path / "dir.box").mkdir()
    assert isinstance(resolve_store_path(tmp_path / "dir.box")[0], zarr.LocalStore)
    assert isinstance(resolve_store_path(tmp_path / "x.other")[0], zarr.LocalStore)


def test_options_go_with_urls(tmp_path):
    for place in ({}, None, zarr.create_group):
        with pytest.raises(StoreError):
            resolve_store_path(place, storage_options={"a": 1})
    for given in (tmp_path / "x", str(tmp_path / "x"), (tmp_path / "x").as_uri()):
        assert resolve_store_path(given, storage_options={"fsync": True})[0]
        with pytest.raises(StoreError, match="has no options a"):
            resolve_store_path(given, storage_options={"a": 1})
    for given in (zarr.MemoryStore(), zarr.create_group()):
        with pytest.raises(StoreError, match="storage_options requires a URL"):
            zarr.open(given, "a", storage_options={"a": 1})


@pytest.mark.parametrize("place", [5, b"path", object(), ["a"], Path, {"a"}])
def test_invalid_location(place):
    with pytest.raises(StoreError, match="cannot open a store from"):
        resolve_store_path(place)


class Bytes(os.PathLike):
    def __fspath__(self):
        return b"path"


def test_paths_of_bytes():
    with pytest.raises(StoreError, match="not bytes"):
        resolve_store_path(Bytes())


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
        store = resolve_store_path(mapping)[0]
        assert type(store) is zarr.MemoryStore
        assert store == resolve_store_path(mapping)[0]
        zarr.create_array(mapping, data=[1, 2])
        assert "zarr.json" in mapping
        assert resolve_store_path(mapping, read_only=True)[0].read_only
    shown = types.MappingProxyType(dict(mapping))
    assert resolve_store_path(shown)[0].read_only
    assert zarr.open(shown, mode="r")[1] == 2


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
        """A user class derived from a class of the package."""

    for kind in (Thing, Mine, PathThing):
        thing = kind({})
        store, path = resolve_store_path(thing, "a", read_only=True)
        assert (type(store).__name__, path, store.read_only) == ("Box", "a", True)
        zarr.create_group(thing)
        assert list(thing.values) == ["zarr.json"]
    assert resolve_store_path(PathThing(None))[0] == zarr.LocalStore("from a path")
    with pytest.raises(StoreError, match="cannot open a store from"):
        resolve_store_path(Thing(None))
    with pytest.raises(StoreError, match="storage_options requires a URL"):
        resolve_store_path(Thing({}), storage_options={"a": 1})


def test_unrelated_objects_do_not_load_stores(boxes):
    import acme_box

    for place in (UserDict(), Path("x"), None, {}, "x"):
        resolve_store_path(place)
    with pytest.raises(StoreError):
        resolve_store_path(types.SimpleNamespace())
    assert acme_box.Box.asked == []


def test_a_store_can_be_asked_for_by_its_name(boxes):
    assert resolve_store_path("box+s3://b/k")[0].given == ("box+s3://b/k", {})
    assert resolve_store_path("box+a+b://b/k", storage_options={"x": 1})[0].given[1] == {"x": 1}


def test_a_name_that_is_not_a_suffix(boxes, tmp_path):
    assert type(resolve_store_path(tmp_path / "yes.box")[0]).__name__ == "Box"
    assert isinstance(resolve_store_path(tmp_path / "no.box")[0], zarr.LocalStore)
    assert type(resolve_store_path("box://there/no.box")[0]).__name__ == "Box"


def test_a_scheme_may_have_a_plus(install):
    install(
        "acme-box",
        {"store": {"box+ssl": "acme_box:Box", "box": "acme_box:None"}},
        {"acme_box.py": BOX},
    )
    assert resolve_store_path("box+ssl://b/k")[0].given == ("box+ssl://b/k", {})


def test_chains_of_urls_are_for_fsspec():
    class Chained(zarr.MemoryStore):
        from_url = classmethod(lambda cls, url, *, read_only=False, **_: cls({"url": url}))

    with zarr.override_extensions({"store": {"fsspec": Chained}}):
        for url in ("simplecache::s3://b/k", "zip://inner::https://host/x.zip", "a::b::file:///x"):
            assert resolve_store_path(url)[0]._mapping == {"url": url}


def test_installable_store_for_object_is_reported():
    for module, distribution in (
        ("zarr.abc.store", "zarr-bridge"),
        ("fsspec.mapping", "zarr-stores"),
    ):
        thing = type("Thing", (), {"__module__": module})()
        with config.set(disabled_plugins={"*"}), pytest.raises(StoreError, match=distribution):
            resolve_store_path(thing)


def test_unknown_scheme_error_hides_secrets():
    with pytest.raises(zarr.errors.UnknownExtensionError) as caught:
        zarr.open("nobodys://me:pass@word/slash@host/place?token=hidden")
    assert "host/place" in str(caught.value)
    assert not {"pass", "word", "hidden"} & set(str(caught.value).replace("@", "/").split("/"))
    assert "hidden" not in str(caught.value)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home directory; the current directory is another one."""
    for name in ("home", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "home"


def test_the_home_directory_is_expanded(home):
    zarr.create_array("~/x.zarr", data=[1, 2])
    zarr.create_group(Path("~") / "g.zarr")
    zarr.save("~/saved.zarr", np.arange(3))
    zarr.copy(zarr.open("~/x.zarr"), "~/copy.zarr")
    assert sorted(path.name for path in home.iterdir()) == [
        "copy.zarr", "g.zarr", "saved.zarr", "x.zarr",
    ]  # fmt: skip
    assert zarr.open("~/copy.zarr")[:].tolist() == [1, 2]
    assert zarr.open("~/x.zarr").store.path == str(home / "x.zarr")
    assert not os.listdir()


def test_the_home_directory_of_a_user_is_expanded():
    name = pwd.getpwuid(os.getuid()).pw_name
    assert zarr.resolve_store_path(f"~{name}/x")[0].path == os.path.expanduser(f"~{name}/x")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("~no-such-user/x", "this user has no home directory"),
        ("s3:/bucket/x", "a URL has two slashes: 's3://bucket/x'"),
        ("https:/host/x.zarr", "a URL has two slashes"),
        ("file:/tmp/x", "a URL has two slashes: 'file:///tmp/x'"),
        ("s3:/bucket/x.zip", "a URL has two slashes"),
        ("C:/data/x", "only Windows has drives"),
        ("c:\\data\\x", "only Windows has drives"),
    ],
)
def test_misspelt_places_are_rejected(home, text, reason):
    for use in (
        zarr.open,
        zarr.open_group,
        lambda place: zarr.create_array(place, shape=3),
        zarr.create_group,
        lambda place: zarr.save(place, np.arange(3)),
        lambda place: zarr.copy(zarr.create_group(), place),
        lambda place: zarr.open(place, "w"),
    ):
        with pytest.raises(StoreError) as caught:
            use(text)
        assert reason in str(caught.value)
        assert f"write {'./' + text!r}" in str(caught.value)
    assert not os.listdir()


@pytest.mark.parametrize("text", ["./s3:/bucket/x", "./~/x", "./C:/data/x", "a:b", "12:30/x", "x~"])
def test_unusual_names_of_directories_are_accepted(home, text):
    zarr.create_group(text)
    assert os.path.isdir(text)


def test_secrets_of_a_misspelt_url_are_not_shown(home):
    with pytest.raises(StoreError) as caught:
        zarr.open("s3:/key:secret@bucket/x")
    assert "secret" not in str(caught.value)


# --- locations in errors and warnings ---


class CountingStore(MemoryStore):
    """A store that counts how often its text is created; it cannot be pickled."""

    shown = 0

    def __str__(self):
        self.shown += 1
        return "a store"

    def __reduce__(self):
        raise TypeError("cannot be pickled")


@pytest.mark.parametrize(
    ("location", "text"),
    [
        (Location("s", ""), "s '/'"),
        (Location("s", "a/b"), "s '/a/b'"),
        (Location("s", key="a/b/c"), "s 'a/b/c'"),
        (Location("s", "a").at("/codecs").at("/0"), "s '/a' at /codecs/0"),
        (Location("s", "a").document("zarr.json"), "s 'a/zarr.json'"),
        (Location("s", "").document("zarr.json"), "s 'zarr.json'"),
        (Location("new array"), "new array"),
        (Location("new array").document(".zarray"), "new array '.zarray'"),
        (Location(pointer="/codecs/0"), "/codecs/0"),
        (Location(), ""),
    ],
)
def test_text(location, text):
    assert str(location) == text


def test_the_text_is_created_only_for_an_error():
    store = CountingStore()
    group = zarr.create_group(store)
    group.create_array("a", shape=(4,), dtype="i4", attributes={"b": 1})
    zarr.open_array(store, path="a")[:] = 1
    zarr.open_group(store).attrs["c"] = 2
    assert store.shown == 0
    with pytest.raises(NodeNotFoundError, match="^a store '/b'"):
        zarr.open_array(store, path="b")
    assert store.shown


def test_an_error_can_be_pickled_if_its_store_cannot():
    with pytest.raises(NodeNotFoundError) as caught:
        zarr.open_array(CountingStore(), path="b")
    assert pickle.loads(pickle.dumps(caught.value)).location == "a store '/b'"


def test_a_location_without_store_is_relative_to_the_extension_that_is_created():
    class Outer(BytesCodec):
        @classmethod
        def from_definition(cls, definition):
            inner = ExtensionDefinition("acme.inner")
            create_extension("codec", inner, Location(pointer="/configuration/inner"))

    with (
        zarr.override_extensions({"codec": {"acme.outer": Outer}}),
        pytest.raises(zarr.errors.UnknownExtensionError) as caught,
    ):
        create_extension(
            "codec", ExtensionDefinition("acme.outer"), Location("s", "a", pointer="/codecs/0")
        )
    assert caught.value.location == "s '/a' at /codecs/0/configuration/inner"
