"""Stores of zarr-python in zarr_core."""

import pickle
from inspect import iscoroutinefunction

import numpy as np
import pytest
import zarr
import zarr_core
from store_contract import StoreContract
from zarr.storage import (
    FsspecStore,
    LocalStore,
    LoggingStore,
    MemoryStore,
    ObjectStore,
    StorePath,
    WrapperStore,
    ZipStore,
)
from zarr_bridge.stores import ZarrPythonStore
from zarr_conformance.kit.store_keys import GOOD_KEYS
from zarr_core.errors import (
    StoreCapabilityError,
    StoreError,
    StoreReadError,
    StoreReadOnlyError,
    ValueReplacedError,
)


class TestMemoryStore(StoreContract):
    pickles = False

    def make(self, tmp_path):
        return ZarrPythonStore(MemoryStore())

    def again(self, store, *, read_only):
        return ZarrPythonStore(store.store, read_only=read_only)


class TestPlaceInMemoryStore(TestMemoryStore):
    def make(self, tmp_path):
        return ZarrPythonStore(MemoryStore({"deeper": None}), "deep/down")

    def again(self, store, *, read_only):
        return ZarrPythonStore(store.store, "deep/down/", read_only=read_only)


class TestLocalStore(StoreContract):
    """Uses the adapter; ``open`` would return a LocalStore."""

    examples = 10
    key_may_be_prefix = False
    # zarr-python reads a directory in the place of a value as a missing value, ...
    test_key_that_is_a_prefix_works_or_raises = None
    test_deep_keys = None  # ... recurses where directories are deep, ...
    test_erase = None  # ... and leaves empty directories behind.
    test_update_to_none_erases = None
    test_reads_during_writes_are_consistent = None  # before 3.1.4 it wrote in place

    def make(self, tmp_path):
        return ZarrPythonStore(LocalStore(tmp_path / "store"))

    def again(self, store, *, read_only):
        return ZarrPythonStore(store.store, read_only=read_only)


class TestObjectStore(StoreContract):
    examples = 10
    pickles = False
    test_pickle = None  # obstore's memory refuses

    def make(self, tmp_path):
        obstore = pytest.importorskip("obstore.store")
        return ZarrPythonStore(ObjectStore(obstore.MemoryStore()))

    def again(self, store, *, read_only):
        return ZarrPythonStore(store.store, read_only=read_only)

    # object_store refuses a line feed.
    @pytest.mark.parametrize("key", [key for key in GOOD_KEYS if "\n" not in key], ids=ascii)
    def test_unusual_keys_are_valid(self, store, key):
        super().test_unusual_keys_are_valid(store, key)


VALUES = np.arange(600, dtype="int32").reshape(30, 20)


def write_here(place):
    root = zarr_core.create_group(place, attributes={"title": "here"})
    root.create_array("a/field", data=VALUES, chunks=(7, 6), compressors=None)
    root.create_array("sharded", data=VALUES, chunks=(5, 5), shards=(10, 20))


def write_there(store):
    root = zarr.create_group(store, attributes={"title": "there"})
    array = root.create_array("a/field", shape=VALUES.shape, dtype="int32", chunks=(7, 6))
    array[...] = VALUES
    array = root.create_array(
        "sharded", shape=VALUES.shape, dtype="int32", chunks=(5, 5), shards=(10, 20)
    )
    array[...] = VALUES


def check_here(place, title):
    root = zarr_core.open_group(place, mode="r")
    assert root.attrs["title"] == title
    assert sorted(path for path, _ in root.members(max_depth=None)) == ["a", "a/field", "sharded"]
    assert np.array_equal(root["a/field"][...], VALUES)
    assert np.array_equal(root["sharded"][3:17, ::3], VALUES[3:17, ::3])


def check_there(store, title):
    root = zarr.open_group(store, mode="r")
    assert root.attrs["title"] == title
    assert np.array_equal(root["a/field"][...], VALUES)
    assert np.array_equal(root["sharded"][...], VALUES)


def of_memory(tmp_path):
    return MemoryStore()


def of_local(tmp_path):
    return LocalStore(tmp_path / "store")


def of_fsspec(tmp_path):
    pytest.importorskip("fsspec")
    return FsspecStore.from_url(f"memory://{tmp_path}")


def of_obstore(tmp_path):
    return ObjectStore(pytest.importorskip("obstore.store").MemoryStore())


