"""Plans of reads: their numbers are those of the read, or estimates of it."""

import json
import sys
import threading
import tracemalloc
from functools import partial
from math import prod
from random import Random

import numpy as np
import pytest
import zarr_core as zarr
from random_layouts import LAYOUTS, random_layout, random_selection, reader
from zarr_core.errors import SelectionError
from zarr_core.extension import ByteRange, ByteReader, Store
from zarr_core.hierarchy.array import parse_selection
from zarr_core.selection.projection import project
from zarr_transfer import Plan, plan_selection


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
        self.requests = self.nbytes = 0

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
        is_one = isinstance(value, bytes | bytearray | memoryview)
        self.values[key] = bytes(value) if is_one else b"".join(value)

    def erase(self, key):
        self.values.pop(key, None)

    def list_prefix(self, prefix):
        return iter([key for key in self.values if key.startswith(prefix)])


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


def stored_elements(shape, dtype):
    """Return random elements that are never the fill value, and that cannot be compressed."""
    generator = np.random.default_rng(1)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    return generator.integers(1, 127, (*shape, dtype.itemsize), "u1").view(dtype)[..., 0]


def cases(random, count, each):
    """Iterate over layouts and arrays of stores that count, with kinds of indexing and selections."""
    for number in range(count):
        layout = LAYOUTS[number % len(LAYOUTS)]
        options = random_layout(random, layout, random.choice((1 << 12, 1 << 16, 1 << 20)))
        array = zarr.create_array(WireStore(latency=number % 2), **options)
        array[...] = stored_elements(array.shape, array.dtype)
        for _ in range(each):
            yield layout, array, *random_selection(random, array)


def check_cases(seed, count, each):
    """Compare plans with what is counted; return the number of comparisons."""
    done = wrong = 0
    for layout, array, kind, selection in cases(Random(seed), count, each):
        read, store = reader(array, kind), array.store
        store.reset()
        try:
            plan = plan_selection(array, selection, indexing=kind)
        except SelectionError:
            with pytest.raises(SelectionError):
                read(selection)
            continue
        context = (layout, array.metadata, kind, selection)
        assert store.requests == 0, context
        result = np.asarray(read(selection))
        assert (plan.shape, plan.nbytes) == (result.shape, result.nbytes), context
        selected, stored = parse_selection(array, selection, kind).selection, array.stored
        chunks = [*project(selected, stored.axes)] if plan.nbytes else []
        assert plan.chunks == len(chunks), context
        done += 1
        if not stored.codecs.prefers_partial_decode:
            # Shards that do not compress are larger than expected, and requested twice.
            if layout != "compressed shards":
                assert plan.requests == store.requests, context
                assert plan.read_nbytes >= store.nbytes, context
            assert plan.decoded_nbytes == sum(
                prod(stored.resolved.grid.chunk_shape(stored.axes, part.chunk_coords))
                for part in chunks
            ) * array.dtype.itemsize, context  # fmt: skip
        elif layout != "nested shards":  # the indexes of inner shards are requested, too
            wrong += not store.requests / 2 <= plan.requests <= 2 * store.requests
            wrong += plan.read_nbytes < store.nbytes / 2
    assert wrong <= done / 20
    return done


def test_plans_agree_with_reads():
    assert check_cases(1, 45, 6) > 200


