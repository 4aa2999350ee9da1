"""Plans of rechunking: each chunk is written once, numbers of decodings, and memory."""

from itertools import product
from math import prod

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_transfer import Budget, Chunking
from zarr_transfer.copy_elements import (
    keeps_missing_chunks,
    read_region,
    regions_of,
    write_region,
)
from zarr_transfer.rechunk import _OVERHEAD, decodings, memory_of, plan_stages
from zarr_transfer.regions import ChunkEdges, every_region, reached, regions_with


@st.composite
def cuts(draw, size):
    if draw(st.booleans()):
        return ChunkEdges.at_edges(size, draw(st.integers(1, size + 3)))
    edges = sorted(draw(st.sets(st.integers(1, size), max_size=5)) | {size})
    return ChunkEdges.at_edges(size, tuple(np.diff([0, *edges]).tolist()))


@st.composite
def chunkings(draw):
    shape = draw(st.lists(st.integers(1, 40), max_size=3))

    def one():
        stored = tuple(draw(cuts(size)) for size in shape)
        chunk = tuple(along.length for along in stored)
        return Chunking(stored, chunk, 8, draw(st.sampled_from([1, 4])))

    return one(), one()


budgets = st.builds(
    Budget,
    st.integers(200, 30_000).map(lambda more: _OVERHEAD + more),
    copies=st.integers(1, 2),
    tasks=st.sampled_from([1, 8]),
)


@given(chunkings(), budgets)
@settings(max_examples=60)
def test_every_stored_object_is_written_by_one_task_within_the_memory(both, budget):
    source, dest = both
    try:
        plan = plan_stages(source, dest, budget)
    except ValueError as error:
        assert memory_of(dest.longest, source, dest, budget.copies) > budget.memory
        assert "needs at least" in str(error)  # noqa: PT017 - also it may not be raised
        return
    assert plan.stages[-1].stored == dest.stored
    assert len(plan.stages) == 1 + (plan.between is not None)
    for stage in plan.stages:
        assert stage.memory <= budget.memory
        written = []
        covered = np.zeros(dest.sizes, int)
        for task in stage.tasks():
            covered[task.box] += 1
            assert budget.copies * task.size * 8 <= stage.memory
            numbers = reached(stage.stored, task.box)
            written += product(*numbers)
            for part, along, inside in zip(task.box, stage.stored, numbers, strict=True):
                assert part.start == along[inside[0]].start
                assert part.stop == along[inside[-1]].stop
        assert (covered == 1).all()
        assert len(written) == len(set(written)) == prod(along.count for along in stage.stored)
        assert len(list(stage.tasks())) == stage.count


