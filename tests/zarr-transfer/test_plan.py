"""Plans of reads: their numbers are those of the read."""

import json
import sys
from functools import partial
from math import prod
from random import Random

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import SelectionError
from zarr_core.selection.projection import project
from zarr_transfer import Plan, plan_selection
from zarr_transfer.selection_plan import parse_selection


def sharding(*chunk_shape, codecs):
    """Return the sharding codec as JSON."""
    configuration = {"chunk_shape": [*chunk_shape], "codecs": codecs}
    return {"name": "sharding_indexed", "configuration": configuration}


LAYOUTS = {
    "regular": {"shape": (200, 61), "chunks": (17, 20), "dtype": ">i4"},
    "one dimension": {"shape": 3000, "chunks": 70, "compressors": None, "filters": None},
    "three dimensions": {"shape": (20, 9, 31), "chunks": (6, 9, 4), "compressors": "gzip"},
    "sharded": {"shape": (90, 70), "chunks": (7, 10), "shards": (21, 40), "dtype": "int16"},
    "raw shards": {"shape": (90, 70), "chunks": (7, 10), "shards": (21, 70), "compressors": None},
    "index first": {
        "shape": (50, 8, 9), "chunks": (4, 8, 3),
        "shards": {"shape": (12, 8, 9), "index_location": "start"},
    },
    "nested shards": {
        "shape": (120, 90), "chunks": (40, 30), "compressors": None,
        "serializer": sharding(20, 15, codecs=[sharding(5, 15, codecs=["bytes", "gzip"])]),
    },
    "compressed shards": {
        "shape": (120, 90), "chunks": (40, 30), "compressors": "gzip",
        "serializer": sharding(10, 10, codecs=["bytes"]),
    },
    "rectilinear": {"shape": (60, 50), "chunks": ((9, 1, 20, 30), (25, 25)), "dtype": "bool"},
    "F order": {"shape": (60, 50), "chunks": (25, 9), "order": "F"},
    "version 2": {"shape": (60, 5, 7), "chunks": (25, 5, 2), "zarr_format": 2, "dtype": "uint8"},
    "version 2, F order": {"shape": (60, 50), "chunks": (25, 9), "zarr_format": 2, "order": "F"},
}  # fmt: skip


def random_slice(random, size, step=1):
    start = random.randint(0, size - 1)
    return slice(start, random.randint(start + 1, size), step)


def random_selection(random, array):
    """Return a kind of indexing and a selection."""
    shape = array.shape
    kind = random.choice(
        ("basic", "basic", "basic", "orthogonal", "coordinate", "mask", "block", "fancy")
    )
    if kind == "mask":
        mask = np.zeros(shape, bool)
        if random.random() < 0.5:
            mask[tuple(random_slice(random, size) for size in shape)] = True
        for _ in range(random.randint(0, 9)):
            mask[tuple(random.randrange(size) for size in shape)] = True
        return kind, mask
    if kind == "coordinate":
        count = random.choice((1, 3, 20, 300))
        return kind, tuple(
            np.array([random.randrange(size) for _ in range(count)]) for size in shape
        )
    if kind == "block":
        return kind, tuple(random_slice(random, count) for count in array.cdata_shape)
    items = []
    for size in shape:
        choice = random.random()
        if kind == "basic" and choice < 0.2:
            items.append(random.randrange(-size, size))
        elif choice < 0.35:
            items.append(slice(None))
        elif choice < 0.5:
            items.append(random_slice(random, size, random.randint(1, size)))
        elif choice < 0.6:
            items.append(slice(None, None, -random.randint(1, size)))
        elif kind == "basic" or choice < 0.8:
            items.append(random_slice(random, size))
        else:
            items.append([random.randrange(size) for _ in range(random.choice((1, 2, 9)))])
    lists = [item for item in items if isinstance(item, list)]
    if kind == "fancy":  # arrays broadcast
        for item in lists[1:]:
            item[:] = (item * len(lists[0]))[: len(lists[0])]
    return kind, tuple(items)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_plans_agree_with_reads(layout):
    random = Random(layout)
    array = zarr.create_array(None, **LAYOUTS[layout])
    for _ in range(12):
        kind, selection = random_selection(random, array)
        name = "__getitem__" if kind == "fancy" else f"get_{kind}_selection"
        plan = plan_selection(array, selection, indexing=kind)
        result = np.asarray(getattr(array, name)(selection))
        context = (kind, selection)
        assert (plan.shape, plan.nbytes) == (result.shape, result.nbytes), context
        selected, stored = parse_selection(array, selection, kind).selection, array.stored
        chunks = [*project(selected, stored.axes)] if plan.nbytes else []
        assert plan.chunks == len(chunks), context
        if not stored.codecs.prefers_partial_decode:
            assert plan.decoded_nbytes == sum(
                prod(stored.resolved.grid.chunk_shape(stored.axes, part.chunk_coords))
                for part in chunks
            ) * array.dtype.itemsize, context  # fmt: skip


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
    assert lines[-1].split() == ["bytes", "selected", "240", "B"]
    assert json.loads(json.dumps(plan.to_dict()))["chunks"] == 3
    assert plan.amplification == 3 * 400 / (20 * 3 * 4)


def test_plans_of_nothing_and_of_one_element():
    array = zarr.create_array(None, shape=(4,), dtype="i8")
    nothing = plan_selection(array, slice(2, 2))
    assert (nothing.chunks, nothing.decoded_nbytes, nothing.nbytes) == (0, 0, 0)
    assert nothing.amplification is None
    one = plan_selection(zarr.create_array(None, shape=(), dtype="i8"))
    assert (one.shape, one.chunks, one.decoded_nbytes) == ((), 1, 8)


def test_selections_that_do_not_fit_are_errors():
    array = zarr.create_array(None, shape=(4,), dtype="i8")
    with pytest.raises(ValueError, match="indexing must be one of fancy, .* not 'oindex'"):
        plan_selection(array, ..., indexing="oindex")
    with pytest.raises(SelectionError, match="out of bounds"):
        plan_selection(array, 9)


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
