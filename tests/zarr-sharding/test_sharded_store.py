"""A store with shards keeps the contract of stores, for chunks as for other keys."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from counting_store import CountingStore
from store_contract import StoreContract, get_into
from zarr_core.errors import ChunkDecodeError, StoreCapabilityError
from zarr_core.extension import (
    BufferByteReader,
    ByteRange,
    StoreReadError,
    StoreReadOnlyError,
    StoreTraits,
    WrapperStore,
)
from zarr_core.interfaces.byte_reader import SubrangeReader
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_sharding.transformer.sharded_store import sharded


class TestInMemory(StoreContract):
    """Here the keys of the contract below ``foo/c`` are chunks."""

    pickles = False

    def make(self, tmp_path):
        return sharded(MemoryStore(), "foo/", (3,))

    def again(self, store, *, read_only):
        return sharded(MemoryStore(store.inner._mapping, read_only), "foo/", (3,))


class TestInFiles(StoreContract):
    key_may_be_prefix = False

    def make(self, tmp_path):
        return sharded(LocalStore(tmp_path / "store"), "", (2,))

    def again(self, store, *, read_only):
        return sharded(LocalStore(store.inner.path, read_only=read_only), "", (2,))


# --- bytes ---


def index(*pairs):
    return np.array(pairs, "<u8").tobytes()


NONE = (2**64 - 1, 2**64 - 1)


def test_the_bytes_of_a_shard():
    inner = MemoryStore()
    store = sharded(inner, "", (2, 2))
    store.set("c0/1", b"ab")
    assert inner.get("c0/0") == b"ab" + index(NONE, (0, 2), NONE, NONE)
    store.set("c1/0", b"")
    assert inner.get("c0/0") == b"ab" + index(NONE, (0, 2), (2, 0), NONE)
    assert list(inner.list()) == ["c0/0"]
    assert store.get("c1/0") == b""
    store.erase("c0/1")
    assert inner.get("c0/0") == index(NONE, NONE, (0, 0), NONE)
    store.erase("c1/0")
    assert list(inner.list()) == []


def test_any_order_gaps_and_overlaps_are_read_and_kept():
    inner = MemoryStore({"c0": b"..abc.." + index((3, 2), (2, 1), NONE, (2, 3))})
    store = sharded(inner, "", (4,))
    assert [store.get(f"c{number}") for number in range(4)] == [b"bc", b"a", None, b"abc"]
    store.set("c2", b"new")
    assert [bytes(store.get(f"c{n}")) for n in range(4)] == [b"bc", b"a", b"new", b"abc"]
    assert len(inner.get("c0")) == 6 + 64  # what overlapped is stored once


# --- operations, counted ---


@pytest.fixture
def counted():
    counting = CountingStore(MemoryStore())
    store = sharded(counting, "a/", (2, 2))
    for chunk in ("0/0", "0/1", "1/1", "2/2"):
        store.set(f"a/c{chunk}", chunk.encode())
    store.set("a/notes", b"hello")
    counting.calls.clear()
    return store, counting


def test_partial_values_take_two_operations(counted):
    store, counting = counted
    batches = []
    ask = counting.get_partial_values
    counting.get_partial_values = lambda key_ranges: batches.append(1) or ask(key_ranges)
    values = store.get_partial_values(
        [
            ("a/c2/2", ByteRange(1)),
            ("a/c1/0", ByteRange(0)),
            ("a/notes", ByteRange(1, 3)),
            ("a/c0/1", ByteRange(-1)),
            ("a/c0/1", ByteRange(0, 2)),
            ("a/c9/9", ByteRange(0)),
            ("a/c0/0", ByteRange(1, 99)),
            ("a/c0/0", ByteRange(7)),
            ("a/c0/0", ByteRange(-99, 1)),
        ]
    )
    assert values == [b"/2", None, b"ell", b"1", b"0/", None, b"/0", b"", b"0"]
    assert len(batches) == 2


MEANWHILE = {
    # The shard gets another order, so the old index is wrong.
    "another chunk is set": (lambda store: store.set("a/c0/0", b"x/x"), b"1/1"),
    "the chunk is erased": (lambda store: store.erase("a/c1/1"), None),
    "the shard is erased": (lambda store: store.erase_prefix("a/"), None),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_partial_values_of_a_shard_that_changes_meanwhile(counted, what):
    store, counting = counted
    change, expected = MEANWHILE[what]
    ask = counting.get_partial_values
    batches = []

    def change_between(key_ranges):
        values = ask(key_ranges)
        if not batches:
            change(sharded(counting.inner, "a/", (2, 2)))
        batches.append(1)
        return values

    counting.get_partial_values = change_between
    assert store.get_partial_values([("a/c1/1", ByteRange(0))]) == [expected]
    assert len(batches) > 2  # it was noticed


def test_reading_a_chunk_reads_only_its_entry_and_bytes(counted):
    store, counting = counted
    assert bytes(store.get("a/c1/1")) == b"1/1"
    assert counting.count("open_value", "reader.read") == counting.count() == 3
    assert counting.nbytes() == 16 + 3
    counting.calls.clear()
    assert store.exists("a/c0/1")
    assert store.getsize("a/c0/1") == 3
    assert not store.exists("a/c1/0")
    assert store.getsize("a/c5/0") is None
    assert counting.nbytes() == 3 * 16


def test_all_chunks_of_a_shard_are_erased_without_reading_it(counted):
    store, counting = counted
    store.erase_values(["a/c0/0", "a/c0/1", "a/c1/0", "a/c1/1", "a/notes"])
    assert sorted(counting.inner.list()) == ["a/c1/1"]
    assert counting.nbytes("reader.read", "get") == 0


def test_erasing_missing_chunks_changes_nothing(counted):
    store, counting = counted
    before = counting.inner.get("a/c0/0")
    store.erase_values(["a/c1/0", "a/c7/7", "a/none"])
    assert counting.inner.get("a/c0/0") is before
    assert counting.count("update", "set") == 0


def test_partial_values_of_several_chunks_rewrite_the_shard_once(counted):
    store, counting = counted
    store.set_partial_values(
        [("a/c0/0", 1, b"+"), ("a/c1/0", 2, b"new"), ("a/notes", 0, b"H"), ("a/c0/0", 3, b"!")]
    )
    assert bytes(store.get("a/c0/0")) == b"0+0!"
    assert bytes(store.get("a/c1/0")) == b"\0\0new"
    assert bytes(store.get("a/c1/1")) == b"1/1"
    assert store.get("a/notes") == b"Hello"
    assert counting.keys("update") == ["a/notes", "a/c0/0"]


def test_update_that_returns_the_reader_changes_nothing():
    inner = MemoryStore()
    store = sharded(inner, "", (2,))
    store.set("c0", b"v")
    before = inner.get("c0")
    store.update("c0", lambda reader: reader)
    store.update("c1", lambda reader: reader)
    store.update("c1", lambda reader: None)
    assert inner.get("c0") is before


# --- prefixes ---


@pytest.fixture
def three():
    """Shards of 2 x 2 x 1 chunks, in 3 dimensions."""
    inner = MemoryStore()
    store = sharded(inner, "a/", (2, 2, 1))
    for chunk in ("0/0/0", "0/1/0", "1/1/5", "3/0/0", "3/3/7", "2/3/7"):
        store.set(f"a/c{chunk}", chunk.encode())
    inner.set("a/c3/notes", b"")
    inner.set("a/zarr.json", b"{}")
    inner.set("b/c0/0/0", b"of another array")
    return store, inner


def test_keys_below_a_part_of_a_name(three):
    store, _ = three
    assert sorted(store.list_prefix("a/c3/")) == ["a/c3/0/0", "a/c3/3/7", "a/c3/notes"]
    assert sorted(store.list_prefix("a/c2/3/")) == ["a/c2/3/7"]
    assert sorted(store.list_prefix("a/c1/")) == ["a/c1/1/5"]
    # Their shards would lie beside the notes, which are not below them.
    assert list(store.list_prefix("a/c6/")) == store.list_dir("a/c6/")[0] == []
    assert list(store.list_prefix("a/c4/")) == list(store.list_prefix("a/c0/0/0/")) == []
    assert len(list(store.list_prefix("a/"))) == 8
    assert sorted(store.list_prefix("b/")) == ["b/c0/0/0"]


def test_directly_below_a_part_of_a_name(three):
    store, _ = three
    keys, prefixes = store.list_dir("a/")
    assert keys == ["a/zarr.json"]
    # All chunks that can be in the shards, without a look at what is in them: the notes
    # alone make the store behind have a/c3/, where chunks of a/c6/ and a/c7/ would lie.
    assert sorted(prefixes) == [f"a/c{number}/" for number in (0, 1, 2, 3, 6, 7)]
    keys, prefixes = store.list_dir("a/c3/")
    assert (keys, sorted(prefixes)) == (["a/c3/notes"], [f"a/c3/{n}/" for n in range(4)])
    assert store.list_dir("a/c3/3/") == (["a/c3/3/7"], [])
    assert store.list_dir("a/c3/1/") == ([], [])
    assert store.list_dir("") == ([], ["a/", "b/"])


def test_erasing_a_part_of_a_name(three):
    store, inner = three
    store.erase_prefix("a/c3/")
    assert sorted(store.list_prefix("a/c2/")) == ["a/c2/3/7"]
    assert sorted(store.list_prefix("a/")) == [
        "a/c0/0/0", "a/c0/1/0", "a/c1/1/5", "a/c2/3/7", "a/zarr.json",
    ]  # fmt: skip
    store.erase_prefix("a/c1/1/")
    assert not inner.exists("a/c0/0/5")  # the whole shard is gone
    store.erase_prefix("a/")
    assert list(inner.list()) == ["b/c0/0/0"]


def test_erase_of_whole_prefix_is_delegated():
    counting = CountingStore(MemoryStore())
    store = sharded(counting, "", (1, 2))
    store.set("c4/0", b"")
    counting.calls.clear()
    store.erase_prefix("c4/")
    assert [(call.method, call.key) for call in counting.calls] == [("erase_prefix", "c4/")]


@pytest.mark.parametrize("form", ["c{}/{}", "c/{}/{}", "{}.{}", "c{}.{}", "c.{}.{}", "{}/{}"])
def test_every_form_of_names(form):
    inner = MemoryStore()
    store = sharded(inner, "a/b/", (2, 3))
    keys = [f"a/b/{form.format(i, j)}" for i in range(3) for j in range(4)]
    for key in keys:
        store.set(key, key.encode())
    assert sorted(inner.list()) == sorted(
        f"a/b/{form.format(i, j)}" for i in range(2) for j in range(2)
    )
    assert sorted(store.list_prefix("a/")) == sorted(keys)
    assert all(bytes(store.get(key)) == key.encode() for key in keys)
    walked, todo = [], [""]
    while todo:
        found, below = store.list_dir(todo.pop())
        walked += found
        todo += below
    assert sorted(walked) == sorted(keys)


# --- several at once ---


@pytest.mark.parametrize("kind", ["memory", "files"])
def test_writers_of_different_chunks_lose_nothing(kind, tmp_path):
    inner = MemoryStore() if kind == "memory" else LocalStore(tmp_path / "store")
    store = sharded(inner, "", (4, 4))
    chunks = [f"c{i}/{j}" for i in range(4) for j in range(8)]

    def work(key):
        for number in range(4):
            store.set(key, f"{key}:{number}".encode())
        if key.endswith("3"):
            store.erase(key)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, chunks))
    assert {key: bytes(store.get(key)) for key in store.list()} == {
        key: f"{key}:3".encode() for key in chunks if not key.endswith("3")
    }
    assert sorted(inner.list()) == ["c0/0", "c0/1"]


# --- the object ---


def test_properties_are_those_of_the_underlying_store():
    inner = CountingStore(MemoryStore(read_only=True))
    inner.max_concurrency = 7
    inner.traits, inner.supports_listing = StoreTraits(supports_erasing=False), False
    store = sharded(inner, "a/", (2,))
    assert (store.max_concurrency, store.in_memory, store.read_only) == (7, False, True)
    assert not store.traits.supports_erasing
    assert not store.supports_listing
    assert store.url == inner.url
    assert sharded(MemoryStore(), "", (1,)).in_memory


def test_equality():
    inner = MemoryStore()
    assert sharded(inner, "a/", (2,)) == sharded(MemoryStore(inner._mapping), "a/", (2,))
    assert sharded(inner, "a/", (2,)) != sharded(inner, "b/", (2,))
    assert sharded(inner, "a/", (2,)) != sharded(inner, "a/", (3,))
    assert sharded(inner, "a/", (2,)) != inner


def test_read_only_store_rejects_chunks():
    inner = MemoryStore()
    sharded(inner, "", (2,)).set("c0", b"v")
    store = sharded(MemoryStore(inner._mapping, read_only=True), "", (2,))
    for call in (
        lambda: store.set("c0", b""),
        lambda: store.erase("c1"),
        lambda: store.erase_values(["c4", "c5"]),
        lambda: store.update("c0", lambda reader: None),
        lambda: store.set_partial_values([("c1", 0, b"")]),
        lambda: sharded(store, "", (2,)).erase("c7"),
    ):
        with pytest.raises(StoreReadOnlyError):
            call()
    assert store.get("c0") == b"v"


def test_chunks_cannot_be_erased_where_keys_cannot():
    inner = MemoryStore()
    inner.traits = inner.traits._replace(supports_erasing=False)
    store = sharded(inner, "", (2,))
    store.set("c0", b"v")
    with pytest.raises(StoreCapabilityError, match="c0"):
        store.erase("c0")
    assert store.get("c0") == b"v"


def test_a_reader_stays_in_its_chunk_and_closes_the_shard(tmp_path):
    store = sharded(LocalStore(tmp_path), "", (2,))
    store.set("c0", b"first")
    opened = len(os.listdir("/dev/fd"))
    with store.open_value("c0") as reader:
        assert not isinstance(reader, BufferByteReader)
        assert reader.size == 5
        assert bytes(reader.read(1, 3)) == b"irs"
        assert len(os.listdir("/dev/fd")) == opened + 1
        for start, length in ((0, 6), (5, 1), (-1, 1)):
            with pytest.raises(StoreReadError):
                reader.read(start, length)
    assert store.open_value("c1") is None
    assert len(os.listdir("/dev/fd")) == opened


class Lent(MemoryStore):
    """Counts the values that are open."""

    in_memory = False
    now = 0

    def open_value(self, key, first=None):
        value = self.get(key)
        if value is None:
            return None
        self.now += 1
        return LentReader(self, BufferByteReader(value))


class LentReader(SubrangeReader):
    def __init__(self, store, reader):
        super().__init__(reader, 0, reader.size)
        self.store = store

    def close(self):
        self.store.now -= 1


def test_every_shard_that_was_opened_is_closed():
    inner = Lent()
    store = sharded(inner, "", (2,))
    store.set("c0", b"first")
    inner.set("c1", b"damaged")
    for key in ("c0", "c1", "c4"):
        store.get(key)
        get_into(store, key, memoryview(bytearray(9)))
        store.exists(key)
        store.getsize(key)
        assert inner.now == 0
    with pytest.raises(ChunkDecodeError):
        store.get("c2")
    assert inner.now == 0
    with store.open_value("c0"):
        assert inner.now == 1
    assert inner.now == 0


def test_a_damaged_chunk_is_removed_from_caches_with_its_shard():
    discarded = []
    inner = WrapperStore(MemoryStore())
    inner.discard_cached = discarded.append
    store = sharded(inner, "a/c/", (2, 2))
    store.discard_cached("a/c/1/3")
    store.discard_cached("a/zarr.json")
    assert discarded == ["a/c/0/1", "a/zarr.json"]
