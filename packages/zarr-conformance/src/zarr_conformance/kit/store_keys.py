"""Keys of stores: validation and listing."""

from __future__ import annotations

from typing import Any

import pytest
from zarr_core.extension import ByteRange, StoreError, StoreKeyError, StoreReadError

from zarr_conformance.kit.store_case import StoreCase, filled

BAD_KEYS = (
    "", "/", "//", ".", "..", "../x", "a/../b", "a/..", "a/.", "./a", "/abs", "a//b", "a/",
    "a\\b", "a\\..\\b", "..\\x", "c:\\x", "nul\0", "\0", "a/\0/b",
)  # fmt: skip
GOOD_KEYS = (
    "zarr.json", ".zgroup", ".zarray", "c", "__x", "a/b/c/0/1", "...", "..a", "a..", ".a/.b",
    "c:x", " ", "a b/c d", "%2e%2e/x", "?query#fragment", "A", "a", "\u00e9", "e\u0301",
    "\u03a9/\u6f22\u5b57/\U0001f40d", "-", "~", "*", "x\ny", "con", "c/0", "0" * 200,
)  # fmt: skip


class StoreKeyTests(StoreCase):
    """Keys cannot leave the store, and all keys are listed."""

    # --- keys ---

    @pytest.mark.parametrize("key", BAD_KEYS, ids=repr)
    def test_invalid_keys_raise(self, store: Any, key: str) -> None:
        store.set("a/b", b"")  # so that the beginnings of some of them are there
        for call in (
            store.get,
            store.exists,
            store.getsize,
            store.open_value,
            store.erase,
            lambda key: store.get_limited(key, 4, filled(4, 0)),
            lambda key: store.get_limited(key, 0, filled(0, 0)),
            lambda key: store.set(key, b"x"),
            lambda key: store.update(key, lambda _: b"x"),
            lambda key: store.get_partial_values([(key, ByteRange(0))]),
        ):
            with pytest.raises(StoreKeyError):
                call(key)
        assert list(store.list()) == ["a/b"]

    @pytest.mark.parametrize("prefix", ["a", "/", "..", "../", "a//", "/a/", "a/../", "a\\b/"])
    def test_invalid_prefixes_raise(self, store: Any, prefix: Any) -> None:
        for call in (store.list_prefix, store.list_dir, store.erase_prefix):
            with pytest.raises(StoreKeyError):
                call(prefix)

    @pytest.mark.parametrize("key", GOOD_KEYS, ids=ascii)
    def test_unusual_keys_are_valid(self, store: Any, key: str) -> None:
        store.set(key, b"value")
        assert bytes(store.get(key)) == b"value"
        assert bytes(store.get_limited(key, 5, filled(5, 0))) == b"value"
        assert store.exists(key)
        store.update(key, lambda reader: bytes(reader.read(0, 5)) + b"!")
        assert bytes(store.get(key)) == b"value!"
        assert list(store.list()) == [key]

    def test_keys_are_case_sensitive_and_not_normalized(self, store: Any) -> None:
        twins = ["\u00e9", "e\u0301", *(["A", "a"] if self.case_sensitive else [])]
        for key in twins:
            store.set(key, key.encode())
        assert [bytes(store.get(key)) for key in twins] == [key.encode() for key in twins]
        assert sorted(store.list()) == sorted(twins)

    def test_long_key_works_or_raises(self, store: Any) -> None:
        key = "x" * 300
        try:
            store.set(key, b"v")
        except StoreError as error:
            assert "too long" in str(error)  # noqa: PT017 - either outcome is right
            assert list(store.list()) == []
        else:
            assert bytes(store.get(key)) == b"v"

    def test_unencodable_key_works_or_raises(self, store: Any) -> None:
        try:
            store.set("\ud800", b"v")
        except StoreKeyError:
            with pytest.raises(StoreKeyError):
                store.get("\ud800")
        else:
            assert bytes(store.get("\ud800")) == b"v"

    def test_key_that_is_a_prefix_works_or_raises(self, store: Any) -> None:
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

    def test_list(self, store: Any) -> None:
        assert list(store.list()) == []
        keys = self._fill(store)
        assert sorted(store.list()) == sorted(keys)

    def test_list_prefix_matches_whole_segments(self, store: Any) -> None:
        self._fill(store)
        store.set("other/foo/c/0", b"")
        assert sorted(store.list_prefix("foo/")) == ["foo/c/0", "foo/c/1", "foo/zarr.json"]
        assert dict(store.list_sizes("foo/")) == {
            key: store.getsize(key) for key in store.list_prefix("foo/")
        }
        assert list(store.list_prefix("fo/")) == []
        assert list(store.list_prefix("zarr.json/")) == []

    def test_list_dir(self, store: Any) -> None:
        assert store.list_dir("") == ([], [])
        self._fill(store)
        keys, prefixes = store.list_dir("")
        assert (sorted(keys), sorted(prefixes)) == (["zarr.json"], ["foo/", "foobar/"])
        assert store.list_dir("foo/") == (["foo/zarr.json"], ["foo/c/"])
        keys, prefixes = store.list_dir("foo/c/")
        assert (sorted(keys), prefixes) == (["foo/c/0", "foo/c/1"], [])
        assert store.list_dir("nothing/") == ([], [])

    def test_deep_keys(self, store: Any) -> None:
        key = "/".join(["d"] * 1500)
        store.set(key, b"deep")
        assert list(store.list()) == [key]
        assert bytes(store.get(key)) == b"deep"
        if self.can_erase:
            store.erase_prefix("d/")
            assert list(store.list()) == []

    def test_changes_while_listing(self, store: Any) -> None:
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
