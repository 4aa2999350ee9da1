"""Plans of rechunking: what is written once, what is decoded how often, how much memory."""

import tracemalloc
from itertools import product
from math import prod

import numpy as np
import pytest
import zarr_core as zarr
import zarr_dask
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_dask.chunking import edges_of
from zarr_dask.stages import _BESIDES, Side, decodings, memory_of, plan_stages
from zarr_dask.workers import MoveBox

ROWS, COLUMNS = {"chunks": (1, 400)}, {"chunks": (600, 1)}


def array(shape=(600, 400), **layout):
    return zarr.create_array(shape=shape, dtype="f8", **layout)


@st.composite
def sides(draw):
    shape = draw(st.lists(st.integers(1, 40), min_size=1, max_size=3).map(tuple))

    def side():
        lengths = []
        for size in shape:
            cuts = draw(st.sets(st.integers(1, size), max_size=5)) | {size}
            lengths.append(tuple(np.diff([0, *sorted(cuts)]).tolist()))
        stored = tuple(lengths)
        return Side(stored, tuple(map(max, stored)), 8, draw(st.sampled_from([1, 4])))

    return side(), side()


@given(sides(), st.integers(200, 30_000).map(lambda extra: _BESIDES + extra))
@settings(max_examples=30)
def test_every_stored_object_is_written_by_one_task_within_the_memory(both, most):
    source, dest = both
    try:
        plan = plan_stages(source, dest, most)
    except ValueError:
        assert memory_of(dest.longest, source, dest) > most
        return
    assert plan.stages[-1].stored == dest.stored
    for stage in plan.stages:
        assert stage.memory <= most
        written = []
        covered = np.zeros([sum(lengths) for lengths in stage.stored], int)
        for box, numbers in stage.boxes():
            covered[box] += 1
            written += product(*numbers)
            for part, lengths, there in zip(box, stage.stored, numbers, strict=True):
                edges = edges_of(lengths)
                assert (part.start, part.stop) == (edges[there.start], edges[there.stop])
        assert (covered == 1).all()
        assert len(written) == len(set(written)) == prod(map(len, stage.stored))
    if plan.between is not None:
        (direct,) = plan_stages(source, dest, 10**9).stages
        assert direct.decodings <= sum(stage.decodings for stage in plan.stages)


def test_rows_to_columns_take_two_stages_if_memory_is_short():
    source, dest = Side.of(array(**ROWS)), Side.of(array(**COLUMNS))
    whole = plan_stages(source, dest, 1 << 24)
    assert whole.between is None
    assert whole.stages[0].decodings == 1
    short = plan_stages(source, dest, 250_000)
    assert short.between is not None
    assert max(stage.decodings for stage in short.stages) <= 2
    # In one stage each row would be decoded for every few columns.
    assert decodings(400, 10, 400) == 40
    assert "an intermediate array" in str(short)


def test_what_does_not_fit_is_refused_with_what_it_takes():
    with pytest.raises(ValueError, match=r"18\.4 MiB at least.*max_memory is 1\.0 MiB"):
        zarr_dask.plan(array((1000, 800)), chunks=1000, max_memory="1 MiB")
    assert zarr_dask.plan(array(**ROWS), chunks=(1, 1), shards=(6, 400)).between is None


@pytest.mark.parametrize(
    "layout",
    [
        {"chunks": (600, 20)},
        {"chunks": (30, 40), "shards": (60, 80)},
        {"chunks": [[100, 300, 200], [150, 250]]},
    ],
    ids=str,
)
@pytest.mark.parametrize("most", [250_000, 1_000_000, 4_000_000])
def test_tasks_take_no_more_memory_than_planned(layout, most, tmp_path):
    values = np.random.default_rng(1).random((600, 400))
    source = zarr.create_array(tmp_path / "source", data=values, **ROWS)
    dest = zarr.empty_like(source, store=tmp_path / "dest", **layout)
    try:
        plan = plan_stages(Side.of(source), Side.of(dest), most)
    except ValueError:
        assert most < 4 * 8 * prod(Side.of(dest).longest)
        return
    ends = [source, dest]
    if plan.between is not None:
        ends.insert(1, zarr.empty_like(source, store=tmp_path / "work", chunks=plan.between))
    for stage, old, new in zip(plan.stages, ends, ends[1:], strict=False):
        move = MoveBox(old, new)
        boxes = [box for box, _ in stage.boxes()]
        move(boxes[0])  # imports, compiles, remembers
        for box in boxes:
            tracemalloc.start()
            move(box)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak <= stage.memory <= most
    assert np.array_equal(dest, values)
