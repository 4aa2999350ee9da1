"""Writing to sessions of Icechunk."""

import warnings

import dask.array as da
import numpy as np
import pytest
import zarr_core as zarr
import zarr_dask
from zarr_core.extension import StoreError

icechunk = pytest.importorskip("icechunk")

VALUES = np.random.default_rng(2).random((40, 60))


@pytest.fixture
def repository(tmp_path):
    storage = icechunk.local_filesystem_storage(str(tmp_path / "repository"))
    with warnings.catch_warnings(action="ignore"):  # that directories are for trying only
        made = icechunk.Repository.create(storage)
    session = made.writable_session("main")
    zarr.create_array(session, path="g/x", shape=(40, 60), chunks=(5, 6), shards=(10, 30))
    session.commit("documents")
    return made


@pytest.mark.parametrize(
    "scheduler", ["threads", pytest.param("processes", marks=pytest.mark.slow)]
)
def test_forks_are_merged(repository, scheduler):
    session = repository.writable_session("main")
    array = zarr.open_array(session, "r+", path="g/x")
    assert hasattr(array.store, "fork")
    zarr_dask.to_zarr(da.from_array(VALUES, chunks=(20, 30)), array, scheduler=scheduler)
    # Nobody else sees anything until it is committed, and then everything.
    assert np.array_equal(array, VALUES)
    assert not np.any(zarr.open_array(repository.readonly_session("main"), path="g/x"))
    session.commit("elements")
    there = zarr.open_array(repository.readonly_session("main"), path="g/x")
    assert np.array_equal(there, VALUES)
    assert np.array_equal(zarr_dask.from_zarr(there).compute(scheduler=scheduler), VALUES)


def test_compute_false_is_not_supported(repository):
    array = zarr.open_array(repository.writable_session("main"), "r+", path="g/x")
    with pytest.raises(ValueError, match="would not be part of the transaction"):
        zarr_dask.to_zarr(da.from_array(VALUES, chunks=(20, 30)), array, compute=False)


def test_rechunk_into_a_session(repository):
    session = repository.writable_session("main")
    source = zarr.create_array(data=VALUES, chunks=7)
    array = zarr.open_array(session, "r+", path="g/x")
    zarr_dask.to_zarr(zarr_dask.from_zarr(source, chunks=None), array, align=True)
    session.commit("a copy")
    assert np.array_equal(zarr.open_array(repository.readonly_session("main"), path="g/x"), VALUES)


def test_session_with_uncommitted_changes(repository):
    session = repository.writable_session("main")
    x = da.from_array(VALUES, chunks=(20, 30))
    if int(icechunk.__version__.partition(".")[0]) == 1:
        with pytest.raises(StoreError, match="uncommitted changes"):
            zarr_dask.to_zarr(x, session, "new")
    else:
        assert np.array_equal(zarr_dask.to_zarr(x, session, "new"), VALUES)