@pytest.mark.slow
def test_four_thousand_plans_agree_with_reads():
    assert check_cases(2, 270, 16) >= 4_000


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
@pytest.mark.parametrize("shards", [None, (1000, 140)])
def test_a_plan_of_ten_million_chunks_takes_as_long_as_of_ten(step, shards):
    few, many = (
        zarr.create_array(
            None, shape=(100 * count, 500), chunks=(100, 70), shards=shards, dtype="f4"
        )
        for count in (10, 10**7)
    )
    plan_selection(few)
    numbers = [calls(partial(plan_selection, array, np.s_[30::step, ::2])) for array in (few, many)]
    assert numbers[1] <= numbers[0] + 20
    plan = plan_selection(many, np.s_[50::step, ::2])
    chunks = plan.chunks if shards is None else plan.inner_chunks
    assert chunks == 8 * min(10**7, -(-(10**9 - 50) // step))
    assert plan.nbytes == prod(plan.shape) * 4


def test_a_plan_is_a_table():
    array = zarr.create_array(None, shape=(40, 60), chunks=(10, 10), dtype="f4")
    plan = plan_selection(array, np.s_[5:25, 12:15])
    assert isinstance(plan, Plan)
    lines = str(plan).splitlines()
    assert lines[0].startswith("read of memory://")
    assert lines[2].split() == ["chunks", "3", "of", "24"]
    assert lines[-1].split()[:2] == ["peak", "memory"]
    assert json.loads(json.dumps(plan.to_dict()))["chunks"] == 3
    assert plan.to_dict()["requests"] == 3
    assert plan.amplification == 3 * 400 / (20 * 3 * 4)


def test_plans_of_nothing_and_of_one_element():
    array = zarr.create_array(None, shape=(4,), dtype="i8")
    nothing = plan_selection(array, slice(2, 2))
    assert (nothing.chunks, nothing.requests, nothing.nbytes) == (0, 0, 0)
    assert nothing.amplification is None
    one = plan_selection(zarr.create_array(None, shape=(), dtype="i8"))
    assert (one.shape, one.chunks, one.requests) == ((), 1, 1)


@pytest.mark.parametrize("dtype", ["bool", "int4", "str", "float16"])
def test_plans_of_data_types(dtype):
    array = zarr.create_array(
        None, shape=(600, 600), dtype=dtype, compressors=None, fill_value=None
    )
    plan = plan_selection(array, np.s_[3:500, ::2])
    assert plan.requests >= plan.chunks >= 1
    assert plan.read_nbytes > 0


def test_selections_that_do_not_fit_are_errors():
    array = zarr.create_array(None, shape=(4,), dtype="i8")
    with pytest.raises(ValueError, match="indexing must be one of fancy, .* not 'oindex'"):
        plan_selection(array, ..., indexing="oindex")
    with pytest.raises(SelectionError, match="out of bounds"):
        plan_selection(array, 9)


@pytest.mark.parametrize("zarr_format", [1, 2, 3, "n5", "draft"])
def test_plans_of_all_formats(zarr_format):
    array = zarr.create_array(
        WireStore(latency=False), shape=(50, 70), chunks=(20, 30), dtype="f4",
        zarr_format=zarr_format,
    )  # fmt: skip
    array[...] = np.arange(1, 3501).reshape(50, 70)
    for selection in (np.s_[...], np.s_[3, ::2], np.s_[40:, 60:]):
        plan = plan_selection(array, selection)
        array.store.reset()
        array[selection]
        assert plan.requests == array.store.requests
        assert plan.read_nbytes >= array.store.nbytes


@pytest.mark.parametrize(
    ("layout", "selection", "expected"),
    [
        ({"chunks": (100, 200)}, np.s_[50:150, 0], 2 * 100 * 200),
        ({"chunks": (400, 400), "compressors": None}, np.s_[50:150, 390:410], 100 * 20),
        ({"chunks": (20, 50), "shards": (400, 400)}, np.s_[50:150, 390:410], 6 * 2 * 20 * 50),
    ],
)
def test_decoded_bytes(layout, selection, expected):
    array = zarr.create_array(None, shape=(800, 800), dtype="f4", **layout)
    assert plan_selection(array, selection).decoded_nbytes == 4 * expected


@pytest.mark.parametrize(
    ("layout", "selection", "expected"),
    [
        pytest.param("chunks", np.s_[:400, :400], 1, id="a whole chunk"),
        pytest.param("chunks", np.s_[:400, 7], 2, id="the first part, then the rest"),
        pytest.param("shards", np.s_[:20, :50], 2, id="the index, then an inner chunk"),
        pytest.param("shards", np.s_[:400, :50], 21, id="inner chunks apart"),
        pytest.param("shards", np.s_[:800, :100], 42, id="neighbours with one request"),
    ],
)
def test_requests_to_a_store_with_latency(layout, selection, expected):
    shapes = {"chunks": {"chunks": 400}, "shards": {"chunks": (20, 50), "shards": (400, 400)}}
    array = zarr.create_array(
        WireStore(latency=True), shape=(800, 800), dtype="f4", compressors=None, **shapes[layout]
    )
    array[...] = stored_elements(array.shape, array.dtype)
    array.store.reset()
    array[selection]
    assert plan_selection(array, selection).requests == array.store.requests == expected


@pytest.mark.parametrize(
    ("layout", "selection"),
    [
        ({"chunks": (400, 1000), "compressors": "gzip"}, np.s_[...]),
        ({"chunks": (400, 1000), "compressors": "gzip"}, np.s_[:, 3]),
        ({"chunks": (400, 1000), "compressors": None}, np.s_[:, 3]),
        ({"chunks": (10, 10), "shards": (1000, 1000)}, np.s_[:, 300:900]),
    ],
)
def test_peak_memory_is_not_exceeded(tmp_path, layout, selection):
    array = zarr.create_array(tmp_path / "a.zarr", shape=(2000, 2000), dtype="f8", **layout)
    array[...] = stored_elements(array.shape, array.dtype)
    array = zarr.open_array(tmp_path / "a.zarr")
    plan = plan_selection(array, selection)
    tracemalloc.start()
    try:
        array[selection]
        assert plan.nbytes <= tracemalloc.get_traced_memory()[1] <= plan.peak_nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("lengths", [[1] * 10 + [9_990], [9_990] + [1] * 10], ids=["last", "first"])
@pytest.mark.parametrize("compressors", ["zstd", None])
def test_bytes_of_chunks_of_different_lengths(lengths, compressors):
    array = zarr.create_array(
        WireStore(latency=False),
        shape=10_000,
        chunks=[lengths],
        dtype="i4",
        compressors=compressors,
    )
    array[...] = stored_elements(array.shape, array.dtype)
    for selection in (np.s_[:], np.s_[:10], np.s_[9_995:]):
        array.store.reset()
        array[selection]
        plan = plan_selection(array, selection)
        assert array.store.nbytes <= plan.read_nbytes <= 17 / 16 * plan.decoded_nbytes + 11 * 1024


def test_memory_of_elements_of_one_large_chunk():
    array = zarr.create_array(None, shape=(10_000, 1000), chunks=-1, dtype="i4", compressors=None)
    for selection in (np.s_[:, 0], np.s_[5, 5], np.s_[5:9, 7:800]):
        plan = plan_selection(array, selection)
        assert plan.peak_nbytes - plan.nbytes < 4 << 20
    assert plan_selection(array).peak_nbytes > array.nbytes
