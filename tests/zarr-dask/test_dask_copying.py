"""Copying and rechunking hierarchies."""

from concurrent.futures import ThreadPoolExecutor
from math import prod

import dask
import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from failing_store import FailingStore
from zarr_core.extension import NodeNotFoundError, StoreError
from zarr_dask import Workers
from zarr_transfer import convert, plan_rechunk, rechunk

VALUES = np.random.default_rng(3).integers(0, 99, (120, 80))


@pytest.fixture
def source(tmp_path):
    group = zarr.create_group(tmp_path / "source", attributes={"title": "all"})
    group.create_array("deep/rows", data=VALUES, chunks=(1, 80), attributes={"units": "m"})
    group.create_array("dots", data=np.arange(50.0), chunks=7, fill_value=-1)
    group.create_array("none", shape=(0, 3))
    return zarr.consolidate_metadata(group)


def same(one, other):
    assert one.attrs == other.attrs
    members = dict(one.members(max_depth=None))
    assert members.keys() == dict(other.members(max_depth=None)).keys()
    for path, node in members.items():
        assert node.attrs == other[path].attrs
        if isinstance(node, zarr.Array):
            assert np.array_equal(node, other[path])


@pytest.fixture(params=["threads", "executor", "dask's settings"])
def client(request):
    if request.param == "executor":
        with ThreadPoolExecutor(2) as executor:
            yield executor
    else:
        with dask.config.set(scheduler="sync"):
            yield "threads" if request.param == "threads" else None


@pytest.mark.parametrize(
    "layout",
    [{}, {"chunks": 30}, {"chunks": 5, "shards": 20, "compressors": "gzip"}, {"zarr_format": 2}],
    ids=str,
)
def test_copy_hierarchies(source, tmp_path, client, layout):
    seen = []
    executor = Workers(client)
    copy = zarr.copy(source, tmp_path / "copy", executor=executor, progress=seen.append, **layout)
    same(source, copy)
    assert copy["deep/rows"].shards == ((20, 20) if "shards" in layout else None)
    assert seen[-1].done == seen[-1].total


ADVERSE = {"chunks": (120, 1)}
MEMORY = 150_000


def plan_of(source, layout):
    return plan_rechunk(source, zarr.empty_like(source, **layout), executor=Workers("sync", MEMORY))


@pytest.fixture
def small_pieces(monkeypatch):
    """As if it took no time to store a piece, so that arrays of tests have some."""
    monkeypatch.setattr(rechunk, "_PER_OBJECT", 0)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("work", [None, "work"])
def test_intermediate_array_is_removed(source, tmp_path, work):
    rows = source["deep/rows"]
    assert plan_of(rows, ADVERSE).between is not None
    place = None if work is None else tmp_path / work
    lines, seen = [], []
    copy = zarr.copy(
        rows, tmp_path / "copy", "columns", executor=Workers(None, MEMORY, place),
        log=lines.append, progress=seen.append, **ADVERSE,
    )  # fmt: skip
    assert np.array_equal(copy, VALUES)
    assert copy.chunks == (120, 1)
    assert (seen[-1].done, seen[-1].total) == (2 * VALUES.size, 2 * VALUES.size)
    assert not [key for key in zarr.LocalStore(tmp_path / "copy").list() if "copying" in key]
    assert place is None or not [*zarr.LocalStore(place).list()]


@pytest.mark.usefixtures("small_pieces")
def test_root_array_in_two_stages(source, tmp_path):
    executor = Workers(max_memory=MEMORY)
    copy = zarr.copy(source["deep/rows"], tmp_path / "copy", executor=executor, **ADVERSE)
    assert np.array_equal(copy, VALUES)
    assert not [key for key in copy.store.list() if "copying" in key]


def test_chunks_larger_than_max_memory(source, tmp_path):
    with pytest.raises(ValueError, match="needs at least"):
        zarr.copy(source["dots"], tmp_path / "copy", chunks=50, executor=Workers(max_memory=1000))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("layout", [{"chunks": (30, 8)}, ADVERSE], ids=["one", "two stages"])
