"""A store that fails at its k-th call, for every k: the stored data is old or new, and valid."""

from __future__ import annotations

import contextlib
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
import zarr_core as zarr
from failing_store import FailingStore
from zarr_core.errors import StoreError
from zarr_core.stores.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

SHAPE = (10, 6)
OLD = np.arange(60, dtype="i4").reshape(SHAPE)


@cache
def hierarchy() -> dict[str, bytes]:
    """A hierarchy with a chunked, a compressed and a sharded array."""
    return dict(_built())


@cache
def _built() -> dict[str, bytes]:
    mapping: dict[str, bytes] = {}
    root = zarr.create_group(MemoryStore(mapping), attributes={"n": 1})
    options: dict[str, Any] = {"shape": SHAPE, "dtype": "i4", "attributes": {"n": 1, "m": 1}}
    root.create_array("raw", chunks=(4, 4), compressors=None, **options)[...] = OLD
    root.create_array("zip", chunks=(4, 4), compressors="gzip", **options)[...] = OLD
    root.create_array("shard", chunks=(2, 3), shards=(4, 6), compressors="gzip", **options)[...] = (
        OLD
    )
    root.create_group("sub/deep").create_array("raw", chunks=(5, 6), **options)[...] = OLD
    return mapping


def build() -> dict[str, bytes]:
    return dict(hierarchy())


class Operation(NamedTuple):
    work: Callable[[Any], Any]
    """Gets the node, once it was opened."""
    node: str = ""
    again: bool = True
    """Whether doing it again after a failure leads to the same."""
    intermediate: bool = False
    """Whether a value is written more than once on the way."""


def _set(selection: Any) -> Callable[[Any], None]:
    def work(array: Any) -> None:
        array[selection] = -1

    return work


def _create(name: str, **options: Any) -> Callable[[Any], None]:
    def work(group: Any) -> None:
        array = group.create_array(name, shape=(7, 5), chunks=(3, 3), dtype="f8", **options)
        array[...] = 2.5

    return work


def _consolidate_then_change(group: Any) -> None:
    zarr.consolidate_metadata(group.store)
    group = zarr.open_group(group.store, use_consolidated=True)
    group["raw"].attrs["n"] = 2
    group.create_group("more")
    del group["sub"]


OPERATIONS = {
    "create": Operation(_create("new"), again=False),
    "create deep": Operation(_create("some/new/one"), again=False),
    "create sharded": Operation(_create("new", shards=(6, 6)), again=False),
    "create group": Operation(lambda group: [group.require_group(path) for path in ("a/b", "a/c")]),
    "require array": Operation(lambda group: group.require_array("raw", shape=SHAPE, dtype="i4")),
    "overwrite": Operation(_create("raw", overwrite=True), again=False),
    "attribute": Operation(lambda array: array.attrs.__setitem__("n", 2), "raw"),
    "attributes": Operation(lambda array: array.attrs.update(n=2, k=[1, {"a": 2}]), "shard"),
    "attributes replaced": Operation(lambda group: group.attrs.put({"only": 1})),
    "attribute removed": Operation(lambda array: array.attrs.pop("n", None), "raw"),
    "grow": Operation(lambda array: array.resize(20, 20), "raw"),
    "shrink": Operation(lambda array: array.resize(5, 3), "raw", again=False, intermediate=True),
    "shrink shards": Operation(
        lambda array: array.resize(5, 4), "shard", again=False, intermediate=True
    ),
    "shrink to nothing": Operation(lambda array: array.resize(0, 3), "zip", again=False),
    "append": Operation(lambda array: array.append(np.full((7, 6), 3)), "raw", again=False),
    "append shards": Operation(
        lambda array: array.append(np.full((10, 2), 3), axis=1), "shard", again=False
    ),
    "consolidate": Operation(lambda group: zarr.consolidate_metadata(group.store)),
    "consolidate then change": Operation(_consolidate_then_change, again=False, intermediate=True),
    "move": Operation(lambda group: group.move("raw", "sub/raw"), again=False),
    "move group": Operation(lambda group: group.move("sub", "other/place"), again=False),
    "delete array": Operation(lambda group: group.__delitem__("raw"), again=False),
    "delete group": Operation(lambda group: group.__delitem__("sub"), again=False),
    "clear": Operation(lambda group: group.clear(), again=False),
    "list": Operation(lambda group: (list(group), group.tree(), group.info_complete())),
    "stored": Operation(lambda array: (array.nbytes_stored(), array.info_complete()), "shard"),
}
for _node in ("raw", "zip", "shard"):
    for _name, _selection in {
        "whole": ...,
        "part": (slice(1, 9), slice(2, 5)),
        "steps": (slice(None, None, 3), slice(None, None, 2)),
        "backwards": (slice(None, None, -2), slice(5, 0, -1)),
        "cells": ([0, 5, 9], [0, 1, 5]),
        "cell": (9, 5),
        "mask": OLD % 7 == 0,
    }.items():
        OPERATIONS[f"write {_name}, {_node}"] = Operation(_set(_selection), _node)


def sound(mapping: dict[str, bytes]) -> None:
    """Every document is valid, every chunk can be read."""
    root = zarr.open_group(MemoryStore(mapping), "r", use_consolidated=False)
    for _, node in root.members(None):
        node.attrs.asdict()
        if isinstance(node, zarr.Array):
            node[...]
    with contextlib.suppress(ValueError):  # there may be no consolidated metadata
        for _, node in zarr.open_consolidated(MemoryStore(mapping)).members(None):
            node.attrs.asdict()