@pytest.mark.parametrize("make", [of_memory, of_local, of_fsspec, of_obstore])
def test_hierarchies_of_one_are_read_by_the_other(make, tmp_path):
    ours, theirs = make(tmp_path / "ours"), make(tmp_path / "theirs")
    write_here(ours)
    check_there(ours, "here")
    check_here(ours, "here")
    write_there(theirs)
    check_here(theirs, "there")
    changed = zarr_core.open_group(theirs, mode="r+")
    changed["sharded"][2:4, 1:3] = 7
    assert (zarr.open_group(theirs, mode="r")["sharded"][2:4, 1:3] == 7).all()


def test_objects_with_a_store_are_opened(tmp_path):
    store = MemoryStore()
    write_there(store)
    group = zarr.open_group(store, mode="r")
    assert np.array_equal(zarr_core.open(group["a/field"], mode="r")[...], VALUES)
    assert np.array_equal(zarr_core.open(group["a"], mode="r")["field"][...], VALUES)
    at_path = StorePath(store, "a")
    assert np.array_equal(zarr_core.open(at_path, path="field", mode="r")[...], VALUES)
    assert zarr_core.open(at_path, mode="r").store == ZarrPythonStore(store, "a")
    assert zarr_core.open(at_path, mode="r").store != ZarrPythonStore(store)
    with pytest.raises(zarr_core.errors.StoreError, match="cannot open a store from"):
        zarr_core.open(zarr.codecs.GzipCodec())


def test_a_local_directory_is_a_local_store(tmp_path):
    store = LocalStore(tmp_path / "store")
    write_there(store)
    group = zarr_core.open(StorePath(store, "a"), mode="r")
    assert group.store == zarr_core.LocalStore(tmp_path / "store" / "a")
    read_only = zarr_core.open(LocalStore(tmp_path / "store", read_only=True))
    assert read_only.read_only


def test_stores_that_are_read_only(tmp_path):
    store = MemoryStore()
    write_there(store)
    read_only = store.with_read_only(True)
    group = zarr_core.open_group(read_only)
    assert group.read_only
    for change in (
        lambda: zarr_core.open_group(read_only, mode="w"),
        lambda: ZarrPythonStore(read_only).set("k", b"v"),
        lambda: ZarrPythonStore(store, read_only=True).erase("zarr.json"),
    ):
        with pytest.raises(StoreReadOnlyError):
            change()
    copy = pickle.loads(pickle.dumps(ZarrPythonStore(read_only)))
    assert copy.read_only
    check_here(copy, "there")


def test_archives(tmp_path):
    with ZipStore(tmp_path / "x.zip", mode="w") as theirs:
        store = ZarrPythonStore(theirs)
        store.set("a/b", b"value")
        assert bytes(store.get("a/b")) == b"value"
        assert store.list_dir("") == ([], ["a/"])
        store.erase("nothing")
        with pytest.raises(StoreCapabilityError):
            store.erase("a/b")


def test_names_that_are_keys_and_prefixes():
    store = ZarrPythonStore(MemoryStore())
    for key in ("a", "a/b", "c"):
        store.set(key, b"")
    keys, prefixes = store.list_dir("")
    assert (sorted(keys), prefixes) == (["a", "c"], ["a/"])


def test_a_directory_is_not_erased_for_a_value(tmp_path):
    store = ZarrPythonStore(LocalStore(tmp_path / "store"))
    store.set("a/b", b"value")
    store.erase("a")
    assert bytes(store.get("a/b")) == b"value"


def test_large_values_are_read_in_parts_of_one_version(tmp_path):
    store = ZarrPythonStore(of_local(tmp_path))
    store.set("k", bytes(10**6))
    with store.open_value("k") as reader:
        assert reader.size == 10**6
        assert bytes(reader.read(999_990, 10)) == bytes(10)
        store.set("k", b"\1" * 10**6)
        with pytest.raises(ValueReplacedError):
            reader.read(5, 5)
    with store.open_value("k") as reader:
        assert bytes(reader.read(5, 5)) == b"\1" * 5


def test_the_start_of_a_value_shows_that_it_is_too_long():
    class Recording(MemoryStore):
        async def getsize(self, key):
            return 1000

        async def get(self, key, prototype, byte_range=None):
            parts.append(byte_range)
            return await super().get(key, prototype, byte_range)

    parts, store = [], ZarrPythonStore(Recording())
    store.set("zarr.json", bytes(1000))
    assert store.get_limited("zarr.json", 9) == 1000
    assert [part.end for part in parts] == [10]


