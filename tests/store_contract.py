"""What every store promises, as a class of tests to inherit from.

A subclass says how to make an empty store, how to open the same place again, and
which capabilities its kind has.
"""

from __future__ import annotations

import copy
import pickle
import threading
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from zarr_core.extension import (
    ByteRange,
    Store,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreReadOnlyError,
    ZarrError,
)

BAD_KEYS = (
    "", "/", "//", ".", "..", "../x", "a/../b", "a/..", "a/.", "./a", "/abs", "a//b", "a/",
    "a\\b", "a\\..\\b", "..\\x", "c:\\x", "nul\0", "\0", "a/\0/b",
)  # fmt: skip
GOOD_KEYS = (
    "zarr.json", ".zgroup", ".zarray", "c", "__x", "a/b/c/0/1", "...", "..a", "a..", ".a/.b",
    "c:x", " ", "a b/c d", "%2e%2e/x", "?query#fragment", "A", "a", "\u00e9", "e\u0301",
    "\u03a9/\u6f22\u5b57/\U0001f40d", "-", "~", "*", "x\ny", "con", "c/0", "0" * 200,
)  # fmt: skip
VALUES = (b"", b"x", bytes(range(256)) * 9, b"\0" * 5000)


def filled(size: int, byte: int) -> memoryview:
    return memoryview(bytearray([byte]) * size)


