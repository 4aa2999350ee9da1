"""Interrupted copies, moves, renames and removals: no data is lost, and all can be resumed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
import zarr_core as zarr
from copy_killers import KINDS
from failing_store import FailingStore
from zarr_core.errors import NodeExistsError, NodeNotFoundError, NodeTypeError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROGRAM = Path(__file__).with_name("copy_killers.py")


@cache
def hierarchy(zarr_format: int | str) -> dict[str, bytes]:
    store: dict[str, bytes] = {}
    root = zarr.create_group(store, zarr_format=zarr_format, attributes={"t": 1})
    root.create_array("g/a", data=np.arange(1, 7), chunks=2, attributes={"n": 1})
    root.create_group("g/empty", attributes={"m": 2})
    root.create_array("g/h/b", data=np.arange(1.0, 5.0), chunks=2)
    return store


def build(zarr_format: int | str = 3) -> zarr.MemoryStore:
    return zarr.MemoryStore(dict(hierarchy(zarr_format)))


def contents(store: zarr.Store, prefix: str = "") -> dict[str, Any]:
    return {key[len(prefix) :]: value(store, key) for key in store.list_prefix(prefix)}


def value(store: zarr.Store, key: str) -> Any:
    found = bytes(store.get(key) or b"")
    name = key.rpartition("/")[2]
    return json.loads(found) if "json" in name or name.startswith(".z") else found


def arrays_are_whole(store: zarr.Store, path: str) -> None:
    """Every visible array has all its elements."""
    for name, expected in (("a", range(1, 7)), ("h/b", range(1, 5))):
        try:
            array = zarr.open_array(store, path=f"{path}/{name}".lstrip("/"))
        except NodeNotFoundError:
            continue
        assert array[...].tolist() == list(expected)


def is_whole(store: zarr.Store, path: str) -> bool:
    """Check that a visible group is complete."""
    try:
        group = zarr.open_group(store, path=path)
    except NodeNotFoundError:
        return False
    assert [name for name, _ in group.members(None)] == ["a", "empty", "h", "h/b"]
    arrays_are_whole(store, path)
    return True


class Operation(NamedTuple):
    work: Callable[[Any, Any], Any]
    """Gets two stores."""
    target: str
    """Path of the group's copy."""
    again: dict[str, Any] = {}
    """What is said when it is tried again."""
    moves: bool = False


def _copy(source: Any, dest: Any, **options: Any) -> None:
    zarr.copy(zarr.open_group(source, path="g"), dest, "x/g", **options)


def _copy_all(source: Any, dest: Any, **options: Any) -> None:
    zarr.copy_all(zarr.open_group(source), dest, **options)


def _copy_store(source: Any, dest: Any, **options: Any) -> None:
    zarr.copy_store(source, dest, "g", "y", **options)


def _move(source: Any, dest: Any) -> None:
    try:
        node = zarr.open_group(source, path="g")
    except NodeNotFoundError:  # only leftovers remain
        zarr.rmdir(source, "g")
    else:
        zarr.move(node, dest, "x/g")


OPERATIONS = {
    "copy": Operation(_copy, "x/g"),
    "copy what is missing": Operation(
        lambda source, dest, **options: _copy(source, dest, if_exists="skip"), "x/g"
    ),
    "decode": Operation(
        lambda source, dest, **options: _copy(source, dest, chunks=3, **options), "x/g",
        {"if_exists": "skip"},
    ),
    "copy all": Operation(_copy_all, "g", {"if_exists": "skip"}),
    "copy store": Operation(_copy_store, "y", {"if_exists": "update"}),
    "move": Operation(_move, "x/g", moves=True),
}  # fmt: skip


@pytest.mark.parametrize("requests", [None, 4])
@pytest.mark.parametrize("name", OPERATIONS)
def test_from_store_to_store(name, requests):
    operation = OPERATIONS[name]
    source, dest = FailingStore(build()), FailingStore(zarr.MemoryStore())
    source.max_concurrency = dest.max_concurrency = requests
    untouched = contents(source)
    operation.work(source, dest)
    expected = contents(dest)
    calls = len(source.calls), len(dest.calls)
    assert is_whole(dest, operation.target)
    for side in (0, 1):
        # The order of concurrent requests is another one each time.
        for fail_at in range(1, calls[side] + 1, 3 if requests else 1):
            for when in ("before", "after"):
                stores = [FailingStore(build()), FailingStore(zarr.MemoryStore())]
                for store in stores:
                    store.max_concurrency = requests
                failing = stores[side]
                failing.fail_at, failing.when, failing.forever = fail_at, when, when == "before"
                try:
                    operation.work(*stores)
                except StoreError:
                    pass
                else:  # fewer calls than the first time, or calls only for an error message
                    assert len(failing.calls) < fail_at or when == "after"
                for store in stores:
                    store.fail_at = None
                arrays_are_whole(stores[1], operation.target)
                there = is_whole(stores[1], operation.target)
                if not operation.moves:
                    assert contents(stores[0]) == untouched
                else:
                    assert there or is_whole(stores[0], "g")
                    arrays_are_whole(stores[0], "g")
                    if there and "g" not in zarr.open_group(stores[0]):
                        operation.work(*stores) if list(stores[0].list_prefix("g/")) else None
                        assert contents(stores[1]) == expected
                        continue
                options = {} if operation.moves else operation.again
                if there and name == "copy":
                    options = {"if_exists": "skip"}
                operation.work(*stores, **options)
                assert contents(stores[1]) == expected
                if operation.moves:
                    assert not list(stores[0].list_prefix("g/"))


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("when", ["before", "after"])
def test_moves_within_a_store(zarr_format, when):
    expected = contents(moved(build(zarr_format)))
    for inner in stopped(zarr_format, when):
        assert is_whole(inner, "g") or is_whole(inner, "x/g")
        if list(inner.list_prefix("g/")):
            moved(inner)
        assert contents(inner) == expected


