"""Errors about damaged shards contain their keys; other chunks stay readable."""

from __future__ import annotations

import numpy as np
import pytest
from failing_store import FailingStore
from store_contract import get_into
from zarr_core.errors import ChunkDecodeError, StoreError
from zarr_core.extension import ByteRange
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_sharding.transformer.sharded_store import sharded

NONE = 2**64 - 1


def damaged(tmp_path, kind, stored):
    inner = MemoryStore() if kind == "memory" else LocalStore(tmp_path / "store")
    inner.set("a/c0/0", stored)
    return sharded(inner, "a/", (1, 3))


def shard(*pairs, data=b"012345"):
    return data + np.array(pairs, np.uint64).astype("<u8").tobytes()


READS = {
    "get": lambda store, key: store.get(key),
    "get_limited": lambda store, key: get_into(store, key, memoryview(bytearray(9))),
    "open_value": lambda store, key: store.open_value(key),
    "getsize": lambda store, key: store.getsize(key),
    "exists": lambda store, key: store.exists(key),
    "update": lambda store, key: store.update(key, lambda reader: b"new"),
    "get_partial_values": lambda store, key: store.get_partial_values([(key, ByteRange(0))]),
}
CHANGES = {
    "set": lambda store, key: store.set(key, b"new"),
    "erase": lambda store, key: store.erase(key),
    "set_partial_values": lambda store, key: store.set_partial_values([(key, 1, b"x")]),
    "list": lambda store, key: list(store.list()),
    "list_dir": lambda store, key: store.list_dir("a/c0/"),
    "erase_prefix": lambda store, key: sharded(store.inner, "a/", (3, 1)).erase_prefix("a/c0/"),
}


@pytest.mark.parametrize("kind", ["memory", "files"])
@pytest.mark.parametrize("call", [*READS, *CHANGES])
@pytest.mark.parametrize("stored", [b"", b"x", bytes(47)], ids=len)
def test_a_shard_too_short_for_its_index(tmp_path, kind, call, stored):
    store = damaged(tmp_path, kind, stored)
    with pytest.raises(ChunkDecodeError, match=r"'a/c0/0'.*bytes") as caught:
        (READS | CHANGES)[call](store, "a/c0/1")
    assert str(store.inner) in str(caught.value)
    assert bytes(store.inner.get("a/c0/0")) == stored


@pytest.mark.parametrize("kind", ["memory", "files"])
@pytest.mark.parametrize("call", READS)
@pytest.mark.parametrize(
    "pair",
    [(NONE, 3), (3, NONE), (4, 200), (2**63, 1), (2**64 - 2, 4), (55, 1), (0, 2**40)],
    ids=str,
)
def test_invalid_entry_affects_only_its_chunk(tmp_path, kind, call, pair):
    store = damaged(tmp_path, kind, shard((0, 2), pair, (4, 2)))
    with pytest.raises(ChunkDecodeError, match="'a/c0/0'"):
        READS[call](store, "a/c0/1")
    assert bytes(store.get("a/c0/0")) == b"01"
    assert store.get_partial_values([("a/c0/2", ByteRange(1))]) == [b"5"]
    # Chunks in the index are listed, even if they cannot be read.
    assert sorted(store.list()) == ["a/c0/0", "a/c0/1", "a/c0/2"]
    with pytest.raises(ChunkDecodeError, match=r"'a/c0/0'.*\(0, 1\)"):
        store.set("a/c0/0", b"another chunk must be kept")


@pytest.mark.parametrize("kind", ["memory", "files"])
@pytest.mark.parametrize("pair", [(NONE, 3), (4, 200), (2**63, 1)], ids=str)
def test_damaged_chunk_can_be_overwritten_or_erased(tmp_path, kind, pair):
    store = damaged(tmp_path, kind, shard((0, 2), pair, (4, 2)))
    store.set("a/c0/1", b"new")
    assert [bytes(store.get(f"a/c0/{n}")) for n in range(3)] == [b"01", b"new", b"45"]
    store.inner.set("a/c0/0", shard((0, 2), pair, (4, 2)))
    store.erase("a/c0/1")
    assert sorted(store.list()) == ["a/c0/0", "a/c0/2"]


def test_a_damaged_shard_can_be_erased(tmp_path):
    store = damaged(tmp_path, "memory", b"x")
    store.erase_values([f"a/c0/{number}" for number in range(3)])
    store.set("a/c0/1", b"new")
    assert list(store.list()) == ["a/c0/1"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_failure_at_any_moment_leaves_the_old_or_the_new_shard(when):
    def run(fail_at):
        inner = MemoryStore()
        store = sharded(inner, "", (2, 2))
        old = {"c0/0": b"0", "c0/1": b"1", "c1/0": b"2"}
        for key, value in old.items():
            store.set(key, value)
        failing = FailingStore(inner, fail_at, when)
        broken = sharded(failing, "", (2, 2))
        failed = False
        model = [old]
        steps = [
            (lambda: broken.set("c0/1", b"new"), {"c0/1": b"new"}),
            (lambda: broken.update("c1/1", lambda reader: b"3"), {"c1/1": b"3"}),
            (lambda: broken.erase("c0/0"), {"c0/0": None}),
        ]
        for step, change in steps:
            new = {k: v for k, v in (model[-1] | change).items() if v is not None}
            try:
                step()
            except StoreError:
                failed = True
                model.append(new)
                break
            model = [new]
        found = {key: bytes(store.get(key)) for key in store.list()}
        assert found in model
        return failed

    number = 1
    while run(number):
        number += 1
    assert number > 6
