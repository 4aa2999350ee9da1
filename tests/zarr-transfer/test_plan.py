"""Plans of reads and writes: their numbers are those of the read or write, or upper estimates."""

import json
import sys
import threading
from collections import Counter
from functools import partial
from math import prod
from random import Random

import numpy as np
import pytest
import zarr_core as zarr
from random_layouts import cases, reader
from zarr_core.chunk_grids import RegularAxis
from zarr_core.errors import ChunkDecodeError, SelectionError
from zarr_core.extension import BasicIndexer, ByteRange, ByteReader, Store
from zarr_core.hierarchy.array import parse_selection
from zarr_core.selection.projection import project, project_dimension
from zarr_transfer import Plan, plan_selection
from zarr_transfer.selection_plan import similar_parts


class WireStore(Store):
    """A store that counts requests as a server would, and the bytes of their responses.

    With latency, the request that opens a value reads the first part, and parts with small gaps
    are read together.  Without, every part is read by itself.
    """

    def __init__(self, latency):
        self.values = {}
        self.max_concurrency = 4 if latency else None
        self.traits = self.traits._replace(opening_nbytes=1000)
        self.guard = threading.Lock()
        self.reset()

    def reset(self):
        self.requests = self.nbytes = self.writes = self.written = 0

    def respond(self, data):
        with self.guard:
            self.requests += 1
            self.nbytes += len(data or b"")
        return data

    def get(self, key):
        return self.respond(self.values.get(key))

    def get_limited(self, key, limit, out=None):
        if out is None:
            return super().get_limited(key, limit)
        value = self.values.get(key)
        if value is None:
            return self.respond(None)
        self.respond(value[:limit])
        return len(value) if len(value) > limit else value

    def getsize(self, key):
        value = self.values.get(key)
        return None if value is None else len(value)

    def open_value(self, key, first=None):
        value = self.values.get(key)
        if value is None:
            self.respond(None)
            return None
        return WireReader(self, value, first)

    def set(self, key, value):
        data = (
            bytes(value) if isinstance(value, bytes | bytearray | memoryview) else b"".join(value)
        )
        with self.guard:
            self.values[key] = data
            self.writes += 1
            self.written += len(data)

    def update(self, key, change):
        value = change(None if (old := self.get(key)) is None else whole(old))
        if value is None:
            self.erase(key)
        elif not isinstance(value, ByteReader):
            self.set(key, value)

    def erase(self, key):
        with self.guard:
            self.values.pop(key, None)
            self.writes += 1

    def list_prefix(self, prefix):
        return iter([key for key in self.values if key.startswith(prefix)])


def whole(value):
    from zarr_core.extension import BufferByteReader

    return BufferByteReader(value)


class WireReader(ByteReader):
    def __init__(self, store, value, first):
        self.store, self.value = store, value
        self.max_concurrency = store.max_concurrency
        self.held = range(0)
        if self.max_concurrency is not None:
            first = first or ByteRange(0, store.traits.opening_nbytes)
            self.held = range(*first.within(len(value)))
            store.respond(value[self.held.start : self.held.stop])

    @property
    def size(self):
        return len(self.value)

    def read_into(self, parts):
        for start, buffer in parts:
            buffer[:] = self.value[start : start + len(buffer)]
        ranges = [range(start, start + len(buffer)) for start, buffer in parts]
        if self.max_concurrency is None:
            for part in ranges:
                self.store.respond(self.value[part.start : part.stop])
            return
        needed = np.zeros(len(self.value), bool)
        for part in ranges:
            needed[part.start : part.stop] = True
        needed[self.held.start : self.held.stop] = False
        places = np.flatnonzero(needed)
        gaps = np.flatnonzero(np.diff(places) > self.gap_nbytes + 1)
        for run in np.split(places, gaps + 1):
            if len(run):
                self.store.respond(self.value[run[0] : run[-1] + 1])


def counted(array, kind, selection):
    store = array.store
    store.reset()
    result = reader(array, kind)(selection)
    return (store.requests, store.nbytes), np.asarray(result)