def test_interrupted_copy_resumes(source, tmp_path, layout):
    """At whatever write it is: nothing wrong can be seen, and what is done is not done again."""
    rows, work = source["deep/rows"], tmp_path / "work"

    def copy(dest, retries=0):
        executor = Workers("sync", MEMORY, work, retries)
        return zarr.copy(rows, dest, "x", executor=executor, **layout)

    last = plan_of(rows, layout).stages[-1]
    together = max(prod(map(len, last.objects_in(task))) for task in last.tasks())
    counting = FailingStore(zarr.LocalStore(tmp_path / "whole"))
    copy(counting)
    total = writes(counting)
    assert total > 10
    for fail_at in range(1, len(counting.calls), max(7, len(counting.calls) // 20)):
        place = tmp_path / f"at-{fail_at}"
        broken = FailingStore(zarr.LocalStore(place), fail_at=fail_at, forever=True)
        with pytest.raises(StoreError):
            copy(broken)
        try:
            found = zarr.open(place)["x"]
        except (NodeNotFoundError, KeyError):
            again = FailingStore(zarr.LocalStore(place))
            found = copy(again)
            before = sum(1 for method, key in broken.calls[: fail_at - 1] if is_chunk(method, key))
            after = sum(1 for method, key in again.calls if is_chunk(method, key))
            # What one task writes, in which it stopped, is written again.
            assert after <= total - before + together
        assert np.array_equal(found, VALUES)
        assert not [key for key in zarr.LocalStore(place).list() if "copying" in key] or (
            fail_at > len(counting.calls) - 4
        )


def is_chunk(method, key):
    return method == "set" and "/c/" in key


def writes(store):
    return sum(1 for method, key in store.calls if is_chunk(method, key))


def test_failed_tasks_are_retried(source, tmp_path):
    def flaky():
        return zarr.open_array(FailingStore(source.store, fail_at=40), "r", path="deep/rows")

    with pytest.raises(StoreError, match="call 40"):
        zarr.copy(flaky(), tmp_path / "copy", chunks=40, executor=Workers(retries=0))
    copy = zarr.copy(flaky(), tmp_path / "copy", chunks=40, executor=Workers())
    assert np.array_equal(copy, VALUES)


@pytest.mark.parametrize("layout", [{"chunks": (40, 25)}, {"chunks": (500, 2)}], ids=str)
@pytest.mark.parametrize("executor", [None, Workers("sync", 200_000)], ids=["here", "dask"])
def test_only_stored_chunks_of_sparse_arrays_are_read(layout, executor):
    source, dest = (CountingStore(zarr.MemoryStore()) for _ in range(2))
    array = zarr.create_array(
        source, path="x", shape=(500, 500), chunks=(10, 10), dtype="i4", fill_value=-3
    )
    for at in ((0, 0), (17, 480), (18, 481), (499, 250)):
        array[at] = sum(at)
    stored = {key for _, key in array.stored.stored_chunks()}
    source.calls.clear()
    convert(source, dest, executor=executor, **layout)
    asked = {call.key for call in source.calls if call.key.startswith("x/c/")}
    assert asked == stored
    assert source.count() < 40  # of 2500 chunks
    chunks = [call for call in dest.calls if call.key.startswith("x/c/")]
    assert len(chunks) <= 4 * 5
    assert np.array_equal(zarr.open(dest)["x"], array)


def test_invalid_client(source, tmp_path):
    with pytest.raises(TypeError, match="an executor of"):
        zarr.copy(source, tmp_path / "copy", executor=Workers(3))


def test_workers_execute_copy_all(source, tmp_path):
    done = zarr.copy_all(source, tmp_path / "all", executor=Workers("threads"))
    same(source, zarr.open(tmp_path / "all"))
    assert (
        done.nbytes
        == sum(node.nbytes_stored() for _, node in source.arrays())
        + source["deep/rows"].nbytes_stored()
    )


@pytest.mark.parametrize("layout", [{}, {"chunks": (40, 40)}], ids=str)
def test_workers_execute_conversions(tmp_path, layout):
    group = zarr.create_group(tmp_path / "old", zarr_format=2)
    names = {"_ARRAY_DIMENSIONS": ["y", "x"]}
    group.create_array("x", data=VALUES, chunks=(30, 20), attributes=names)
    seen = []
    workers = Workers("threads")
    options = {"executor": workers, "progress": seen.append, **layout}
    done = convert(tmp_path / "old", tmp_path / "new", **options)
    assert done.steps[1].cost == ("recode" if layout else "copy")
    new = zarr.open(tmp_path / "new", zarr_format=3)["x"]
    assert new.dimension_names == ("y", "x")
    assert np.array_equal(new, VALUES)
    assert seen[-1].done == seen[-1].total
    again = convert(tmp_path / "old", tmp_path / "again", verify=True, **options)
    assert again.cost == done.cost
