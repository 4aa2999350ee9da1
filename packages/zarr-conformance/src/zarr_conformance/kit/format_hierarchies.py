"""Hierarchies of formats: creation, listing and removal of nodes, consolidated metadata."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
import zarr_core as zarr
from zarr_core.errors import NodeExistsError
from zarr_core.extension import MetadataValidationError

from zarr_conformance.kit.format_case import FormatCase, stored

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import Buffers

T = TypeVar("T")


class FormatHierarchyTests(FormatCase):
    """Nodes are created once and removed completely."""

    def test_create_node_twice(self) -> None:
        """Creating a node twice fails the second time."""
        store = zarr.MemoryStore()
        self.array(store)
        before = stored(store)
        with pytest.raises(NodeExistsError):
            self.array(store, shape=(9, 9))
        metadata = self.format().read(store, "")
        assert metadata is not None
        assert self.format().create(store, "", metadata) is False
        assert stored(store) == before

    def test_concurrent_creation_has_one_winner(self) -> None:
        """If several threads create a node, one succeeds and the others raise."""
        for path in ["", "a/b"] if self.groups else [""]:
            store = SlowStore()

            def work(number: int, store: Any = store, path: str = path) -> int | None:
                try:
                    self.array(store, path=path, shape=(number + 1, 7))
                except NodeExistsError:
                    return None
                return number

            made = [number for number in _at_once(work, 4) if number is not None]
            assert len(made) == 1, f"{len(made)} of 4 made the same node"
            assert zarr.open_array(store, path=path, mode="r").shape == (made[0] + 1, 7)

    def test_concurrent_creation_keeps_metadata_consistent(self) -> None:
        """``create`` stores the metadata of one caller only, and returns whether it did."""
        nodes = []
        for number in range(4):
            single = zarr.MemoryStore()
            self.array(single, shape=(number + 1, 7))
            nodes.append((self.format().read(single, ""), stored(single)))
        store = SlowStore()

        def work(number: int) -> bool:
            metadata = nodes[number][0]
            assert metadata is not None
            return self.format().create(store, "", metadata)

        made = _at_once(work, 4)
        assert sum(made) == 1, f"create says {sum(made)} times that it stored the node"
        assert stored(store) == nodes[made.index(True)][1]

    def test_missing_node_raises(self) -> None:
        """An empty store has no node, and looking for one changes nothing."""
        store = zarr.MemoryStore()
        assert self.format().read(store, "") is None
        assert list(store.list()) == []

    def test_group_members(self) -> None:
        """Children are listed by name, with their attributes; a prefix is not a child."""
        if not self.groups:
            pytest.skip("there are no groups")
        store = zarr.MemoryStore()
        root = zarr.create_group(store, zarr_format=self.name)
        root.create_array("b", shape=4, chunks=2, dtype="int16")[...] = 5
        inner = root.create_group("a")
        inner.create_array("c/d", shape=3, chunks=2, dtype="int16")
        again = zarr.open_group(store, mode="r+")
        paths = [path for path, _ in again.members(max_depth=None)]
        assert paths == ["a", "a/c", "a/c/d", "b"]
        assert list(self.format().child_names(store, "")) == ["a", "b"]
        if self.attributes:
            again["a"].attrs["title"] = "kit"
            assert zarr.open_group(store, path="a").attrs["title"] == "kit"

    def test_remove_node_removes_descendants(self) -> None:
        """Removing a node removes all its keys and no others."""
        if not self.groups:
            pytest.skip("there are no groups")
        store = zarr.MemoryStore()
        root = zarr.create_group(store, zarr_format=self.name)
        root.create_array("ab", shape=2, chunks=2, dtype="int16")[...] = 1
        before = set(store.list())
        root.create_array("a/b/c", shape=4, chunks=2, dtype="int16")[...] = 5
        zarr.remove(store, "a")
        assert set(store.list()) == before

    def test_unmanaged_keys_are_found(self) -> None:
        """Unmanaged keys are found before a node is overwritten."""
        store = zarr.MemoryStore()
        self.array(store)[...] = 1
        assert self.format().find_unmanaged_key(store, "") is None
        other = zarr.MemoryStore({"notes.txt": b"mine"})
        assert self.format().find_unmanaged_key(other, "") == "notes.txt"

    # --- copies of documents ---

    def test_consolidated_metadata_is_kept_or_rejected(self) -> None:
        """Consolidated metadata equals the hierarchy, also after changes."""
        if not self.groups:
            pytest.skip("there are no groups")
        store = zarr.MemoryStore()
        root = zarr.create_group(store, zarr_format=self.name)
        root.create_array("b", shape=4, chunks=2, dtype="int16")
        root.create_array("a/c", shape=3, chunks=2, dtype="int16")
        before = stored(store)
        try:
            zarr.consolidate_metadata(store)
        except MetadataValidationError as error:
            pointers = [problem.pointer for problem in error.problems]
            assert pointers == ["/consolidated_metadata"], pointers
            assert stored(store) == before, "what was refused has changed something"
            return
        assert _copied(store) == ["a", "a/c", "b"]
        group: Any = zarr.open_consolidated(store, mode="r+")
        group["b"].resize((6,))
        group.create_group("d")
        del group["a"]
        assert _copied(store) == ["b", "d"]
        if self.attributes:
            group["d"].attrs["title"] = "kit"
            group.attrs["title"] = "kit"
            assert _copied(store) == ["b", "d"]
            assert zarr.open_consolidated(store)["d"].attrs["title"] == "kit"


class SlowStore(zarr.MemoryStore):
    """A slow memory store, so that missing locks are detected."""

    def get(self, key: str) -> bytes | None:
        value = super().get(key)
        time.sleep(0.002)
        return value

    def exists(self, key: str) -> bool:
        is_stored = super().exists(key)
        time.sleep(0.002)
        return is_stored

    def set(self, key: str, value: Buffers) -> None:
        time.sleep(0.002)
        super().set(key, value)


def _at_once(work: Callable[[int], T], count: int) -> list[T]:
    """The results of threads that start at the same time."""
    begin = threading.Barrier(count, timeout=10)

    def one(number: int) -> T:
        begin.wait()
        return work(number)

    # Threads do not know what was given to a block of code, such as extensions.
    contexts = [copy_context() for _ in range(count)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda n: contexts[n].run(one, n), range(count)))


def _copied(store: Any) -> list[str]:
    """Paths of the nodes in the consolidated metadata of a group, which is checked."""
    group = zarr.open_consolidated(store)
    assert not (difference := zarr.check_consolidated(group)), str(difference)
    return [path for path, _ in group.members(max_depth=None)]
