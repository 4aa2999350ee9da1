"""Plans of reads: their numbers are those of the read."""

import json
import sys
from functools import partial
from math import prod
from random import Random

import numpy as np
import pytest
import zarr_core as zarr
from random_layouts import LAYOUTS, random_layout, random_selection, reader
from zarr_core.errors import SelectionError
from zarr_core.selection.projection import project
from zarr_transfer import Plan, plan_selection
from zarr_transfer.selection_plan import parse_selection


def test_plans_agree_with_reads():
    random = Random(1)
    compared = 0
    for number in range(90):
        layout = LAYOUTS[number % len(LAYOUTS)]
        options = random_layout(random, layout, random.choice((1 << 12, 1 << 16, 1 << 20)))
        array = zarr.create_array(None, **options)
        kind, selection = random_selection(random, array)
        read, context = reader(array, kind), (layout, array.metadata, kind, selection)
        try:
            plan = plan_selection(array, selection, indexing=kind)
        except SelectionError:
            with pytest.raises(SelectionError):
                read(selection)
            continue
        result = np.asarray(read(selection))
        assert (plan.shape, plan.nbytes) == (result.shape, result.nbytes), context
        selected, stored = parse_selection(array, selection, kind).selection, array.stored
        chunks = [*project(selected, stored.axes)] if plan.nbytes else []
        assert plan.chunks == len(chunks), context
        if not stored.codecs.prefers_partial_decode:
            assert plan.decoded_nbytes == sum(
                prod(stored.resolved.grid.chunk_shape(stored.axes, part.chunk_coords))
                for part in chunks
            ) * array.dtype.itemsize, context  # fmt: skip
        compared += 1
    assert compared > 60


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
