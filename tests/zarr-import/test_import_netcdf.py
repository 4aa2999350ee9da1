"""NetCDF files of three libraries, compared through xarray."""

import h5netcdf
import netCDF4
import numpy as np
import pytest
import xarray as xr
import zarr_core as zarr
from zarr_import import import_hdf5


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A file with all NetCDF-4 features: several kinds of dimensions, packing, groups."""
    path = tmp_path_factory.mktemp("netcdf") / "model.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.title = "a model"
        file.empty = ""
        file.setncattr("levels", np.array([1, 2], "i4"))
        file.setncattr("one", np.float32(1.5))
        for name, size in {"time": None, "y": 4, "x": 6, "bare": 3, "length": 5, "z": 4}.items():
            file.createDimension(name, size)
        time = file.createVariable("time", "f8", ("time",))
        time.units, time.calendar = "days since 2000-01-01", "standard"
        time[:] = [0, 1, 2]
        file.createVariable("y", "f4", ("y",))[:] = np.arange(4)
        packed = file.createVariable(
            "t2m", "i2", ("time", "y", "x"), zlib=True, complevel=4, shuffle=True,
            fletcher32=True, fill_value=-999, chunksizes=(1, 2, 3),
        )  # fmt: skip
        packed.scale_factor, packed.add_offset, packed.coordinates = 0.01, 273.15, "lat lon"
        packed.set_auto_maskandscale(False)
        packed[:] = np.arange(72).reshape(3, 4, 6)
        packed[0, 0, :] = -999
        for name in ("lat", "lon"):
            file.createVariable(name, "f8", ("y", "x"))[:] = np.arange(24).reshape(4, 6)
        file.createVariable("partly_written", "f4", ("bare", "x"))[0] = 1
        float_fill = file.createVariable("nan", "f4", ("x",), fill_value=np.nan)
        float_fill.missing_value = np.float32(np.nan)
        float_fill[:3] = 2
        characters = [list("ab   "), list("cde  "), list("     "), list("vwxyz")]
        file.createVariable("name", "S1", ("y", "length"))[:] = np.array(characters, "S1")
        file.createVariable("label", str, ("y",))[:] = np.array(["a", "é", "", "zz"], object)
        deep = file.createGroup("sub/deep")
        deep.createDimension("k", 2)
        flags = deep.createVariable("q", "u1", ("k", "y"))  # a dimension of a parent group
        flags[:] = 1
        flags.flag_values, flags.flag_meanings = np.array([0, 1], "u1"), "a b"
        big = file.createVariable("big", ">f4", ("x",), endian="big")
        big[:] = np.arange(6)
        file.createVariable("z", "f4", ("z", "x"))[:] = 2  # a two-dimensional coordinate
        file.createVariable("x", "f4", ("y", "time"))[:] = 3  # shares the name of a dimension
    return path


@pytest.mark.parametrize("zarr_format", [3, 2])
@pytest.mark.parametrize("codecs", [None, "auto"])
def test_xarray_opens_an_identical_dataset(model, tmp_path, zarr_format, codecs):
    place = tmp_path / "model.zarr"
    report = import_hdf5(
        model, place, zarr_format=zarr_format, codecs=codecs, consolidated=True
    )  # fmt: skip
    assert report["t2m"].how == ("chunks copied" if codecs is None else "elements copied")
    assert {left.source for left in report.left_out} == {"/bare", "/length", "/x", "/sub/deep/k"}
    for group in (None, "sub/deep"):
        with (
            xr.open_dataset(model, engine="netcdf4", group=group) as there,
            xr.open_dataset(place, engine="zarr_core", group=group) as here,
        ):
            xr.testing.assert_identical(there, here)
    assert zarr.open(place)["t2m"].shape == (3, 4, 6)
    dims = zarr.open(place)["sub/deep/q"]
    named = dims.dimension_names if zarr_format == 3 else tuple(dims.attrs["_ARRAY_DIMENSIONS"])
    assert named == ("k", "y")


@pytest.mark.filterwarnings("ignore:Numcodecs codecs")  # of older zarr-python
@pytest.mark.parametrize("zarr_format", [3, 2])
def test_zarr_python_reads_the_result(model, tmp_path, zarr_format):
    place = tmp_path / "model.zarr"
    import_hdf5(
        model, place, zarr_format=zarr_format, include=["t2m", "lat", "nan", "time", "y"],
        consolidated=True,
    )  # fmt: skip
    with (
        xr.open_dataset(model, engine="netcdf4") as there,
        xr.open_dataset(place, engine="zarr") as here,
    ):
        for name in ("t2m", "lat", "nan", "time"):
            xr.testing.assert_identical(there[name].variable, here[name].variable)


def test_files_of_h5netcdf(tmp_path):
    with h5netcdf.File(tmp_path / "a.nc", "w") as file:
        file.dimensions = {"x": 5, "t": None}
        file.resize_dimension("t", 3)
        variable = file.create_variable("v", ("t", "x"), "f4", compression="gzip", chunks=(1, 5))
        variable[:] = np.arange(15).reshape(3, 5)
        variable.attrs["units"] = "m"
        file.create_variable("x", ("x",), "i8")[:] = np.arange(5)
    import_hdf5(tmp_path / "a.nc", tmp_path / "a.zarr")
    with (
        xr.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as there,
        xr.open_dataset(tmp_path / "a.zarr", engine="zarr_core") as here,
    ):
        xr.testing.assert_identical(there, here)


def test_netcdf3(tmp_path):
    path, place = tmp_path / "old.nc", tmp_path / "old.zarr"
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.title = "old"
        file.createDimension("t", None)
        file.createDimension("x", 4)
        variable = file.createVariable("v", "i2", ("t", "x"), fill_value=-1)
        variable.scale_factor = 0.5
        variable.set_auto_maskandscale(False)
        variable[0:3] = np.arange(12).reshape(3, 4)
        file.createVariable("t", "f8", ("t",))[0:3] = [1, 2, 3]
    report = import_hdf5(path, place)
    assert report["v"].shape == (3, 4)
    with (
        xr.open_dataset(path, engine="netcdf4") as there,
        xr.open_dataset(place, engine="zarr_core") as here,
    ):
        xr.testing.assert_identical(there, here)


def test_cdf5_is_not_supported(tmp_path):
    path = tmp_path / "wide.nc"
    path.write_bytes(b"CDF\x05" + bytes(40))
    with pytest.raises(ValueError, match="CDF-5.*nccopy"):
        import_hdf5(path, tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()
