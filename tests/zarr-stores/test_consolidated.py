import json
import pickle

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from store_contract import get_into
from zarr_core.errors import MetadataError
from zarr_core.extension import ByteRange, NodeNotFoundError, StoreKeyError, StoreReadOnlyError
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.integrity.consolidated import ConsolidatedMetadataStore

DATA = np.arange(12, dtype="i4").reshape(3, 4)


@pytest.fixture(params=[2, 3])
def inner(request):
    """A hierarchy in one of the two formats, with consolidated metadata."""
    store = CountingStore(MemoryStore())
    root = zarr.create_group(store, zarr_format=request.param, attributes={"title": "t"})
    root.create_group("g").create_array("a", data=DATA, chunks=(2, 4))
    root.create_array("b", data=DATA[0])
    zarr.consolidate_metadata(store)
    return store


@pytest.fixture
def documents(inner):
    return sorted(key for key in inner.list() if key.rpartition("/")[2][:2] in (".z", "za"))


def test_documents_are_read_from_consolidated_metadata(inner, documents):
    inner.calls.clear()
    store = ConsolidatedMetadataStore(inner)
    assert inner.count() <= 2
    inner.calls.clear()
    read = [key for key in documents if key != ".zmetadata"]
    for key in read:
        value = store.get(key)
        assert store.exists(key)
        assert store.getsize(key) == len(value)
        assert get_into(store, key, memoryview(bytearray(5))) == len(value)
        assert bytes(store.get_partial_values([(key, ByteRange(-1))])[0]) == b"}"
        with store.open_value(key, ByteRange(0)) as reader:
            assert bytes(reader.read(0, 1)) == b"{"
        assert store.generation(key) == store.generation(key)
    assert inner.count() == 0
    for key in read:
        stored = json.loads(bytes(inner.get(key)))
        assert json.loads(bytes(store.get(key))) == stored


def test_a_hierarchy_is_read_through_it(inner):
    store = ConsolidatedMetadataStore(inner)
    inner.calls.clear()
    root = zarr.open_group(store, mode="r", use_consolidated=False)
    assert [path for path, _ in root.members(max_depth=None)] == ["b", "g", "g/a"]
    assert root.attrs["title"] == "t"
    assert all(key.endswith(".zmetadata") for key in inner.keys())  # noqa: SIM118 - of calls
    inner.calls.clear()
    assert np.array_equal(root["g/a"][...], DATA)
    assert sorted(set(inner.keys())) == sorted(
        key for key in inner.list_prefix("g/a/") if key.endswith("0")
    )


def test_missing_documents_cause_no_requests(inner):
    store = ConsolidatedMetadataStore(inner)
    inner.calls.clear()
    name = "zarr.json" if store.exists("zarr.json") else ".zarray"
    assert store.get(f"none/{name}") is None
    assert not store.exists(f"none/{name}")
    assert store.open_value(f"none/{name}") is None
    assert store.generation(f"none/{name}") is None
    assert inner.count() == 0


def test_listing(inner):
    store = ConsolidatedMetadataStore(inner)
    assert sorted(store.list()) == sorted(inner.list())
    assert sorted(store.list_prefix("g/")) == sorted(inner.list_prefix("g/"))
    for prefix in ("g/", "g/a/", "b/", "none/"):
        keys, prefixes = store.list_dir(prefix)
        expected = inner.list_dir(prefix)
        assert (sorted(keys), sorted(prefixes)) == (sorted(expected[0]), sorted(expected[1]))
    name = next(key for key in inner.list_dir("g/a/")[0] if ".z" in key or "zarr" in key)
    inner.inner.erase(name)  # changes of others are not visible
    inner.inner.set(f"new/{name.rpartition('/')[2]}", b"{}")
    assert name in list(store.list())
    assert "new/" not in store.list_dir("")[1]
    assert not any(key.startswith("new/") for key in store.list())


def test_sizes_are_those_of_the_consolidated_documents(inner):
    store = ConsolidatedMetadataStore(inner)
    assert dict(store.list_sizes("")) == {key: store.getsize(key) for key in store.list()}


def test_a_store_that_cannot_be_listed_has_its_groups_listed(inner):
    inner.supports_listing = False
    store = ConsolidatedMetadataStore(inner)
    assert store.supports_listing
    inner.calls.clear()
    assert sorted(store.list_dir("")[1]) == ["b/", "g/"]
    assert all("/c/" not in key for key in store.list())
    root = zarr.open_group(store, mode="r", use_consolidated=False)
    assert sorted(root.keys()) == ["b", "g"]
    assert np.array_equal(root["b"][...], DATA[0])
    assert dict(store.list_sizes("")) == {key: store.getsize(key) for key in store.list()}
    assert inner.count("list_dir", "list_prefix", "list_sizes") == 0


def test_nothing_is_written_through_it(inner):
    store = ConsolidatedMetadataStore(inner)
    for call in (lambda: store.set("k", b""), lambda: store.erase("b/.zarray")):
        with pytest.raises(StoreReadOnlyError):
            call()
    with pytest.raises(StoreKeyError):
        store.get("../zarr.json")
    with pytest.raises(StoreKeyError):
        store.list_dir("../")


def test_consolidated_metadata_of_a_subgroup(tmp_path):
    root = zarr.create_group(LocalStore(tmp_path), zarr_format=3)
    root.create_group("x/y").create_array("a", data=DATA)
    zarr.consolidate_metadata(root.store, "x")
    store = ConsolidatedMetadataStore(root.store, "x/zarr.json")
    assert np.array_equal(zarr.open_array(store, path="x/y/a", mode="r")[...], DATA)
    assert zarr.open_group(store, mode="r", use_consolidated=False).attrs == {}
    other = pickle.loads(pickle.dumps(store))
    assert other == store == root.store
    assert other.get("x/y/zarr.json") == store.get("x/y/zarr.json")
    with pytest.raises(NodeNotFoundError, match=r"\.zmetadata.*zarr\.json.*no consolidated"):
        ConsolidatedMetadataStore(root.store)


@pytest.mark.parametrize(
    "stored",
    [b"no JSON", b"[]", b"{}", b'{"metadata": []}', b'{"metadata": {"a": 1}, "metadata": {}}'],
)
def test_bad_documents(stored):
    store = MemoryStore()
    store.set(".zmetadata", stored)
    with pytest.raises(MetadataError, match="zmetadata"):
        ConsolidatedMetadataStore(store)
    store.set("g/zarr.json", b'{"consolidated_metadata": %s}' % stored)
    if stored != b"{}":
        with pytest.raises(MetadataError, match="g/zarr.json"):
            ConsolidatedMetadataStore(store, "g/zarr.json")


def test_documents_may_have_any_name():
    store = MemoryStore()
    metadata = {".zgroup": {"zarr_format": 2}, "../x/.zgroup": {}, "/a": 1, "": 2, "b/.zarray": 3}
    store.set(".zmetadata", json.dumps({"metadata": metadata}).encode())
    view = ConsolidatedMetadataStore(store)
    assert sorted(view.list()) == [".zgroup", ".zmetadata", "b/.zarray"]
    assert view.list_dir("")[1] == ["b/"]
    assert view.get("b/.zarray") == b"3"
