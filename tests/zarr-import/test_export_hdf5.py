"""Export to HDF5: read by h5py and netCDF4, and imported again."""

import h5py
import numpy as np
import pytest
import xarray as xr
import zarr_core as zarr
import zarr_xarray
from zarr_import import export_hdf5, import_hdf5


def test_round_trip(tmp_path):
    root = zarr.create_group(attributes={"title": "all", "list": [1, 2], "mixed": [1, "a", None]})
    values = {
        "big": np.arange(30, dtype=">i2").reshape(5, 6), "g/bool": np.array([True, False]),
        "text": np.array(["a", "", "é"], np.dtypes.StringDType()), "scalar": np.array(2.5),
        "g/record": np.array([(1, 2.5)], [("a", "i1"), ("b", "f8")]),
        "empty": np.zeros((0, 3)), "times": np.array(["2001-02-03", "NaT"], "M8[s]"),
        "complex": np.array([1 + 2j]), "fixed": np.array([b"ab", b"c"]),
    }  # fmt: skip
    for path, data in values.items():
        root.create_array(path, data=data, chunks=(2,) * data.ndim, attributes={"of": path})
    export_hdf5(root, tmp_path / "a.h5", max_memory=100)
    with h5py.File(tmp_path / "a.h5") as file:
        assert file.attrs["title"] == "all"
        assert file.attrs["mixed"] == '[1, "a", null]'
        assert file["big"].chunks == (2, 2)
        assert np.array_equal(file["big"][...], values["big"])
    import_hdf5(tmp_path / "a.h5", tmp_path / "a.zarr")
    again = zarr.open(tmp_path / "a.zarr")
    for path, data in values.items():
        here = again[path][...]
        assert here.dtype == root[path].dtype
        assert np.array_equal(here, data, equal_nan=data.dtype.kind in "fM"), path
        assert again[path].attrs["of"] == path


@pytest.mark.parametrize("zarr_format", [3, 2])
def test_xarray_datasets_become_netcdf(tmp_path, zarr_format):
    dataset = xr.Dataset(
        {
            "t": (("time", "x"), np.array([[1.5, np.nan], [2, 3]])),
            "packed": (("x", "bare"), np.arange(6.0).reshape(2, 3)),
        },
        {"time": ("time", np.array(["2001-01-01", "2001-01-02"], "M8[ns]")), "x": [10, 20]},
        {"title": "a dataset"},
    )
    place = tmp_path / "a.zarr"
    encoding = {"packed": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1}}
    zarr_xarray.to_zarr(dataset, place, encoding=encoding, zarr_format=zarr_format)
    export_hdf5(zarr.open(place), tmp_path / "a.nc")
    for engine in ("netcdf4", "h5netcdf"):
        with xr.open_dataset(tmp_path / "a.nc", engine=engine) as found:
            xr.testing.assert_identical(found, xr.open_dataset(place, engine="zarr_core"))
    import_hdf5(tmp_path / "a.nc", tmp_path / "again.zarr")
    with xr.open_dataset(tmp_path / "again.zarr", engine="zarr_core") as found:
        xr.testing.assert_identical(found, dataset)


def test_dimension_name_with_several_lengths_is_a_label(tmp_path):
    root = zarr.create_group()
    root.create_array("a", data=np.zeros(3), dimension_names=["x"])
    root.create_array("b", data=np.zeros((4, 2)), dimension_names=["x", None])
    export_hdf5(root, tmp_path / "a.h5")
    import_hdf5(tmp_path / "a.h5", tmp_path / "a.zarr")
    assert zarr.open(tmp_path / "a.zarr")["b"].dimension_names == ("x", None)


def test_unsupported_exports_raise(tmp_path):
    root = zarr.create_group()
    root.create_array("fine", data=np.zeros(3))
    with pytest.raises(FileExistsError, match="overwrite=True"):
        export_hdf5(root["fine"], tmp_path)
    export_hdf5(root["fine"], tmp_path / "a.h5", name="x", filters={"compression": "lzf"})
    with h5py.File(tmp_path / "a.h5") as file:
        assert (list(file), file["x"].compression) == (["x"], "lzf")
    root.create_array("small", shape=(3,), dtype="bfloat16")
    with pytest.raises(ValueError, match="/small: HDF5 does not support the data type bfloat16"):
        export_hdf5(root, tmp_path / "b.h5")
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]