def check_cases(seed, count, each):
    """Compare plans with what is counted; return the number of comparisons."""
    random = Random(seed)
    stores = [WireStore(latency) for latency in (False, True)]
    done = 0
    for layout, array, kind, selection in cases(
        random,
        count,
        each,
        lambda number: (stores[number % 2].values.clear(), stores[number % 2])[1],
    ):
        try:
            plan = plan_selection(array, selection, indexing=kind, exact=True)
        except SelectionError:
            with pytest.raises(SelectionError):
                reader(array, kind)(selection)
            continue
        found, result = counted(array, kind, selection)
        context = (layout, array.metadata, kind, selection)
        if not array.stored.codecs.prefers_partial_decode:
            assert (plan.requests, plan.read_nbytes) == found, context
        elif (
            found[1] and layout != "nested shards"
        ):  # the indexes of inner shards are requested, too
            assert found[0] / 2 <= plan.requests <= 2 * found[0], context
            assert found[1] <= plan.read_nbytes, context
        assert plan.nbytes == result.nbytes, context
        assert plan.shape == result.shape, context
        array.store.reset()
        assumed = plan_selection(array, selection, indexing=kind)
        assert array.store.requests == 0, context
        chunks = project(parse_selection(array, selection, kind).selection, array.stored.axes)
        assert assumed.chunks == plan.chunks == (len([*chunks]) if plan.nbytes else 0), context
        assert assumed.inner_chunks == plan.inner_chunks, context
        assert assumed.read_nbytes >= found[1], context
        done += 1
    return done


def test_plans_are_exact():
    assert check_cases(1, 45, 6) > 200


@pytest.mark.slow
def test_ten_thousand_plans_are_exact():
    assert check_cases(2, 270, 40) >= 10_000


def test_plans_of_writes_are_exact():
    random = Random(4)
    store = WireStore(latency=True)
    done = 0
    for _, array, kind, selection in cases(
        random, 45, 4, lambda _: (store.values.clear(), store)[1]
    ):
        try:
            plan = plan_selection(array, selection, "write", indexing=kind, exact=True)
        except SelectionError:
            continue
        values = np.arange(1, max(2, np.prod(plan.shape, dtype=int) + 1))
        values = (values % 100 + 100).astype(array.dtype).reshape(plan.shape) if plan.nbytes else 0
        store.reset()
        if kind == "fancy":
            array[selection] = values
        else:
            getattr(array, f"set_{kind}_selection")(selection, values)
        assert plan.write_requests == store.writes == plan.chunks
        assert (plan.read_requests, plan.read_nbytes) == (store.requests, store.nbytes)
        assert plan.write_nbytes >= store.written
        done += 1
    assert done > 100


def calls(work):
    """Return the number of functions that are called."""
    count = 0

    def called(_, event, __):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("step", [1, 3, 250])
