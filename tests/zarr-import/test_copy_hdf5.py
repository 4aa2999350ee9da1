"""Copies between open HDF5 files and Zarr groups, in both directions."""

import io

import h5py
import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import NodeExistsError
from zarr_import import UnsupportedSourceError, copy_all_hdf5, copy_hdf5, export_hdf5, import_hdf5


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["title"] = "all"
        file.create_dataset("g/x", data=np.arange(12).reshape(3, 4), chunks=(2, 2))
        file["g/x"].attrs["units"] = "m"
        file["g/h/y"] = np.arange(3.0)
        file["z"] = np.arange(5, dtype="i2")
        yield file


def test_to_zarr_and_back(file):
    root, log = zarr.create_group(), io.StringIO()
    group = copy_hdf5(file["g"], root, log=log)
    assert (group.name, group["x"].chunks, group["x"].attrs["units"]) == ("/g", (2, 2), "m")
    assert np.array_equal(root["g/h/y"], [0, 1, 2])
    array = copy_hdf5(file["z"], root, "a/b", chunks=(2,), log=log)
    assert (array.name, array.chunks, array.dtype) == ("/a/b", (2,), np.dtype("i2"))
    back = copy_hdf5(root["g"], file, "n/back")
    assert np.array_equal(back["x"], file["g/x"])
    assert back["x"].attrs["units"] == "m"
    assert np.array_equal(copy_hdf5(array, file["n"]), range(5))
    assert file["n/b"].shape == (5,)
    assert log.getvalue().splitlines() == ["copy /g to /g", "copy /z to /a/b"]


@pytest.mark.parametrize("imports", [True, False])
def test_existing_objects(file, imports):
    other = zarr.create_group()
    copy_all_hdf5(file, other)
    other["z"][...] = 7
    source, dest = (file, other) if imports else (other, file)
    before = list(dest["z"][...])
    with pytest.raises(NodeExistsError, match="g"):
        copy_hdf5(source["g"], dest)
    assert list(copy_hdf5(source["z"], dest, if_exists="skip")[...]) == before
    copied = copy_hdf5(source["z"], dest, if_exists="replace")
    assert list(copied[...]) == list(source["z"][...]) != before
    with pytest.raises(ValueError, match="if_exists"):
        copy_hdf5(source["z"], dest, if_exists="no")


def test_all_members(file, tmp_path):
    root = zarr.create_group()
    assert copy_all_hdf5(file, root) == (5, 0, 12 * 8 + 3 * 8 + 5 * 2)
    assert root.attrs["title"] == "all"
    with pytest.raises(NodeExistsError):
        copy_all_hdf5(file, root)
    del root["z"]
    assert copy_all_hdf5(file, root, if_exists="skip") == (1, 1, 10)
    assert copy_all_hdf5(file["g"], tmp_path / "g.zarr")[0] == 3
    with h5py.File(tmp_path / "b.h5", "w") as other:
        assert copy_all_hdf5(root, other) == (5, 0, 12 * 8 + 3 * 8 + 5 * 2)
        assert other.attrs["title"] == "all"
        assert np.array_equal(other["g/h/y"], file["g/h/y"])


def test_arguments_that_are_not_one_of_each(file):
    root = zarr.create_group()
    for source, dest in ((file, file), (root, root), (file["z"], file), ([1], file)):
        with pytest.raises(TypeError, match="one of source and dest"):
            copy_hdf5(source, dest)
    for source, dest in ((file, root), (root, file)):
        with pytest.raises(TypeError, match="has no name"):
            copy_hdf5(source, dest)


def test_a_failed_export_to_a_group_leaves_nothing(file):
    root = zarr.create_group()
    group = root.create_group("new")
    group.create_array("a", data=[1, 2])
    group.create_array("b", shape=2, dtype="bfloat16")
    with pytest.raises(UnsupportedSourceError):
        copy_hdf5(group, file)
    del group["b"]
    with pytest.raises(ValueError, match="Compression"):
        export_hdf5(group, file, name="new", filters={"compression": "missing"})
    assert "new" not in file
    with pytest.raises(FileExistsError, match="/z"):
        export_hdf5(group["a"], file, name="z")
    assert list(file["z"]) == [0, 1, 2, 3, 4]


def test_a_group_of_a_file_is_the_root_of_an_import(file, tmp_path):
    report = import_hdf5(file["g"], tmp_path / "g.zarr")
    assert [node.path for node in report] == ["", "h", "h/y", "x"]
    assert [node.path for node in import_hdf5(file["g"], tmp_path / "h.zarr", group="/h")] == [
        "",
        "y",
    ]
    assert [node.path for node in import_hdf5(file["z"], tmp_path / "z.zarr")] == [""]
    export_hdf5(zarr.open(tmp_path / "g.zarr"), tmp_path / "c.h5", name="below/g")
    with h5py.File(tmp_path / "c.h5") as other:
        assert list(other["below/g"]) == ["h", "x"]