class StoreContract(ABC):
    """Inherit from this, implement ``make``, and declare what the store can do."""

    can_erase = True
    """Keys can be removed."""
    key_may_be_prefix = True
    """A key may be the beginning of another: ``a`` and ``a/b``; no directory can do that."""
    pickles = True
    """A store that is writable can be pickled."""
    case_sensitive = True
    """``A`` and ``a`` are two keys."""

    @abstractmethod
    def make(self, tmp_path) -> Store:
        """A new empty store, its place below ``tmp_path`` if it needs one."""

    @abstractmethod
    def again(self, store: Store, *, read_only: bool) -> Store:
        """Another object for the same place."""

    @pytest.fixture
    def store(self, tmp_path):
        store = self.make(tmp_path)
        yield store
        store.close()

    # --- values ---

    @pytest.mark.parametrize("value", VALUES, ids=len)
    def test_a_value_comes_back(self, store, value):
        assert store.get("a/b") is None
        store.set("a/b", value)
        assert bytes(store.get("a/b")) == value
        assert store.exists("a/b")
        assert store.getsize("a/b") == len(value)

    @pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
    def test_any_buffer_is_a_value(self, store, kind):
        store.set("k", kind(b"abc"))
        assert bytes(store.get("k")) == b"abc"

    def test_pieces_are_stored_one_after_the_other(self, store):
        store.set("k", [b"ab", bytearray(b"cd"), memoryview(b"xefx")[1:3], b""])
        assert bytes(store.get("k")) == b"abcdef"

    def test_no_pieces_are_an_empty_value(self, store):
        store.set("k", [])
        assert bytes(store.get("k")) == b""

    def test_more_pieces_than_one_system_call_takes(self, store):
        pieces = [bytes([number % 251]) * (number % 7) for number in range(5000)]
        store.set("k", pieces)
        assert bytes(store.get("k")) == b"".join(pieces)

    def test_a_new_value_replaces_the_old(self, store):
        store.set("k", b"a long old value")
        store.set("k", b"new")
        assert bytes(store.get("k")) == b"new"
        assert store.getsize("k") == 3
        assert list(store.list()) == ["k"]

    def test_the_caller_keeps_its_buffer(self, store):
        mine = bytearray(b"mine")
        store.set("k", mine)
        mine[:] = b"gone"
        assert bytes(store.get("k")) == b"mine"

    def test_what_is_returned_cannot_change_the_store(self, store):
        store.set("k", b"value")
        view = memoryview(store.get("k"))
        if not view.readonly:
            view[0] = 0
        assert bytes(store.get("k")) == b"value"

    def test_what_was_returned_does_not_change_later(self, store):
        store.set("k", b"before")
        value = store.get("k")
        store.set("k", b"after.")
        assert bytes(value) == b"before"

    # --- reading into a buffer ---

    @pytest.mark.parametrize("room", [0, 1, 9, 10, 11, 5000])
    def test_get_into(self, store, room):
        value = b"0123456789"
        store.set("k", value)
        buffer = filled(room, 0xEE)
        assert store.get_into("k", buffer) == 10
        assert bytes(buffer[:10]) == value[:room]
        assert bytes(buffer[10:]) == b"\xee" * max(0, room - 10)

    def test_get_into_of_a_missing_key_leaves_the_buffer(self, store):
        buffer = filled(4, 7)
        assert store.get_into("k", buffer) is None
        assert bytes(buffer) == b"\7\7\7\7"

    def test_get_into_of_an_empty_value(self, store):
        store.set("k", b"")
        assert store.get_into("k", filled(4, 7)) == 0
        assert store.get_into("k", filled(0, 0)) == 0

    # --- parts ---

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(
        size=st.integers(0, 40),
        start=st.integers(-50, 50),
        length=st.none() | st.integers(0, 60),
    )
    def test_partial_values_are_slices(self, store, size, start, length):
        value = bytes(range(size))
        if store.get(f"k{size}") is None:
            store.set(f"k{size}", value)
        first = max(0, size + start) if start < 0 else start
        expected = value[first:] if length is None else value[first : first + length]
        got, missing = store.get_partial_values(
            [(f"k{size}", ByteRange(start, length)), ("none", ByteRange(start, length))]
        )
        assert bytes(got) == expected
        assert missing is None

    def test_partial_values_keep_their_order(self, store):
        store.set("a", b"aaa")
        store.set("b", b"bbb")
        asked = [("b", ByteRange(0, 1)), ("a", ByteRange(1)), ("b", ByteRange(-2, 1))]
        assert [bytes(part) for part in store.get_partial_values(asked)] == [b"b", b"aa", b"b"]

    def test_reader(self, store):
        store.set("k", bytes(range(100)))
        with store.open_value("k") as reader:
            assert reader.size == 100
            first, second = filled(3, 0), filled(10, 0)
            reader.read_into([(90, second), (5, first)])
            assert bytes(first) == b"\5\6\7"
            assert bytes(second) == bytes(range(90, 100))
            assert bytes(reader.read(99, 1)) == b"c"
            assert bytes(reader.read(100, 0)) == b""

    @pytest.mark.parametrize(("start", "length"), [(-1, 1), (9, 2), (10, 1), (2**62, 1), (0, 11)])
    def test_reader_refuses_what_is_beyond_the_end(self, store, start, length):
        store.set("k", b"0123456789")
        with store.open_value("k") as reader:
            with pytest.raises(StoreReadError):
                reader.read_into([(start, filled(length, 0))])
            with pytest.raises(StoreReadError):
                reader.read(start, length)

    def test_reader_keeps_its_version(self, store):
        store.set("k", b"old" * 1000)
        with store.open_value("k") as reader:
            store.set("k", b"new" * 1000)
            assert bytes(reader.read(0, 3000)) == b"old" * 1000
        assert bytes(store.get("k")) == b"new" * 1000

    def test_reader_of_a_missing_key(self, store):
        assert store.open_value("k") is None

    def test_set_partial_values(self, store):
        store.set("a", b"0123456789")
        store.set_partial_values([("a", 2, b"xy"), ("b", 3, b"z"), ("a", 9, b"..")])
        assert bytes(store.get("a")) == b"01xy45678.."
        assert bytes(store.get("b")) == b"\0\0\0z"

    # --- keys ---

    @pytest.mark.parametrize("key", BAD_KEYS, ids=repr)
    def test_bad_keys_are_refused_by_every_method(self, store, key):
        store.set("a/b", b"")  # so that the beginnings of some of them are there
        for call in (
            store.get,
            store.exists,
            store.getsize,
            store.open_value,
            store.erase,
            lambda key: store.get_into(key, filled(4, 0)),
            lambda key: store.get_into(key, filled(0, 0)),
            lambda key: store.set(key, b"x"),
            lambda key: store.update(key, lambda _: b"x"),
            lambda key: store.get_partial_values([(key, ByteRange(0))]),
        ):
            with pytest.raises(StoreKeyError):
                call(key)
        assert list(store.list()) == ["a/b"]

    @pytest.mark.parametrize("prefix", ["a", "/", "..", "../", "a//", "/a/", "a/../", "a\\b/"])
    def test_bad_prefixes_are_refused(self, store, prefix):
        for call in (store.list_prefix, store.list_dir, store.erase_prefix):
            with pytest.raises(StoreKeyError):
                call(prefix)

    @pytest.mark.parametrize("key", GOOD_KEYS, ids=ascii)
    def test_odd_keys_are_keys(self, store, key):
        store.set(key, b"value")
        assert bytes(store.get(key)) == b"value"
        assert store.get_into(key, filled(5, 0)) == 5
        assert store.exists(key)
        store.update(key, lambda reader: bytes(reader.read(0, 5)) + b"!")
        assert bytes(store.get(key)) == b"value!"
        assert list(store.list()) == [key]

    def test_keys_differ_in_case_and_in_normal_form(self, store):
        twins = ["\u00e9", "e\u0301", *(["A", "a"] if self.case_sensitive else [])]
        for key in twins:
            store.set(key, key.encode())
        assert [bytes(store.get(key)) for key in twins] == [key.encode() for key in twins]
        assert sorted(store.list()) == sorted(twins)

    def test_a_key_of_300_characters_works_or_says_so(self, store):
        key = "x" * 300
        try:
            store.set(key, b"v")
        except StoreError as error:
            assert "too long" in str(error)  # noqa: PT017 - either outcome is right
            assert list(store.list()) == []
        else:
            assert bytes(store.get(key)) == b"v"

    def test_a_key_that_cannot_be_encoded_works_or_says_so(self, store):
        try:
            store.set("\ud800", b"v")
        except StoreKeyError:
            with pytest.raises(StoreKeyError):
                store.get("\ud800")
        else:
            assert bytes(store.get("\ud800")) == b"v"

    def test_a_key_may_begin_another_or_says_so(self, store):
        store.set("a/b", b"2")
        if self.key_may_be_prefix:
            store.set("a", b"1")
            assert bytes(store.get("a")) == b"1"
            return
        with pytest.raises(StoreError):
            store.set("a", b"1")
        with pytest.raises(StoreReadError):
            store.get("a")
        assert not store.exists("a")
        assert store.getsize("a") is None
        assert store.get("a/b/c") is None
        with pytest.raises(StoreError):
            store.set("a/b/c", b"3")
        assert bytes(store.get("a/b")) == b"2"

    # --- listing ---

    def _fill(self, store):
        keys = ["zarr.json", "foo/zarr.json", "foo/c/0", "foo/c/1", "foobar/zarr.json"]
        for key in keys:
            store.set(key, key.encode())
        return keys

    def test_list(self, store):
        assert list(store.list()) == []
        keys = self._fill(store)
        assert sorted(store.list()) == sorted(keys)

    def test_list_prefix_ends_at_a_slash(self, store):
        self._fill(store)
        assert sorted(store.list_prefix("foo/")) == ["foo/c/0", "foo/c/1", "foo/zarr.json"]
        assert list(store.list_prefix("fo/")) == []
        assert list(store.list_prefix("zarr.json/")) == []

    def test_list_dir(self, store):
        assert store.list_dir("") == ([], [])
        self._fill(store)
        keys, prefixes = store.list_dir("")
        assert (sorted(keys), sorted(prefixes)) == (["zarr.json"], ["foo/", "foobar/"])
        assert store.list_dir("foo/") == (["foo/zarr.json"], ["foo/c/"])
        keys, prefixes = store.list_dir("foo/c/")
        assert (sorted(keys), prefixes) == (["foo/c/0", "foo/c/1"], [])
        assert store.list_dir("nothing/") == ([], [])

    def test_deep_keys(self, store):
        key = "/".join(["d"] * 1500)
        store.set(key, b"deep")
        assert list(store.list()) == [key]
        assert bytes(store.get(key)) == b"deep"
        if self.can_erase:
            store.erase_prefix("d/")
            assert list(store.list()) == []

    def test_changes_while_listing(self, store):
        for number in range(50):
            store.set(f"{number % 5}/{number}", b"")
        seen = []
        for key in store.list():
            seen.append(key)
            store.set(f"new/{key}", b"")
            if self.can_erase:
                store.erase(key)
        assert {f"{number % 5}/{number}" for number in range(50)} >= {
            key for key in seen if not key.startswith("new/")
        }

    # --- erasing ---

    def test_erase(self, store):
        self._fill(store)
        store.erase("nothing")
        store.erase("nothing/at/all")
        if not self.can_erase:
            assert not store.supports_erasing
            with pytest.raises(StoreCapabilityError):
                store.erase("foo/c/0")
            assert store.exists("foo/c/0")
            return
        store.erase("foo/c/0")
        assert store.get("foo/c/0") is None
        assert store.exists("foo/c/1")
        store.erase_values(["foo/c/1", "foo/zarr.json", "none"])
        assert sorted(store.list()) == ["foobar/zarr.json", "zarr.json"]
        assert "foo/" not in store.list_dir("")[1]

    def test_erase_prefix(self, store):
        keys = self._fill(store)
        store.erase_prefix("nothing/")
        if not self.can_erase:
            with pytest.raises(StoreCapabilityError):
                store.erase_prefix("foo/")
            assert sorted(store.list()) == sorted(keys)
            return
        store.erase_prefix("foo/")
        assert sorted(store.list()) == ["foobar/zarr.json", "zarr.json"]
        store.erase_prefix("")
        assert list(store.list()) == []
        store.set("k", b"after")
        assert bytes(store.get("k")) == b"after"

    # --- update ---

    def test_update(self, store):
        seen = []

        def change(reader):
            seen.append(None if reader is None else bytes(reader.read(0, reader.size)))
            return [b"value", str(len(seen)).encode()]

        store.update("a/k", change)
        store.update("a/k", change)
        assert seen == [None, b"value1"]
        assert bytes(store.get("a/k")) == b"value2"

    def test_update_to_nothing_erases(self, store):
        store.update("a/k", lambda reader: None)
        assert store.get("a/k") is None
        assert store.list_dir("") == ([], [])
        store.set("a/k", b"v")
        if self.can_erase:
            store.update("a/k", lambda reader: None)
            assert store.get("a/k") is None
            assert list(store.list()) == []

    def test_an_update_that_fails_changes_nothing(self, store):
        store.set("k", b"old")

        def change(reader):
            raise LookupError("mine")

        for key in ("k", "new/k"):
            with pytest.raises(LookupError, match="mine"):
                store.update(key, change)
        assert list(store.list()) == ["k"]
        store.update("k", lambda reader: b"still possible")
        assert bytes(store.get("k")) == b"still possible"

    def test_updates_by_threads_lose_nothing(self, store):
        store.set("k", bytes(64))

        def work(cell):
            def change(reader):
                value = bytearray(reader.read(0, reader.size))
                value[cell] += 1
                return value

            for _ in range(5):
                store.update("k", change)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(64)))
        assert bytes(store.get("k")) == b"\5" * 64

    def test_updates_of_different_keys_do_not_wait_for_each_other(self, store):
        inside = threading.Barrier(2, timeout=10)

        def change(reader):
            inside.wait()
            return b"v"

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda key: store.update(key, change), ["a", "b"]))

    def test_readers_see_the_old_or_the_new_value(self, store):
        done = threading.Event()
        store.set("k", bytes(3000))
        torn = []

        def read():
            buffer = filled(4000, 0)
            while not done.is_set():
                size = store.get_into("k", buffer)
                if size != 3000 or len(set(buffer[:3000])) != 1 or len(set(store.get("k"))) != 1:
                    torn.append(size)

        with ThreadPoolExecutor(3) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            for number in range(100):
                store.set("k", bytes([number]) * 3000)
            done.set()
            for reader in readers:
                reader.result()
        assert torn == []

    # --- the object ---

    def test_another_object_for_the_same_place(self, store, tmp_path):
        store.set("k", b"v")
        store.close()
        other = self.again(store, read_only=True)
        assert other == store
        assert hash(other) == hash(store)
        assert bytes(other.get("k")) == b"v"
        assert other != self.make(tmp_path / "other")
        assert store != "a string"
        other.close()

    def test_read_only(self, store):
        store.set("k", b"v")
        store.close()
        other = self.again(store, read_only=True)
        assert other.read_only
        for call in (
            lambda: other.set("k", b"new"),
            lambda: other.set("n", b"new"),
            lambda: other.erase("k"),
            lambda: other.erase("n"),
            lambda: other.erase_prefix(""),
            lambda: other.erase_prefix("k/"),
            lambda: other.update("k", lambda reader: b"new"),
            lambda: other.set_partial_values([("k", 0, b"new")]),
        ):
            with pytest.raises(StoreReadOnlyError):
                call()
        assert bytes(other.get("k")) == b"v"
        assert list(other.list()) == ["k"]
        other.close()

    def test_pickle(self, store):
        store.set("k", b"v")
        store.close()
        if self.pickles:
            other = pickle.loads(pickle.dumps(store))
            assert other == store
            other.set("k", b"new")
            assert bytes(store.get("k")) == b"new"
        else:
            with pytest.raises(StoreError, match="pickle"):
                pickle.dumps(store)
        reader = pickle.loads(pickle.dumps(self.again(store, read_only=True)))
        assert reader.read_only
        assert bytes(reader.get("k")) == bytes(store.get("k"))
        reader.close()

    def test_copies_of_the_object_are_the_same_place(self, store):
        if self.pickles:
            assert copy.copy(store) == copy.deepcopy(store) == store

    def test_messages_name_the_store_and_the_key(self, store):
        assert repr(store).startswith(type(store).__name__)
        assert str(store) == store.url
        assert "://" in store.url
        with pytest.raises(ZarrError, match="a/x"):
            store.set("a/x/", b"")

    def test_close_twice(self, store):
        store.set("k", b"v")
        store.close()
        store.close()
        assert bytes(store.get("k")) == b"v"
