"""Any sequence of operations on a sharded store agrees with a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from store_contract import get_into
from zarr_core.extension import ByteRange
from zarr_core.stores.memory import MemoryStore
from zarr_sharding.transformer.sharded_store import sharded

KEYS = st.one_of(
    st.tuples(st.integers(0, 5), st.integers(0, 4)).map(lambda it: "a/c{}/{}".format(*it)),
    st.sampled_from(["a/zarr.json", "a/x/y", "b/c0/0", "c0/0"]),
)
VALUES = st.binary(max_size=9)
PREFIXES = st.sampled_from(["", "a/", "b/", "a/c0/", "a/c1/", "a/c2/", "a/c3/", "a/x/", "a/c9/"])
RANGES = st.builds(ByteRange, st.integers(-12, 12), st.none() | st.integers(0, 12))


def part_of(value, part):
    start = max(0, len(value) + part.start) if part.start < 0 else part.start
    return value[start:] if part.length is None else value[start : start + part.length]


class Shards(RuleBasedStateMachine):
    @initialize(
        counts=st.tuples(st.integers(1, 4), st.integers(1, 3)),
        outer=st.none() | st.tuples(st.integers(1, 3), st.integers(1, 3)),
    )
    def start(self, counts, outer):
        self.inner = MemoryStore()
        self.counts = counts
        self.size = 16 * counts[0] * counts[1]
        self.store = sharded(self.inner, "a/", counts)
        if outer is not None:
            self.store = sharded(self.store, "a/", outer)
        self.model = {}

    @rule(key=KEYS, value=VALUES)
    def set(self, key, value):
        self.store.set(key, [value[:2], value[2:]])
        self.model[key] = value

    @rule(key=KEYS)
    def erase(self, key):
        self.store.erase(key)
        self.model.pop(key, None)

    @rule(keys=st.lists(KEYS, max_size=12))
    def erase_values(self, keys):
        self.store.erase_values(keys)
        for key in keys:
            self.model.pop(key, None)

    @rule(prefix=PREFIXES)
    def erase_prefix(self, prefix):
        self.store.erase_prefix(prefix)
        self.model = {k: v for k, v in self.model.items() if not k.startswith(prefix)}

    @rule(key=KEYS, new=st.sampled_from(["append", "erase", "keep", "fail"]))
    def update(self, key, new):
        def change(reader):
            old = None if reader is None else bytes(reader.read(0, reader.size))
            assert old == self.model.get(key)
            if new == "fail":
                raise LookupError
            return {"append": (old or b"") + b"+", "erase": None, "keep": reader}[new]

        try:
            self.store.update(key, change)
        except LookupError:
            return
        if new == "append":
            self.model[key] = self.model.get(key, b"") + b"+"
        elif new == "erase":
            self.model.pop(key, None)

    @rule(parts=st.lists(st.tuples(KEYS, st.integers(0, 9), VALUES), max_size=6))
    def set_partial_values(self, parts):
        self.store.set_partial_values(parts)
        for key, start, value in parts:
            old = self.model.get(key, b"").ljust(start + len(value), b"\0")
            self.model[key] = old[:start] + value + old[start + len(value) :]

    @rule(asked=st.lists(st.tuples(KEYS, RANGES), max_size=8))
    def get_partial_values(self, asked):
        expected = [
            part_of(self.model[key], part) if key in self.model else None for key, part in asked
        ]
        assert self.store.get_partial_values(asked) == expected

    @rule(key=KEYS, room=st.integers(0, 12))
    def get(self, key, room):
        expected = self.model.get(key)
        assert self.store.get(key) == expected
        assert self.store.exists(key) == (expected is not None)
        size = None if expected is None else len(expected)
        assert self.store.getsize(key) == size
        assert (self.store.generation(key) is None) == (expected is None)
        for limit in {room, size - 1, size} if size else {room}:
            buffer = bytearray(limit)
            assert get_into(self.store, key, memoryview(buffer)) == size
            is_longer = size is not None and size > limit
            assert self.store.get_limited(key, limit) == (size if is_longer else expected)
            assert not expected or is_longer or bytes(buffer) == expected.ljust(limit, b"\0")

    @rule(prefix=PREFIXES)
    def list_prefix(self, prefix):
        found = list(self.store.list_prefix(prefix))
        assert sorted(found) == sorted(key for key in self.model if key.startswith(prefix))

    @rule(prefix=PREFIXES)
    def list_dir(self, prefix):
        keys, prefixes = self.store.list_dir(prefix)
        below = [key[len(prefix) :] for key in self.model if key.startswith(prefix)]
        assert sorted(keys) == sorted(prefix + it for it in below if "/" not in it)
        needed = {f"{prefix}{it.split('/')[0]}/" for it in below if "/" in it}
        assert needed <= set(prefixes)
        assert len(prefixes) == len(set(prefixes))
        others = set(prefixes) - needed
        assert all(it.startswith(f"{prefix}c") for it in others)  # only of chunks

    @invariant()
    def shards_hold_chunks_and_nothing_else(self):
        for key in self.inner.list():
            if not key.startswith("a/c"):
                continue
            stored = self.inner.get(key)
            entries = np.frombuffer(stored[-self.size :], "<u8").reshape(-1, 2)
            lengths = entries[entries[:, 0] != 2**64 - 1, 1]
            assert len(lengths), "a shard without chunks is removed"
            assert len(stored) == self.size + int(lengths.sum()), "no byte is there in vain"


TestShards = Shards.TestCase
TestShards.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