def attempt(operation: Operation, fail_at: int | None, when: Any, forever: bool = False):
    """Run the operation once; return the mapping, the store, the node and the error."""
    mapping = build()
    store = FailingStore(MemoryStore(mapping))
    node = zarr.open_group(store, "r+")
    if operation.node:
        node = node[operation.node]
    store.calls.clear()
    store.fail_at, store.when, store.forever = fail_at, when, forever
    error = None
    try:
        operation.work(node)
    except StoreError as failure:
        error = failure
    calls = len(store.calls)
    store.fail_at = None
    return mapping, node, error, calls


@pytest.mark.parametrize("name", OPERATIONS)
def test_after_any_failure_everything_is_old_or_new(name):
    operation = OPERATIONS[name]
    before = build()
    after, _, error, calls = attempt(operation, None, "before")
    assert error is None
    assert calls
    sound(after)
    for fail_at in range(1, calls + 1):
        for when in ("before", "after"):
            for forever in (False, True) if when == "before" else (False,):
                mapping, node, error, _ = attempt(operation, fail_at, when, forever)
                assert error is not None, (fail_at, when)
                assert "injected failure" in str(error)
                for key in mapping.keys() | before.keys() | after.keys():
                    states = [before.get(key), after.get(key)]
                    if "overwrite" in name:
                        states.append(None)  # removed, and not yet written again
                    if not (operation.intermediate or key.endswith("zarr.json")):
                        assert mapping.get(key) in states, key
                sound(mapping)
                usable(node, mapping)
                if operation.again:
                    operation.work(node)
                    assert mapping.keys() == after.keys()
                    sound(mapping)


def usable(node: Any, mapping: dict[str, bytes]) -> None:
    """The object in memory agrees with the store, and works, if its node still exists."""
    document = f"{node.path}/zarr.json".lstrip("/")
    if document not in mapping:
        return
    node.refresh()
    if isinstance(node, zarr.Array):
        values = node[...]
        assert values.shape == node.shape
        rows, columns = map(min, SHAPE, node.shape)
        there = values[:rows, :columns]
        assert ((there == OLD[:rows, :columns]) | (there < 4)).all()
    else:
        assert sorted(name for name, _ in node.members()) == list(node)


@pytest.mark.parametrize("name", ["overwrite", "delete array", "clear"])
def test_interrupted_removal_leaves_no_valid_node(name):
    operation = OPERATIONS[name]
    _, _, _, calls = attempt(operation, None, "before")
    refused = 0
    for fail_at in range(1, calls + 1):
        mapping, group, _, _ = attempt(operation, fail_at, "before", forever=True)
        options = {"name": "raw", "shape": SHAPE, "chunks": (4, 4), "dtype": "i4", "fill_value": 8}
        if "raw/zarr.json" in mapping:
            continue
        if any(key.startswith("raw/") for key in mapping):
            refused += 1
            with pytest.raises(zarr.errors.NodeExistsError, match="not removed completely"):
                group.create_array(**options)
            array = group.create_array(**options, overwrite=True)
        else:
            array = group.create_array(**options)
        assert (array[...] == 8).all()
    assert refused


@pytest.mark.parametrize("name", ["attribute", "attributes replaced", "grow", "append"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_failed_change_leaves_the_object_unchanged(name, when):
    operation = OPERATIONS[name]
    _, _, _, calls = attempt(operation, None, when)
    for fail_at in range(1, calls + 1):
        mapping, node, _, _ = attempt(operation, fail_at, when)
        old = zarr.open(MemoryStore(build()), path=operation.node)
        assert node.attrs.asdict() == old.attrs.asdict()
        if isinstance(node, zarr.Array):
            assert node.shape == SHAPE
            assert (node[...] == OLD).all()
            node[0, 0] = 5
            node.attrs["later"] = 1
            again = zarr.open_array(MemoryStore(mapping), path=operation.node)
            assert again[0, 0] == 5
            assert again.attrs["later"] == 1


@pytest.mark.parametrize("node", ["raw", "zip", "shard"])
def test_a_failing_read_raises_and_is_never_taken_for_a_missing_chunk(node):
    mapping = build()
    store = FailingStore(MemoryStore(mapping))
    array = zarr.open_array(store, path=node)
    for selection in (..., (3, 3), slice(2, 9, 3), ([1, 9], [2, 5])):
        store.calls.clear()
        expected = array[selection]
        calls = len(store.calls)
        for fail_at in range(1, calls + 1):
            for when in ("before", "after"):
                store.calls.clear()
                store.fail_at, store.when = fail_at, when
                with pytest.raises(StoreError, match="injected failure"):
                    array[selection]
                store.fail_at = None
                assert (array[selection] == expected).all()


@pytest.mark.parametrize("node", ["raw", "zip", "shard"])
@pytest.mark.parametrize("threads", [0, 1, 4])
def test_failures_in_threads_leave_old_or_new_chunks(node, threads):
    before = build()
    new = OLD + 1000
    failures = 0
    with zarr.config.set(threads=threads):
        for fail_at in range(1, 12):
            mapping = dict(before)
            store = FailingStore(MemoryStore(mapping), fail_at)
            store.max_concurrency = (
                4 if threads > 1 else None
            )  # as a remote store: always in threads
            store.fail_at = None
            array = zarr.open_array(store, path=node)
            store.calls.clear()
            store.fail_at = fail_at
            try:
                array[...] = new
            except StoreError:
                failures += 1
            store.fail_at = None
            sound(mapping)
            values = array[...]
            assert ((values == OLD) | (values == new)).all()
            array[...] = new
            assert (array[...] == new).all()
    assert failures >= 3
