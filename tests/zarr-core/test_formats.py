"""Detection of the format of a node."""

import re
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core import config
from zarr_core.errors import (
    ExtensionLoadError,
    MetadataValidationError,
    NodeExistsError,
    NodeNotFoundError,
    UnknownExtensionError,
)
from zarr_core.formats.detect import conflicting_format, read_node
from zarr_core.registry.resolve import format_named
from zarr_core.stores.memory import MemoryStore

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "acme-npy" / "src")


@pytest.fixture
def acme(install, monkeypatch):
    """A hierarchy of the format of examples/acme-npy, which is installed."""
    monkeypatch.syspath_prepend(EXAMPLE)
    points = {
        "format": {"acme-npy": "acme_npy:Npy"},
        "codec": {"acme.npy": "acme_npy.codec:NpyCodec"},
    }
    install("acme-formats", points)
    root = zarr.create_group(zarr_format="acme-npy", attributes={"acme": True})
    for name in ("one", "two"):
        root.create_group(name)
    return root.store


def test_nothing_found_says_what_was_looked_for():
    with pytest.raises(NodeNotFoundError, match=r"looked for zarr\.json.*create_array"):
        read_node(MemoryStore(), "a")


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (".zarray", "v2"),
        (".zgroup", "v2"),
        (".zattrs", "v2"),
        ("meta", "v1"),
        ("attributes.json", "n5"),
    ],
)
def test_nodes_of_formats_that_are_not_installed_are_named(key, name):
    store = MemoryStore({f"a/{key}": b"{}"})
    with (
        config.set(disabled_plugins={"zarr-formats"}),
        pytest.raises(NodeNotFoundError, match=f"the format '{name}'.*pip install zarr-formats"),
    ):
        read_node(store, "a")


@pytest.mark.parametrize(
    "version",
    ["https://purl.org/zarr/spec/core/3.0", "https://purl.org/zarr/spec/protocol/core/3.0"],
)
def test_a_draft_of_version_3_is_an_error_without_its_format(version):
    store = MemoryStore({"zarr.json": b'{"zarr_format": "%s"}' % version.encode()})
    with (
        config.set(disabled_plugins={"zarr-formats"}),
        pytest.raises(MetadataValidationError, match=f'/zarr_format: must be 3, not "{version}"'),
    ):
        read_node(store, "")


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ([], "Nothing is stored here: check the path"),
        (["a/notes.txt"], r"1 other key or prefix here, such as 'notes\.txt'"),
        (["a/x.h5", "a/b/c"], r"2 other keys or prefixes here, such as 'b/'"),
    ],
)
def test_existing_node_type_is_reported(keys, sentence):
    with pytest.raises(NodeNotFoundError, match=sentence):
        read_node(MemoryStore(dict.fromkeys(keys, b"")), "a")


@pytest.mark.parametrize(
    ("stored", "given", "key"),
    [(2, 3, ".zgroup"), (3, 2, "zarr.json"), ("n5", 3, "attributes.json")],
)
@pytest.mark.parametrize("path", ["", "a"])
def test_a_node_of_another_format_than_requested_is_reported(stored, given, key, path):
    store = MemoryStore()
    zarr.create_group(store, path=path, zarr_format=stored)
    found = re.escape(f"{path}/{key}" if path else key)
    name = stored if stored == "n5" else f"v{stored}"
    sentence = rf"The key '{found}' belongs to the format '{name}': leave out zarr_format"
    with pytest.raises(NodeNotFoundError, match=sentence):
        zarr.open(store, path=path, zarr_format=given)


def test_a_format_is_found_by_its_entry_point(acme, monkeypatch):
    group = zarr.open(acme)
    assert group.attrs.asdict() == {"acme": True}
    assert [key for key in acme.list() if "/" not in key] == ["blocks.json"]
    assert list(group) == ["one", "two"]
    listed = acme.list_dir("")
    acme.erase("two/blocks.json")  # a node may be removed after it was listed
    monkeypatch.setattr(acme, "list_dir", lambda prefix: listed)
    assert [path for path, _ in group.members()] == ["one"]


def test_version_3_is_found_first(acme):
    store = zarr.MemoryStore()
    zarr.create_array(store, path="x", data=np.arange(3))
    store.set("blocks.json", acme.get("blocks.json"))
    assert zarr.open(store).attrs == {}
    assert zarr.open(store, zarr_format="acme-npy").attrs == {"acme": True}


def test_a_new_node_has_the_format_of_its_hierarchy(acme):
    before = sorted(acme.list())
    for path in ("", "x", "x/y"):
        match = "format acme-npy, which conflicts with a node of v3"
        with pytest.raises(NodeExistsError, match=match):
            zarr.create_group(acme, path=path, zarr_format=3)
    assert sorted(acme.list()) == before


def test_a_broken_format_harms_only_its_own_nodes(install):
    install("bad-format", {"format": {"bad": "bad_format:Bad"}}, {"bad_format.py": "1/0"})
    store = MemoryStore()
    zarr.create_group(store, path="g")
    assert zarr.open(store, path="g").path == "g"
    with pytest.raises(NodeNotFoundError, match="'bad' could not be tried.*bad-format"):
        zarr.open(store, path="h")
    with pytest.raises(ExtensionLoadError, match="bad-format"):
        zarr.open(store, path="h", zarr_format="bad")


def test_an_unknown_format_says_what_to_install():
    with (
        config.set(disabled_plugins={"zarr-formats"}),
        pytest.raises(UnknownExtensionError, match="zarr-formats"),
    ):
        format_named(2)


def test_document_without_format_is_reported():
    with pytest.raises(TypeError, match="number or the name of a format"):
        zarr.create_array(shape=3, zarr_format=zarr.MemoryStore)


class FaultyStore(MemoryStore):
    def __init__(self, times, suffix="", values=None):
        super().__init__(values)
        self.times, self.suffix = times, suffix

    def get(self, key):
        if not key.endswith(self.suffix) or not self.times:
            return super().get(key)
        self.times -= 1
        raise ModuleNotFoundError("No module named 'acme_client'")


@pytest.mark.parametrize("times", [1, 99])
@pytest.mark.parametrize("mode", [None, "r", "r+", "a"])
@pytest.mark.parametrize("zarr_format", [None, 3])
def test_unexpected_store_error_is_not_attributed_to_a_format(mode, zarr_format, times):
    store = FaultyStore(times)
    with pytest.raises(ModuleNotFoundError, match="acme_client"):
        zarr.open_array(store, mode, path="a", zarr_format=zarr_format)
    assert not list(store.list())


@pytest.mark.parametrize("times", [1, 99])
@pytest.mark.parametrize("key", [".zarray", "attributes.json"])
def test_unexpected_store_error_is_not_hidden_by_format_detection(key, times):
    with pytest.raises(ModuleNotFoundError, match="acme_client"):
        conflicting_format(FaultyStore(times, key, {"a": b""}), "", format_named(3))
