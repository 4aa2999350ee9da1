"""Plans for rechunking with limited memory."""

import tracemalloc
from math import prod

import numpy as np
import pytest
import zarr_core as zarr
from zarr_dask import Workers
from zarr_transfer import Budget, Chunking, plan_rechunk, rechunk
from zarr_transfer.copy_elements import RegionCopier
from zarr_transfer.rechunk import plan_stages

ROWS, COLUMNS = {"chunks": (1, 400)}, {"chunks": (600, 1)}


def array(shape=(600, 400), **layout):
    return zarr.create_array(shape=shape, dtype="f8", **layout)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    """As if it took no time to store a piece, so that arrays of tests have some."""
    monkeypatch.setattr(rechunk, "_PER_OBJECT", 0)


def test_rows_to_columns_in_two_stages():
    rows, columns = array(**ROWS), array(**COLUMNS)
    whole = plan_rechunk(rows, columns, executor=Workers(max_memory=1 << 24))
    assert whole.between is None
    assert whole.stages[0].decodings == 1
    short = plan_rechunk(rows, columns, executor=Workers(max_memory=250_000))
    assert max(stage.decodings for stage in short.stages) <= 2
    assert "an intermediate array" in str(short)
    # In one stage each row would be decoded for every few columns.
    budget = Budget(250_000, tasks=64, box=1 << 24, between=False)
    direct = plan_stages(Chunking.of(rows), Chunking.of(columns), budget)
    assert direct.stages[0].decodings > 10


def test_error_contains_the_required_memory():
    with pytest.raises(ValueError, match=r"at least 18\.4 MiB of memory.*limit is 1\.0 MiB"):
        plan_rechunk(
            array((1000, 800)),
            array((1000, 800), chunks=1000),
            executor=Workers(max_memory="1 MiB"),
        )
    shards = array(chunks=(1, 1), shards=(6, 400))
    assert plan_rechunk(array(**ROWS), shards, executor=Workers()).between is None


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
def test_tasks_stay_within_max_memory(layout, most, tmp_path):
    values = np.random.default_rng(1).random((600, 400))
    source = zarr.create_array(tmp_path / "source", data=values, **ROWS)
    dest = zarr.empty_like(source, store=tmp_path / "dest", **layout)
    try:
        plan = plan_rechunk(source, dest, executor=Workers(max_memory=most))
    except ValueError:
        assert most < 4 * 8 * prod(Chunking.of(dest).longest)
        return
    ends = [source, dest]
    if plan.between is not None:
        ends.insert(1, zarr.empty_like(source, store=tmp_path / "work", chunks=plan.between))
    for stage, old, new in zip(plan.stages, ends, ends[1:], strict=False):
        move = RegionCopier(old, new, is_shared=True)
        tasks = list(stage.tasks())
        move(tasks[0])  # imports, compiles, remembers
        for task in tasks:
            tracemalloc.start()
            move(task)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak <= stage.memory <= most
    assert np.array_equal(dest, values)