@pytest.mark.parametrize("zarr_format", ["draft", "n5"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_moves_where_groups_are_implied(zarr_format, when):
    """While documents are removed, the remaining ones still form a group."""
    expected = contents(moved(build(zarr_format)))
    for inner in stopped(zarr_format, when):
        assert has_everything(inner, "g") or has_everything(inner, "x/g")
        if any("g/" in key and "x/" not in key for key in inner.list()):
            moved(inner)
        assert contents(inner) == expected


def moved(store: zarr.Store) -> zarr.Store:
    zarr.open_group(store).move("g", "x/g")
    return store


def stopped(zarr_format: int | str, when: Any) -> Iterator[zarr.Store]:
    """Stores with a move that was interrupted, at every call."""
    for fail_at in range(1, 300):
        inner = build(zarr_format)
        store = FailingStore(inner, fail_at, when, when == "before")
        try:
            moved(store)
        except StoreError:
            yield inner
        else:
            if fail_at > len(store.calls):
                return
    pytest.fail("the move never came to its end")


def has_everything(store: zarr.Store, path: str) -> bool:
    """Whether all arrays can be read and have all elements."""
    try:
        return all(
            zarr.open_array(store, path=f"{path}/{name}")[...].tolist() == list(expected)
            for name, expected in (("a", range(1, 7)), ("h/b", range(1, 5)))
        )
    except (NodeNotFoundError, NodeTypeError):
        return False


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("work", ["delete", "rmdir"])
def test_partly_removed_node_is_not_valid(zarr_format, work):
    for fail_at in range(1, 300):
        inner = build(zarr_format)
        store = FailingStore(inner, fail_at, "before", forever=True)
        try:
            if work == "delete":
                del zarr.open_group(store)["g"]
            else:
                zarr.rmdir(store, "g")
        except StoreError:
            arrays_are_whole(inner, "g")
            if "g" not in zarr.open_group(inner) and list(inner.list_prefix("g/")):
                zarr.rmdir(inner, "g")
        else:
            break
    assert not list(inner.list_prefix("g/"))


def test_another_node_that_looks_alike_is_not_taken_for_the_moved_one():
    root = zarr.open_group(build())
    zarr.copy(root["g"], root, "x")
    root["x/a"][3] = 100
    with pytest.raises(NodeExistsError, match="'/x': a node already exists"):
        root.move("g", "x")
    assert is_whole(root.store, "g")
    root["x/a"][3] = 4
    root.move("g", "x")
    assert "g" not in root
    assert is_whole(root.store, "x")


def test_orphaned_keys_are_removed_only_if_moved():
    root = zarr.open_group(build())
    zarr.copy(root["g"], root, "x")
    root.store.erase("g/zarr.json")
    root.store.set("g/mine.txt", b"not at the other place")
    with pytest.raises(NodeNotFoundError, match="no node to move"):
        root.move("g", "x")
    assert root.store.get("g/mine.txt")
    root.store.erase("g/mine.txt")
    root.move("g", "x")
    assert not list(root.store.list_prefix("g/"))
    with pytest.raises(NodeNotFoundError, match="no node to move"):
        root.move("g", "x")


def test_values_stored_during_a_move_are_kept():
    class Busy(zarr.MemoryStore):
        def set(self, key, value):
            super().set(key, value)
            if key == "x/zarr.json":
                super().set("g/a/c/9", b"of another writer")

    store = Busy(build()._mapping)
    with pytest.raises(StoreError, match="stored while its node was moved"):
        zarr.open_group(store).move("g", "x")
    assert store.get("g/a/c/9") == b"of another writer"
    assert is_whole(store, "g")
    assert is_whole(store, "x")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kills", ["5", pytest.param("60", marks=pytest.mark.slow)])
def test_killed(tmp_path, kind, kills):
    result = subprocess.run(
        [sys.executable, PROGRAM, tmp_path, kind, kills, "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