# OSError is for ranges beyond the end; None ignores ranges; EOFError reads beyond the end.
@pytest.mark.parametrize("wrap", [lambda store: store, LoggingStore], ids=["direct", "logged"])
@pytest.mark.parametrize(
    "error", [NotImplementedError, ValueError, TypeError, OSError, EOFError, None]
)
def test_values_of_stores_with_few_byte_ranges_are_read(error, wrap):
    class FewRanges(WrapperStore):
        async def get(self, key, prototype, *, byte_range=None):  # by keyword only
            value = await super().get(key, prototype)
            if None in (error, byte_range) or value is None:
                return value
            if error is EOFError:  # as ManifestStore
                value += prototype.buffer.from_bytes(b"the next value")
            if error in (OSError, EOFError) and byte_range.end <= len(value):
                return value[byte_range.start : byte_range.end]
            raise error("no range")

    value = bytes(range(256)) * 2000
    store = ZarrPythonStore(wrap(FewRanges(MemoryStore())))
    store.set("k", value)
    store.set("short", b"value")
    assert bytes(store.get_limited("short", 9)) == b"value"
    assert store.get_limited("k", 9) > 9
    with store.open_value("k") as reader:
        assert bytes(reader.read(300_000, 500)) == value[300_000:300_500]
    parts = store.get_ranges([("k", 1, 3), ("missing", 0, 2), ("k", 4, 4), ("short", 1, 4)])
    assert [part and bytes(part) for part in parts] == [b"\1\2", None, b"", b"alu"]


def test_errors_contain_store_and_key():
    class Broken(MemoryStore):
        async def get(self, *args, **options):
            reads.append(args)
            raise ConnectionError("down")

        async def set(self, *args):
            raise ConnectionError("down")

    reads, store = [], ZarrPythonStore(Broken())
    with pytest.raises(StoreReadError, match="down"):
        store.get_ranges([("a/k", 0, 10)])
    assert len(reads) == 1  # not the whole value
    with pytest.raises(StoreReadError, match=r"zarr-python://.*'a/k'.*ConnectionError: down"):
        store.get("a/k")
    with pytest.raises(StoreError, match=r"'a/k'.*ConnectionError: down"):
        store.set("a/k", b"")


def test_static_credentials_are_not_pickled():
    obstore = pytest.importorskip("obstore.store")
    given = {"access_key_id": "access-1", "secret_access_key": "hush-hush", "region": "x"}
    store = ZarrPythonStore(ObjectStore(obstore.S3Store("bucket", **given)))
    with pytest.raises(
        StoreError, match=r"contain credentials \(.*access_key_id.*secret_access_key"
    ):
        pickle.dumps(store)
    assert "hush-hush" not in repr(store) + str(store)
    pickle.loads(pickle.dumps(ZarrPythonStore(ObjectStore(obstore.S3Store("bucket", region="x")))))

    s3fs = pytest.importorskip("s3fs")
    for options, names in (({"anon": True}, ""), ({"key": "a", "secret": "b"}, r"key, secret")):
        fs = s3fs.S3FileSystem(asynchronous=True, **options)
        store = ZarrPythonStore(FsspecStore(fs, path="bucket"))
        if names:
            with pytest.raises(StoreError, match=rf"contain credentials \({names}\)"):
                pickle.dumps(store)
        else:
            pickle.loads(pickle.dumps(store))


async def _not_implemented(*args, **options):
    raise NotImplementedError("this store does not have it")


async def _no_listing(*args, **options):
    raise NotImplementedError("this store does not have it")
    yield ""  # an asynchronous generator


REQUIRED = {"get", "set", "delete", "close", "open", "with_read_only"}
LESS = [
    name
    for name, method in vars(zarr.abc.store.Store).items()
    if (not name.startswith("_") and iscoroutinefunction(method)) or name in ("list", "list_prefix")
]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("missing", [*([name] for name in LESS), LESS, ["list_dir"]], ids=str)
def test_stores_with_fewer_methods(missing, zarr_format):
    methods = {
        name: _no_listing if name in ("list", "list_dir", "list_prefix") else _not_implemented
        for name in set(missing) - REQUIRED
    }
    store = type("LessStore", (WrapperStore,), methods)(MemoryStore())
    group = zarr_core.create_group(store, zarr_format=zarr_format)
    values = np.arange(60, dtype="float32").reshape(6, 10)
    shards = {"shards": (3, 10)} if zarr_format == 3 else {}
    group.create_array("inner/a", data=values, chunks=(1, 5), **shards)
    group = zarr_core.open_group(store)
    array = group["inner/a"]
    assert "inner/b" not in group
    assert [name for name, _ in group.members()] == ["inner"]
    assert "inner" in str(group.tree())
    np.testing.assert_array_equal(array[...], values)
    np.testing.assert_array_equal(array[4, 2:9], values[4, 2:9])
    array[1, 2] = 7
    assert array.nchunks_initialized
    assert zarr.open_array(store, path="inner/a")[1, 2] == 7