@given(chunkings(), st.integers(1, 40), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_boxes_of_what_is_stored_are_those_that_it_reaches_into(both, most, random):
    source, dest = (side.stored for side in both)
    boxes = tuple(along.joined(most) for along in dest)
    every = list(np.ndindex(*(along.count for along in source)))
    some = random.sample(every, len(every) // 3)

    def touched(box):
        return tuple(sorted(set(product(*reached(source, box))) & set(some)))

    expected = {str(task.box): touched(task.box) for task in every_region(boxes)}
    found = list(regions_with(iter(some), source, boxes))
    assert [str(task.box) for task in found] == [box for box, those in expected.items() if those]
    for task in found:
        there = expected[str(task.box)]
        if task.stored is None:
            assert len(there) >= 7 / 8 * prod(map(len, reached(source, task.box)))
        else:
            assert task.stored == there


@given(st.integers(1, 200), st.integers(1, 50), st.integers(1, 50))
@settings(max_examples=60)
def test_decodings_are_counted(size, length, chunk):
    assert decodings(size, length, chunk) == len({(i // length, i // chunk) for i in range(size)})


def layout(shape, chunks, **more):
    return Chunking.of(zarr.create_array(shape=shape, dtype="f8", chunks=chunks, **more))


MIB = 1 << 20
SHAPE = (128, 1024, 1024)  # 1 GiB


def test_planes_become_columns_in_little_memory_by_two_decodings():
    planes, columns = layout(SHAPE, (1, 1024, 1024)), layout(SHAPE, (128, 32, 32))
    plan = plan_stages(planes, columns, Budget(64 * MIB))
    assert [stage.decodings for stage in plan.stages] == [1, 1]
    assert prod(plan.between) * 8 > MIB  # few and large
    direct = plan_stages(planes, columns, Budget(64 * MIB, between=False))
    assert direct.stages[0].decodings > 16
    whole = plan_stages(planes, columns, Budget(2048 * MIB))
    assert [stage.decodings for stage in whole.stages] == [1]
    # The larger the array, the more decoding in one stage would cost.
    larger = (1280, 10240, 1024)
    planes, columns = layout(larger, (1, 1024, 1024)), layout(larger, (1280, 32, 32))
    assert plan_stages(planes, columns, Budget(64 * MIB)).between is not None


def test_chunks_that_do_not_nest_are_read_in_boxes_of_both():
    one, other = layout((1000, 1000), (15, 15)), layout((1000, 1000), (10, 10))
    (stage,) = plan_stages(one, other, Budget(_OVERHEAD + 12_000)).stages
    assert [along.length % 30 for along in stage.cuts] == [0, 0]
    assert stage.decodings == 1


def test_memory_that_is_left_is_used_as_far_as_there_is_a_use_in_it():
    small = layout((10**6,), 1000)
    (stage,) = plan_stages(small, small, Budget(8 * MIB)).stages
    assert MIB < stage.memory <= 5 * MIB  # half of it, for the threads
    (stage,) = plan_stages(small, small, Budget(8 * MIB, tasks=64)).stages
    assert 32 <= stage.count <= 64


def test_memory_that_is_not_firm_is_for_elements_next_to_chunks_in_hand():
    planes = layout((64, 512, 256), (1, 512, 256))
    shards = layout((64, 512, 256), (1, 128, 128), shards=(64, 256, 256))  # of 32 MiB
    with pytest.raises(ValueError, match=r"at least 96.1 MiB of memory.*limit is 64.0 MiB"):
        plan_stages(planes, shards, Budget(64 * MIB))
    (stage,) = plan_stages(planes, shards, Budget(64 * MIB, firm=False)).stages
    assert (stage.count, stage.decodings) == (1, 1)
    (stage,) = plan_stages(planes, shards, Budget(MIB, firm=False)).stages
    assert stage.count == 2  # one stored object at a time


def test_huge_dimensions_are_not_lists():
    huge = layout((10**15, 4), (10**3, 4)), layout((10**15, 4), (10**6, 1))
    plan = plan_stages(*huge, Budget(64 * MIB))
    assert plan.stages[-1].count > 10**8


@pytest.mark.parametrize("chunks", [(50, 10), (7, 13)])
def test_sparse_arrays_copy_only_stored_chunks(chunks):
    inner = zarr.MemoryStore()
    old = zarr.create_array(
        CountingStore(inner), shape=(500, 500), chunks=(10, 10), dtype="i4", fill_value=-3
    )
    for at in ((0, 0), (17, 480), (18, 481), (499, 250)):
        old[at] = sum(at)
    new = zarr.empty_like(old, store=CountingStore(zarr.MemoryStore()), chunks=chunks)
    assert keeps_missing_chunks(old, new)
    plan = plan_stages(Chunking.of(old), Chunking.of(new), Budget(_OVERHEAD + 100_000))
    old.store.calls.clear()
    new.store.calls.clear()
    stored = {key for _, key in old.stored.stored_chunks()}
    boxes = 0
    for task in regions_of(plan.stages[-1], old, only_stored=True):
        values = np.empty([part.stop - part.start for part in task.box], old.dtype)
        read_region(task, old, values)
        write_region(task, old, new, values)
        boxes += 1
    assert boxes <= 2 * len(stored)
    assert {key for key in old.store.keys() if key.startswith("c/")} - {"c/"} == stored  # noqa: SIM118 - of calls
    assert len(new.store.calls) <= 4 * 4
    assert np.array_equal(new[...], old[...])


def test_missing_chunks_are_written_if_fill_values_differ():
    old = zarr.create_array(None, shape=40, chunks=2, dtype="f8", fill_value=0.0)
    assert not keeps_missing_chunks(old, zarr.empty_like(old, fill_value=-0.0))
    assert keeps_missing_chunks(old, zarr.empty_like(old, dtype="f4"))
    assert not keeps_missing_chunks(old, zarr.empty_like(old, dtype="f4", fill_value=1))
    # NumPy considers these equal.
    one, other = (
        zarr.create_array(shape=2, dtype="string", fill_value=it) for it in ("\0a", "\0b")
    )
    assert keeps_missing_chunks(one, one)
    assert not keeps_missing_chunks(one, other)
    undefined = zarr.create_array(
        None, shape=40, chunks=2, dtype="f8", fill_value=None, zarr_format=2
    )
    assert keeps_missing_chunks(undefined, old)
    assert not keeps_missing_chunks(old, undefined)
    stage = plan_stages(Chunking.of(old), Chunking.of(old), Budget(MIB)).stages[0]
    assert len(list(regions_of(stage, old, only_stored=False))) == stage.count
    assert not list(regions_of(stage, old, only_stored=True))


@pytest.mark.parametrize("lengths", [(2, 7, 3), (7, 2, 3), (3, 2, 7)])
def test_the_length_of_rectilinear_chunks_is_that_of_the_longest(lengths):
    along = ChunkEdges.at_edges(12, lengths)
    assert along.length == 7
    rectilinear = Chunking((along,), (7,), 8, 1)
    regular = Chunking((ChunkEdges.at_edges(12, 7),), (7,), 8, 1)
    assert memory_of((12,), rectilinear, regular, 1) == memory_of((12,), regular, regular, 1)


def test_sparse_arrays_may_have_more_chunks_than_an_integer_counts():
    source = zarr.create_array(shape=(10**9,) * 3, chunks=(10,) * 3, dtype="u1")
    source[5, 100:102, 10**8] = 3
    source[-1, -1, -1] = 4
    copy = zarr.copy(source, None, chunks=(20,) * 3)
    assert copy.nchunks_initialized == 2
    assert copy[4:7, 101, 10**8].tolist() == [0, 3, 0]
    assert copy[-1, -1, -1] == 4
