"""Clusters of several processes, some of which are killed."""

import os
import signal
import threading
import warnings

import dask
import dask.array as da
import numpy as np
import pytest
import zarr_core as zarr
import zarr_dask
from zarr_core.extension import StoreError
from zarr_transfer import plan_rechunk, rechunk

distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.slow,
    # What distributed says of processes that are gone is meant to be said here.
    pytest.mark.filterwarnings("ignore"),
]

VALUES = np.random.default_rng(5).random((240, 200))


@pytest.fixture(scope="module")
def client():
    settings = {
        "distributed.scheduler.allowed-failures": 10,
        "distributed.admin.tick.limit": "1h",
        "logging": {"distributed": "critical"},
    }
    with warnings.catch_warnings(), dask.config.set(settings):
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            # Should a nanny give its worker up, there are two all the same.
            cluster.adapt(minimum=2, maximum=2, interval="500ms")
            yield client


@pytest.fixture
def source(tmp_path):
    group = zarr.create_group(tmp_path / "source")
    group.create_array("a/rows", data=VALUES, chunks=(2, 200))
    group.create_array("b", data=VALUES[0], chunks=3)
    return group


class Accident:
    """Called with the progress of a copy; when it has come so far, workers are lost.

    Parameters
    ----------
    client : Client
        Whose workers they are.
    what : {"one", "all", "cancelled"}
        How many are killed; or what a restart of the cluster means to the tasks under way.
    at : float
        Share of the work at which that happens.
    """

    def __init__(self, client, what, at):
        self.client, self.what, self.at = client, what, at
        self.happened = False

    def __call__(self, progress):
        if self.happened or progress.done < self.at * (progress.total or 1):
            return
        self.happened = True
        if self.what == "cancelled":
            futures = [distributed.Future(key, self.client) for key in [*self.client.futures]]
            assert futures
            self.client.cancel(futures)
            return
        pids = [*self.client.run(os.getpid).values()]
        for pid in pids if self.what == "all" else pids[:1]:
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("what", "layout"),
    [
        ("one", {"chunks": 10, "shards": 40}),
        ("two stages", {"chunks": (240, 2)}),
        ("all", {"chunks": 15}),
        ("one", {}),
        ("cancelled", {"chunks": 15}),
    ],
    ids=["shards", "two stages", "all workers", "as stored", "restart"],
)
def test_lost_workers_lose_no_data(client, source, tmp_path, what, layout, monkeypatch):
    monkeypatch.setattr(
        rechunk, "_PER_OBJECT", 0
    )  # so that there are pieces of arrays as small as these
    array = source["a/rows"]
    # Small tasks, so that there are many to be interrupted.
    executor = zarr_dask.Workers(
        max_memory="0.2 MiB" if what == "two stages" else "0.5 MiB", retries=4
    )
    plan = plan_rechunk(array, zarr.empty_like(array, **layout), executor=executor)
    assert len(plan.stages) == (2 if what == "two stages" else 1)
    accident = Accident(client, what, 0.3)
    copy = zarr.copy(array, tmp_path / "copy", "x", progress=accident, executor=executor, **layout)
    assert accident.happened
    assert np.array_equal(copy, VALUES)
    place = zarr.LocalStore(tmp_path / "copy")
    reference = zarr.copy(array, tmp_path / "reference", "x", **layout)
    assert sorted(place.list()) == sorted({"zarr.json", *reference.store.list()})
    for key in reference.store.list():
        assert bytes(place.get(key)) == bytes(reference.store.get(key)), key


def test_copy_uses_the_current_client(client, source, tmp_path):
    copy = zarr.copy(source, tmp_path / "copy", executor=zarr_dask.Workers())
    assert sorted(dict(copy.members(max_depth=None))) == ["a", "a/rows", "b"]
    assert np.array_equal(copy["b"], VALUES[0])
    with pytest.raises(StoreError, match="would be lost"):
        zarr.copy(source, zarr.MemoryStore(), chunks=10, executor=zarr_dask.Workers())


def test_lost_workers_while_writing(client, source, tmp_path):
    x = zarr_dask.from_zarr(source["a/rows"], chunks=None) * 2
    later = zarr_dask.to_zarr(
        x, tmp_path / "copy", chunks=(4, 10), shards=(8, 100), align=True, compute=False
    )
    future = client.compute(later, retries=3)
    pid, *_ = client.run(os.getpid).values()
    threading.Timer(0.05, os.kill, (pid, signal.SIGKILL)).start()
    future.result()
    assert np.array_equal(zarr.open(tmp_path / "copy"), VALUES * 2)
    with pytest.raises(StoreError, match="would be lost"):
        zarr_dask.to_zarr(da.ones(4, chunks=2), None)
