"""Concurrent copies of values: their number and memory."""

import json
import threading
import time

import numpy as np
import pytest
import zarr_core as zarr
from waits import PATIENCE, wait_until
from zarr_core.engine.scratch import MemoryLimiter
from zarr_transfer import copy_values


class Watched(zarr.MemoryStore):
    """Records the number and size of concurrent values."""

    def __init__(self, mapping=None, max_concurrency=None, latency=0.002):
        super().__init__(mapping)
        self.max_concurrency = max_concurrency
        self.latency = latency
        self.most = self.most_bytes = self.now = self.bytes = 0
        self.guard = threading.Lock()

    def get(self, key):
        value = super().get(key)
        if value is not None and not key.endswith("zarr.json"):
            time.sleep(self.latency)
            with self.guard:
                self.now += 1
                self.bytes += len(value)
                self.most = max(self.most, self.now)
                self.most_bytes = max(self.most_bytes, self.bytes)
        return value


class Target(zarr.MemoryStore):
    def __init__(self, source):
        super().__init__()
        self.source = source

    def set(self, key, value):
        if not key.endswith("zarr.json"):
            time.sleep(0.002)
        super().set(key, value)
        if not key.endswith("zarr.json"):
            with self.source.guard:
                self.source.now -= 1
                self.source.bytes -= len(value)


def raw(count, size):
    values = np.random.default_rng(0).integers(0, 256, (count, size), dtype="u1")
    return zarr.create_array(data=values, chunks=(1, size), compressors=None)


class Together(zarr.MemoryStore):
    """Responds only when the given number of calls are concurrent."""

    def __init__(self, mapping, count):
        super().__init__(mapping)
        self.barrier = threading.Barrier(count)

    def get(self, key):
        if key.startswith("c/") and key != "c/0/0":  # that is copied alone if no size is known
            self.barrier.wait(PATIENCE)
        return super().get(key)


@pytest.mark.parametrize("side", ["source", "dest"])
@pytest.mark.parametrize("work", [zarr.copy, zarr.move])
def test_as_many_are_in_flight_as_the_slower_store_wants(side, work):
    source = Together(raw(65, 100).store._mapping, 16)
    dest = zarr.MemoryStore()
    (source if side == "source" else dest).max_concurrency = 16
    work(zarr.open(source), dest)
    assert len(list(dest.list())) == 66


def test_as_many_are_in_flight_where_everything_is_there():
    class Full(zarr.MemoryStore):
        max_concurrency = 16

        def getsize(self, key):
            if key.startswith("c/") and key != "c/0/0" and not met.is_set():  # that is copied alone
                barrier.wait(PATIENCE)
            return super().getsize(key)

    met = threading.Event()
    barrier = threading.Barrier(16, met.set)
    mapping = raw(64, 100).store._mapping
    done = zarr.copy_store(dict(mapping), Full(mapping), if_exists="update")
    assert done == (0, 65, 0)


@pytest.mark.parametrize(("size", "most"), [(100, 10), (1000, 1), (3000, 1)])
@pytest.mark.parametrize("known", [True, False])
def test_memory_is_bounded(monkeypatch, size, most, known):
    monkeypatch.setattr(copy_values, "_MEMORY", 1000)
    if not known:
        monkeypatch.setattr("zarr_transfer.execute.largest_value", lambda metadata: 0)
    source = Watched(raw(40, size).store._mapping, max_concurrency=16)
    dest = Target(source)
    zarr.copy(zarr.open(source), dest)
    assert len(dest._mapping) == 41
    assert source.most <= most
    assert source.most_bytes <= max(1000, size)
    dest = Target(source)
    source.most = 0
    zarr.copy_store(source, dest)
    assert source.most <= most


@pytest.mark.parametrize(
    "unknown",
    [
        {"data_type": "acme.f8,("},
        *(
            {"chunk_grid": {"name": "acme.grid", "configuration": {"chunk_shape": shape}}}
            for shape in ({"x": 2}, "2", [1e308, 1e308])
        ),
    ],
    ids=str,
)
def test_nodes_with_unknown_extensions_are_copied(unknown):
    source = zarr.create_group()
    source.create_array("a", data=[1, 2])
    document = source["a"].metadata.document | unknown
    source.store.set("a/zarr.json", json.dumps(document).encode())
    dest = zarr.MemoryStore()
    zarr.copy(source, dest)
    assert json.loads(dest.get("a/zarr.json")) == document
    assert dest.get("a/c/0") == source.store.get("a/c/0")


def test_one_that_is_too_large_goes_alone():
    gate = MemoryLimiter(10)
    order = []

    def take(name, amount, release):
        with gate.reserve(lambda: amount):
            order.append(name)
            assert release.wait(PATIENCE)

    releases = {name: threading.Event() for name in "abc"}
    threads = [
        threading.Thread(target=take, args=(name, amount, releases[name]))
        for name, amount in (("a", 4), ("b", 100), ("c", 100))
    ]
    first, *others = threads
    first.start()
    wait_until(lambda: order == ["a"])
    others[0].start()
    wait_until(gate._entrance.locked)  # by one that waits for memory
    others[1].start()
    small = threading.Thread(target=take, args=("d", 1, releases["a"]))
    small.start()
    time.sleep(0.02)
    assert order == ["a"]  # later requests do not overtake it
    releases["a"].set()
    wait_until(lambda: len(order) >= 2)
    assert order[1] == "b"
    for release in releases.values():
        release.set()
    for thread in (*threads, small):
        thread.join()
    assert sorted(order) == ["a", "b", "c", "d"]
    assert gate.used == 0


def test_the_expected_amount_is_read_once():
    amounts = iter([4, 100])
    gate = MemoryLimiter(10)
    with gate.reserve(lambda: next(amounts)) as reserved:
        assert reserved.amount == gate.used == 4
