"""Changes of stores: erasing, updates by many at once, read-only objects."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from zarr_core.extension import StoreCapabilityError, StoreError, StoreReadOnlyError, ZarrError

from zarr_conformance.kit.store_case import StoreCase, filled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class StoreChangeTests(StoreCase):
    """Changes are not lost, and incomplete changes are not visible."""

    # --- erasing ---

    def test_erase(self, store: Any) -> None:
        self._fill(store)
        store.erase("nothing")
        store.erase("nothing/at/all")
        if not self.can_erase:
            assert not store.traits.supports_erasing
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

    def test_erase_prefix(self, store: Any) -> None:
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

    def test_update(self, store: Any) -> None:
        seen = []

        def change(reader: Any) -> Any:
            seen.append(None if reader is None else bytes(reader.read(0, reader.size)))
            return [b"value", str(len(seen)).encode()]

        store.update("a/k", change)
        store.update("a/k", change)
        assert seen == [None, b"value1"]
        assert bytes(store.get("a/k")) == b"value2"

    def test_update_to_none_erases(self, store: Any) -> None:
        store.update("a/k", lambda reader: None)
        assert store.get("a/k") is None
        assert store.list_dir("") == ([], [])
        store.set("a/k", b"v")
        if self.can_erase:
            store.update("a/k", lambda reader: None)
            assert store.get("a/k") is None
            assert list(store.list()) == []

    def test_failed_update_changes_nothing(self, store: Any) -> None:
        store.set("k", b"old")

        def change(reader: Any) -> Any:
            raise LookupError("mine")

        for key in ("k", "new/k"):
            with pytest.raises(LookupError, match="mine"):
                store.update(key, change)
        assert list(store.list()) == ["k"]
        store.update("k", lambda reader: b"still possible")
        assert bytes(store.get("k")) == b"still possible"

    def test_concurrent_updates_lose_nothing(self, store: Any) -> None:
        store.set("k", bytes(64))

        def work(cell: int) -> None:
            def change(reader: Any) -> Any:
                value = bytearray(reader.read(0, reader.size))
                value[cell] += 1
                return value

            for _ in range(5):
                store.update("k", change)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(64)))
        assert bytes(store.get("k")) == b"\5" * 64

    def test_updates_of_different_keys_are_concurrent(self, store: Any) -> None:
        inside = threading.Barrier(2, timeout=10)

        def change(reader: Any) -> Any:
            inside.wait()
            return b"v"

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda key: store.update(key, change), ["a", "b"]))

    def test_reads_during_writes_are_consistent(self, store: Any) -> None:
        done = threading.Event()
        store.set("k", bytes(3000))
        torn = []

        def read() -> None:
            buffer = filled(4000, 0)
            while not done.is_set():
                value = store.get_limited("k", 4000, buffer)
                if len(value) != 3000 or len(set(value)) != 1 or len(set(store.get("k"))) != 1:
                    torn.append(len(value))

        with ThreadPoolExecutor(3) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            for number in range(100):
                store.set("k", bytes([number]) * 3000)
            done.set()
            for reader in readers:
                reader.result()
        assert torn == []

    # --- the object ---

    def test_two_stores_at_one_location(self, store: Any, tmp_path: Path) -> None:
        store.set("k", b"v")
        store.close()
        other: Any = self.again(store, read_only=True)
        assert other == store, (
            "two objects for one place are not equal: define url, which says where the values are, "
            "or __eq__ and __hash__"
        )
        assert hash(other) == hash(store), "equal stores have different hashes"
        assert bytes(other.get("k")) == b"v"
        assert other != self.make(tmp_path / "other"), "stores in two places are equal"
        assert store != "a string"
        other.close()

    def test_read_only(self, store: Any) -> None:
        store.set("k", b"v")
        store.close()
        other: Any = self.again(store, read_only=True)
        assert other.read_only
        calls: dict[str, Callable[[], object]] = {
            'set("k", b"new"), of a key that exists,': lambda: other.set("k", b"new"),
            'set("n", b"new"), of a new key,': lambda: other.set("n", b"new"),
            'erase("k"), of a key that exists,': lambda: other.erase("k"),
            'erase("n"), of a missing key,': lambda: other.erase("n"),
            'erase_prefix("")': lambda: other.erase_prefix(""),
            'erase_prefix("k/"), without keys,': lambda: other.erase_prefix("k/"),
            'update("k", ...)': lambda: other.update("k", lambda reader: b"new"),
            'set_values([("k", b"new")])': lambda: other.set_values([("k", b"new")]),
            'set_partial_values([("k", 0, b"new")])': lambda: other.set_partial_values(
                [("k", 0, b"new")]
            ),
        }
        for words, call in calls.items():
            with suppress(StoreReadOnlyError):
                call()
                pytest.fail(f"{words} of a store that is read only raises no StoreReadOnlyError")
        assert bytes(other.get("k")) == b"v"
        assert list(other.list()) == ["k"]
        other.close()

    def test_pickle(self, store: Any) -> None:
        store.set("k", b"v")
        store.close()
        if self.pickles:
            other: Any = pickle.loads(pickle.dumps(store))
            assert other == store
            other.set("k", b"new")
            assert bytes(store.get("k")) == b"new"
        else:
            with pytest.raises(StoreError, match="pickle"):
                pickle.dumps(store)
        reader: Any = pickle.loads(pickle.dumps(self.again(store, read_only=True)))
        assert reader.read_only
        assert bytes(reader.get("k")) == bytes(store.get("k"))
        reader.close()

    def test_copied_store_has_same_location(self, store: Any) -> None:
        if self.pickles:
            assert copy.copy(store) == copy.deepcopy(store) == store

    def test_errors_name_store_and_key(self, store: Any) -> None:
        name = type(store).__name__
        assert repr(store).startswith(name), f"the repr of a store begins with its class, {name}"
        assert str(store).startswith(store.url), "str(store) begins with its url"
        assert "://" in store.url, "the url of a store has a scheme"
        with pytest.raises(ZarrError, match="a/x"):
            store.set("a/x/", b"")

    def test_close_twice(self, store: Any) -> None:
        store.set("k", b"v")
        store.close()
        store.close()
        assert bytes(store.get("k")) == b"v"
