"""Metadata documents are written last and removed first, in every format."""

import json
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from failing_store import FailingStore
from zarr_core import MemoryStore
from zarr_core.errors import ZarrError
from zarr_core.extension import Format
from zarr_core.formats.key_order import KeyOrder, key_order
from zarr_core.formats.v3 import V3
from zarr_core.registry.overrides import override_extensions
from zarr_core.registry.resolve import format_named

EXAMPLE = Path(__file__).parents[2] / "examples" / "acme-npy" / "src"


@pytest.fixture
def extensions(monkeypatch):
    """The format of examples/acme-npy, with metadata documents ``blocks.json``, and its codec."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    from acme_npy import Npy
    from acme_npy.codec import NpyCodec

    return {"format": {"acme-npy": Npy}, "codec": {"acme.npy": NpyCodec}}


@pytest.fixture
def acme(extensions):
    with override_extensions(extensions):
        yield


def hierarchy(place=None):
    root = zarr.create_group(place, zarr_format="acme-npy")
    for path in ("g/a", "g/h/b", "g/h/c", "z"):
        root.create_array(path, data=np.arange(6), chunks=1)
    return root


@pytest.fixture(params=[None, 8], ids=["at once", "in flight"])
def root(acme, request):
    store = CountingStore(hierarchy().store)
    store.max_concurrency = request.param
    return zarr.open_group(store, "r+")


def is_document(key):
    return key.endswith("blocks.json")


def in_order(keys):
    """The distinct keys in order; the documents must be adjacent, before or after all others."""
    met = list(dict.fromkeys(keys))
    documents = [key for key in met if is_document(key)]
    depths = [key.count("/") for key in documents]
    return met, documents, depths


def removed_first(store, below="g/"):
    met, documents, depths = in_order(store.keys("erase", "erase_values"))
    assert met[: len(documents)] == documents
    assert documents[0] == f"{below}blocks.json"
    assert depths == sorted(depths)
    assert not list(store.list_prefix(below))
    return documents


def written_last(store, keys=None):
    met, documents, depths = in_order(store.keys("set", "update") if keys is None else keys)
    assert met[len(met) - len(documents) :] == documents
    assert depths == sorted(depths, reverse=True)
    return documents


ERASING = {
    "item": lambda root: root.__delitem__("g"),
    "remove": lambda root: zarr.remove(root["g"]),
    "rmdir": lambda root: zarr.rmdir(root["g"]),
    "rmdir of a store": lambda root: zarr.rmdir(root.store, "g"),
}


@pytest.mark.parametrize("how", ERASING)
def test_removing(root, how):
    ERASING[how](root)
    assert len(removed_first(root.store)) == 5
    assert list(root) == ["z"]


def test_overwriting(root):
    root.create_group("g", overwrite=True)
    erased = root.store.keys("erase", "erase_values")
    documents = [key for key in dict.fromkeys(erased) if is_document(key)]
    assert list(dict.fromkeys(erased))[: len(documents)] == documents
    assert len(documents) == 5
    assert list(root["g"]) == []


@pytest.mark.parametrize("requests", [None, 8])
def test_copying_keys(root, requests):
    dest = CountingStore(zarr.MemoryStore())
    dest.max_concurrency = requests
    zarr.copy_store(root.store, dest)
    assert len(written_last(dest)) == 7
    assert zarr.open(dest)["g/h/b"][...].tolist() == [*range(6)]


def whole(root, path):
    node = root[path] if path else root
    if isinstance(node, zarr.Array):
        return [node] if node[...].tolist() == [*range(6)] else []
    return [node, *(found for name in node for found in whole(node, name))]


def test_copying_nodes(root):
    dest = CountingStore(zarr.MemoryStore())
    zarr.copy(root["g"], dest)
    stored = dest.keys("set", "update")
    for path in ("a", "h/b", "h/c"):
        own = [key for key in stored if key.startswith(f"{path}/")]
        assert len(written_last(dest, own)) == 1
    assert stored[-2:] == ["h/blocks.json", "blocks.json"]


@pytest.mark.parametrize("function", [False, True])
def test_moving(root, function):
    dest = CountingStore(zarr.MemoryStore())
    if function:
        zarr.move(root["g"], zarr.create_group(dest, zarr_format="acme-npy"))
    else:
        dest = root.store
        root.move("g", "moved/here")
    stored = [key for key in dest.keys("set", "update") if key.count("/") > 1 or function]
    assert is_document(stored[-1])
    assert len(removed_first(root.store)) == 5


@pytest.mark.parametrize("how", ["erase", "move", "copy_store", "rmdir"])
def test_state_after_interruption_is_consistent(acme, how):
    work = {
        "erase": lambda store, _: zarr.open_group(store, "r+").__delitem__("g"),
        "move": lambda store, _: zarr.open_group(store, "r+").move("g", "new/place"),
        "copy_store": lambda store, dest: zarr.copy_store(store, dest),
        "rmdir": lambda store, _: zarr.rmdir(store, "g"),
    }[how]
    steps = 1
    while True:
        source, dest = hierarchy().store, zarr.MemoryStore()
        failing = FailingStore(source, steps, forever=True)
        try:
            work(failing, dest)
        except (ZarrError, OSError):
            pass
        else:
            break
        for store in (source, dest):
            for path in ("", "g", "new", "new/place"):
                try:
                    node = zarr.open_group(store, "r", path=path)
                except ZarrError:
                    continue
                for _, array in node.arrays(None):
                    assert array[...].tolist() == [*range(6)], (steps, path, array.path)
        steps += 1
    assert steps > (5 if how == "rmdir" else 10)


def test_documents_of_all_installed_formats():
    order = key_order()
    documents = [
        "zarr.json", "a/zarr.json", "a/.zarray", "a/.zgroup", "a/.zattrs", ".zmetadata",
        "a/attributes.json", "a/meta", "a/attrs", "meta/root/a/b.array.json",
        "meta/root/a.group.json", "meta/a.array.json", "x/meta/a.group.json",
    ]  # fmt: skip
    assert [key for key in documents if not order.is_document(key)] == []
    others = ["a/c/0", "a/0.0", "a/zarr.json/0", "a.zarr.json", "data/a.array.json", "blocks.json"]
    assert [key for key in others if order.is_document(key)] == []


def test_a_document_that_makes_a_node_comes_after_those_next_to_it():
    values, steps = KeyOrder([format_named("v2")]).to_write(
        ["a/.zarray", "a/.zattrs", "a/0", ".zgroup", ".zattrs", "zarr.json"]
    )
    assert values == ["a/0", "zarr.json"]
    assert steps == [["a/.zattrs"], ["a/.zarray"], [".zattrs"], [".zgroup"]]


def test_documents_next_to_the_folder_of_a_node():
    class Beside(Format):
        detection_keys: ClassVar = ("{}.node",)

        def documents(self, path):
            return (f"tree/{path or 'root'}.node", f"tree/{path or 'root'}.more")

    Beside.__abstractmethods__ = frozenset()
    order = KeyOrder([Beside()])
    keys = ["tree/a/b.node", "tree/a.more", "tree/root.node", "tree/a/b.png", "data/a.node"]
    assert [key for key in keys if order.is_document(key)] == keys[:3]


def test_a_format_given_for_one_node_counts(extensions):
    with override_extensions(extensions):
        store = CountingStore(hierarchy().store)
        root = zarr.open_group(store, "r+", extensions=extensions)
    del root["g"]  # outside the block
    assert len(removed_first(store)) == 5


# --- keys that belong to a node of version 2 or 3, and unmanaged keys ---


GROUP = b'{"zarr_format": 3, "node_type": "group"}'
ARRAY = json.dumps(
    {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [1],
        "data_type": "int8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
        "chunk_key_encoding": "default",
        "fill_value": 0,
        "codecs": ["bytes"],
    }
).encode()
NODES = {
    "zarr.json": GROUP,
    ".zgroup": b"",
    ".zmetadata": b"",
    "a/zarr.json": ARRAY,
    "a/c/0": b"",
    "a/c/7": b"",
    "a/.DS_Store": b"",
    "b/.zarray": b"",
    "b/.zattrs": b"",
    "b/0": b"",
    "b/12.0.3": b"",
    "b/12/0/3": b"",
    "c/damaged/zarr.json": b"",
    "c/c/0/0": b"",
    "c/c.0.0": b"",
}


def found(*keys, path=""):
    return V3().find_unmanaged_key(MemoryStore(NODES | dict.fromkeys(keys, b"")), path)


def test_parts_of_nodes():
    assert found() is None


@pytest.mark.parametrize(
    "key",
    [
        "notes.txt",
        "a/notes.txt",
        "a/sub/0.csv",
        "0.0",
        "b/0.x",
        "b/0./1",
        "b/0.1/2",
        "b/.zarray.bak",
        "b/notes",
        "b/0/.hidden",
        "bb/0.0",
        "b/\u0660",
    ],
)
def test_keys_of_something_else(key):
    assert found(key) == key
    assert found(key, path="a") == (key if key.startswith("a/") else None)


def test_only_below_the_prefix():
    assert found("x/y", path="b") is None
    assert found("b/y", path="b") == "b/y"
