"""The test kit for authors, applied to all other extensions of this repository."""

import pickle
import threading
from pathlib import Path

import pytest
from zarr_conformance.kit import (
    BridgeTests,
    ChunkGridTests,
    ChunkKeyEncodingTests,
    FormatTests,
    StoreTests,
)
from zarr_core import MemoryStore
from zarr_core.extension import Store, check_key, check_prefix
from zarr_stores.zip import ZipStore

LOCK = threading.Lock()


class TestRegular(ChunkGridTests):
    name = "regular"
    cases = [
        ({"chunk_shape": [3, 4]}, (10, 4)),
        ({"chunk_shape": [2]}, (0,)),
        ({"chunk_shape": []}, ()),
    ]
    bad_configurations = [{"chunk_shape": [0]}]


class TestRectilinear(ChunkGridTests):
    name = "rectilinear"
    cases = [
        ({"kind": "inline", "chunk_shapes": [4, [1, 2, 3], [[4, 2]]]}, (9, 6, 8)),
        ({"kind": "inline", "chunk_shapes": []}, ()),
    ]


class TestDefault(ChunkKeyEncodingTests):
    name = "default"
    configurations = [{}, {"separator": "."}]
    bad_configurations = [{"separator": "-"}]


class TestV2Keys(ChunkKeyEncodingTests):
    name = "v2"
    configurations = [{}, {"separator": "/"}]


class TestFanout(ChunkKeyEncodingTests):
    name = "fanout"
    configurations = [{}, {"max_children": 100}]


class TestSuffix(ChunkKeyEncodingTests):
    name = "suffix"
    configurations = [
        {
            "suffix": ".tiff",
            "base_encoding": {"name": "default", "configuration": {"separator": "/"}},
        },
        {
            "suffix": ".shard.zip",
            "base_encoding": {"name": "v2", "configuration": {"separator": "."}},
        },
    ]


class TestTemplate(ChunkKeyEncodingTests):
    name = "template"
    configurations = [{"format": "images/{-1}/{0:04}.jpeg"}, {"format": "{2}-{0}_{1}"}]

    def dimensions(self, configuration):
        return range(3, 4) if "{2}" in configuration["format"] else range(2, 3)


class TestN5Keys(ChunkKeyEncodingTests):
    name = "n5"

    # The name does not occur in version 3; other formats use it.
    test_metadata_is_preserved = None
    test_array_round_trip = None


class TestDraftKeys(ChunkKeyEncodingTests):
    name = "v3_draft"
    configurations = [{"separator": "/", "scalar": "c"}, {"separator": ".", "scalar": "c0"}]

    # The name does not occur in version 3; other formats use it.
    test_metadata_is_preserved = None
    test_array_round_trip = None


class LeastStore(Store):
    """A store with only the methods that the table of extension points requires: values in files."""

    def __init__(self, path, read_only=False):
        self.path, self.read_only = Path(path), read_only

    @property
    def url(self):
        return f"least://{self.path}"

    def get(self, key):
        check_key(key)
        return self._values().get(key)

    def set(self, key, value):
        check_key(key)
        self._require_writable(key)
        buffers = [value] if isinstance(value, bytes | bytearray | memoryview) else value
        with LOCK:
            self._replace({**self._values(), key: b"".join(buffers)})

    def erase(self, key):
        check_key(key)
        self._require_writable(key)
        with LOCK:
            self._replace({k: v for k, v in self._values().items() if k != key})

    def list_prefix(self, prefix):
        check_prefix(prefix)
        return iter([key for key in self._values() if key.startswith(prefix)])

    def _values(self):
        return pickle.loads(self.path.read_bytes()) if self.path.exists() else {}

    def _replace(self, values):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_bytes(pickle.dumps(values))
        new.replace(self.path)


class TestLeast(StoreTests):
    def make(self, tmp_path):
        return LeastStore(tmp_path / "least")

    def again(self, store, *, read_only):
        return LeastStore(store.path, read_only)


class Forgetful(LeastStore):
    def erase_prefix(self, prefix):
        for key in list(self.list_prefix(prefix)):
            self.erase(key)


def test_the_kit_says_which_call_a_read_only_store_accepts(tmp_path):
    class TestForgetful(TestLeast):
        def again(self, store, *, read_only):
            return Forgetful(store.path, read_only)

    with pytest.raises(pytest.fail.Exception, match=r'^erase_prefix\("k/"\), without keys'):
        TestForgetful().test_read_only(LeastStore(tmp_path / "least"))


def test_the_kit_says_what_makes_stores_equal(tmp_path):
    class Nameless(LeastStore):
        url = Store.url

    class TestNameless(TestLeast):
        def again(self, store, *, read_only):
            return Nameless(store.path, read_only)

    with pytest.raises(AssertionError, match="define url, which says where the values are"):
        TestNameless().test_two_stores_at_one_location(Nameless(tmp_path / "x"), tmp_path)


class TestMemory(StoreTests):
    name = "memory"
    pickles = False

    def make(self, tmp_path):
        return MemoryStore.from_url(f"memory://{tmp_path}")

    def again(self, store, *, read_only):
        return MemoryStore.from_url(store.url, read_only=read_only)


class TestZip(StoreTests):
    name = "zip"
    can_erase = False
    test_reads_during_writes_are_consistent = None  # slow, and tested with the store
    pickles = False

    def make(self, tmp_path):
        return ZipStore(tmp_path / "store.zip")

    def again(self, store, *, read_only):
        return ZipStore(store.path, read_only=read_only)


class TestV3(FormatTests):
    name = "v3"
    data_types = ["bool", "int16", "uint8", "float32", "complex64", "r24"]


class TestV2(FormatTests):
    name = "v2"


class TestV1(FormatTests):
    name = "v1"
    groups = False


class TestDraft(FormatTests):
    name = "draft"
    test_unmanaged_keys_are_found = None  # each node has a folder


class TestDraft2021(FormatTests):
    name = "draft-2021"
    test_unmanaged_keys_are_found = None  # each node has a folder


class TestN5(FormatTests):
    name = "n5"
    data_types = ["int16", "uint8", "float32"]
    test_fill_values_are_preserved = None  # only zero


class TestNumcodecs(BridgeTests):
    name = "zarr_codecs.foreign"
    offered = [("codec", "numcodecs.base64")]
