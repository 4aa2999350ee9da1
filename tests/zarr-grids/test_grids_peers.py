"""Arrays with these grids and keys are exchanged with other libraries."""

import numpy as np
import pytest
import zarr_core

zarr = pytest.importorskip("zarr")
NEWER = tuple(map(int, zarr.__version__.split(".")[:2])) >= (3, 2)

VALUES = np.arange(6000, dtype="int32").reshape(60, 100)
SHAPES = [[[10, 20, 30], [40, 60]], [[10, 20, 30], 40], [[[20, 3]], [[7, 10], 25, [5, 1]]]]


def made(path, shapes, **options):
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": shapes}}
    return zarr_core.create_array(path, data=VALUES, chunks=grid, **options)


@pytest.fixture
def zarr_python():
    if not NEWER:
        pytest.skip("zarr-python 3.2 was the first to know rectilinear grids")
    with zarr.config.set({"array.rectilinear_chunks": True}):
        yield


@pytest.mark.parametrize("shapes", [*SHAPES, [[10, 50, 3, 3], [[30, 9]]]])
@pytest.mark.usefixtures("zarr_python")
def test_zarr_python_reads_and_changes_ours(tmp_path, shapes):
    ours = made(tmp_path / "a", shapes)
    theirs = zarr.open_array(tmp_path / "a", mode="r+")
    assert (theirs[...] == VALUES).all()
    assert theirs.read_chunk_sizes == ours.read_chunk_sizes
    assert (theirs[7:33:3, ::7] == ours[7:33:3, ::7]).all()
    theirs[5:25, 50:] = -1
    theirs.append(VALUES[:30])
    ours.refresh()
    assert ours.shape == (90, 100)
    assert (ours[...] == theirs[...]).all()
    ours.append(VALUES[:3])
    assert (zarr.open_array(tmp_path / "a")[...] == ours[...]).all()


@pytest.mark.usefixtures("zarr_python")
def test_shards_both_ways(tmp_path):
    theirs = zarr.create_array(
        tmp_path / "a", shape=(60, 100), dtype="i4", chunks=(5, 10), shards=[[10, 20, 30], [50, 50]]
    )
    theirs[...] = VALUES
    ours = zarr_core.open(tmp_path / "a", mode="r+")
    assert (ours[...] == VALUES).all()
    assert (ours.chunks, ours.shards) == ((5, 10), ((10, 20, 30), (50, 50)))
    ours.append(VALUES[:7])  # which zarr-python refuses, as 5 does not divide 7
    again = zarr.open_array(tmp_path / "a")
    assert again.write_chunk_sizes == ours.write_chunk_sizes
    assert (again[...] == np.concatenate([VALUES, VALUES[:7]])).all()