def test_a_plan_of_ten_million_chunks_takes_as_long_as_of_ten(step):
    few, many = (
        zarr.create_array(None, shape=(100 * count, 500), chunks=(100, 70), dtype="f4")
        for count in (10, 10**7)
    )
    plan_selection(few)
    numbers = [calls(partial(plan_selection, array, np.s_[30::step, ::2])) for array in (few, many)]
    assert numbers[1] <= numbers[0] + 20
    plan = plan_selection(many, np.s_[50::step, ::2])
    assert plan.chunks == plan.requests == 8 * min(10**7, -(-(10**9 - 50) // step))
    assert plan.nbytes == prod(plan.shape) * 4


def test_chunks_of_slices_are_counted():
    random = Random(5)
    for _ in range(300):
        size, length, step = (random.randint(1, most) for most in (400, 40, 60))
        start = random.randrange(size)
        item = slice(start, random.randint(start, size), step)
        axis = RegularAxis(size, -(-size // length), length)
        expected = Counter(
            (len(range(size)[part]), complete)
            for _, part, _, complete, _ in project_dimension(item, axis)
        )
        found = Counter()
        for part in similar_parts(BasicIndexer((item,)), (axis,)):
            assert part.inside.index[0].stop <= length
            found[part.inside.shape[0], part.is_complete] += part.chunks
        assert found == expected, (size, length, item)


def test_a_plan_is_a_table():
    array = zarr.create_array(None, shape=(40, 60), chunks=(10, 10), dtype="f4")
    plan = plan_selection(array, np.s_[5:25, 12:15])
    assert isinstance(plan, Plan)
    lines = str(plan).splitlines()
    assert lines[0].startswith("read of memory://")
    assert lines[2].split() == ["chunks", "3", "of", "24"]
    assert lines[-1].split()[:2] == ["smallest", "max_memory"]
    assert json.loads(json.dumps(plan.to_dict()))["chunks"] == 3
    assert plan.to_dict()["requests"] == 3
    assert plan.amplification == 3 * 400 / (20 * 3 * 4)


def test_plans_of_nothing_and_of_one_element():
    array = zarr.create_array(None, shape=(4,), dtype="i8")
    nothing = plan_selection(array, slice(2, 2))
    assert (nothing.chunks, nothing.requests, nothing.nbytes) == (0, 0, 0)
    assert nothing.amplification is None
    one = plan_selection(zarr.create_array(None, shape=(), dtype="i8"), exact=True)
    assert (one.chunks, one.requests, one.read_nbytes) == (1, 1, 0)


@pytest.mark.parametrize("dtype", ["bool", "int4", "str", "float16"])
def test_plans_of_data_types(dtype):
    array = zarr.create_array(
        None, shape=(600, 600), dtype=dtype, compressors=None, fill_value=None
    )
    plan = plan_selection(array, np.s_[3:500, ::2])
    assert plan.requests >= plan.chunks >= 1


def test_unknown_arguments_are_errors():
    array = zarr.create_array(None, shape=(4,), dtype="i8")
    with pytest.raises(ValueError, match="must be 'read' or 'write'|\"read\" or \"write\""):
        plan_selection(array, ..., "delete")
    with pytest.raises(ValueError, match="indexing must be one of fancy, .* not 'oindex'"):
        plan_selection(array, ..., indexing="oindex")
    with pytest.raises(SelectionError, match="out of bounds"):
        plan_selection(array, 9)


def test_plans_of_other_codecs_with_partial_decoding():
    array = zarr.create_array(
        WireStore(latency=True), shape=(3000, 2000), dtype="bool", chunks=(1500, 2000),
        serializer="packbits", compressors=None,
    )  # fmt: skip
    array[...] = True
    for selection in (np.s_[3:40], np.s_[:, 7], np.s_[2000, 5], np.s_[...]):
        plan = plan_selection(array, selection, exact=True)
        found, _ = counted(array, "basic", selection)
        assert plan.requests <= 2 * found[0]
        assert plan.read_nbytes >= found[1]


def test_a_damaged_index_is_an_error_only_of_exact_plans():
    array = zarr.create_array(
        WireStore(latency=True),
        shape=(3000, 2000),
        dtype="f4",
        chunks=(30, 20),
        shards=(3000, 2000),
    )
    array[...] = np.random.default_rng(1).random(array.shape)
    value = array.store.values["c/0/0"]
    array.store.values["c/0/0"] = value[:-1] + bytes([value[-1] ^ 1])
    assert plan_selection(array, np.s_[:100, :100]).inner_chunks == 20
    with pytest.raises(ChunkDecodeError, match="wirestore:.* 'c/0/0'"):
        plan_selection(array, np.s_[:100, :100], exact=True)


def test_missing_chunks_that_are_errors_are_planned():
    with zarr.config.set(missing_chunks="error"):
        array = zarr.open_array(zarr.create_array(None, shape=9, chunks=3, dtype="i4").store)
        assert plan_selection(array, exact=True).requests == 3


@pytest.mark.parametrize("zarr_format", [1, 2, 3, "n5", "draft"])
def test_plans_of_all_formats(zarr_format):
    array = zarr.create_array(
        WireStore(latency=False), shape=(50, 70), chunks=(20, 30), dtype="f4",
        zarr_format=zarr_format,
    )  # fmt: skip
    array[:45] = np.arange(45 * 70).reshape(45, 70)
    for selection in (np.s_[...], np.s_[3, ::2], np.s_[40:, 60:]):
        plan = plan_selection(array, selection, exact=True)
        found, _ = counted(array, "basic", selection)
        assert (plan.requests, plan.read_nbytes) == found


def test_decoded_bytes():
    def decoded(selection, access="read", **layout):
        array = zarr.create_array(None, shape=(800, 800), dtype="f4", **layout)
        return plan_selection(array, selection, access).decoded_nbytes

    plain = {"chunks": (100, 200)}
    assert decoded(np.s_[50:150, 0], **plain) == 2 * 100 * 200 * 4
    assert decoded(np.s_[50:200, 0:200], "write", **plain) == 100 * 200 * 4
    large = {"chunks": (400, 400), "compressors": None}
    assert decoded(np.s_[50:150, 390:410], **large) == 100 * 20 * 4
    assert decoded(np.s_[50:150, 390:410], "write", **large) == 2 * 400 * 400 * 4
    shards = {"chunks": (20, 50), "shards": (400, 400)}
    assert decoded(np.s_[50:150, 390:410], **shards) == 6 * 2 * 20 * 50 * 4
    assert decoded(np.s_[50:150, 350:400], "write", **shards) == 2 * 20 * 50 * 4
