"""The same data written by netCDF-C as NetCDF, as NCZarr, and as plain Zarr of version 2."""

import base64
import json
import warnings
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import xarray as xr
from zarr_xarray import to_zarr

netCDF4 = pytest.importorskip("netCDF4")


def write(place):
    """Write a dataset that uses every CF convention that xarray decodes."""
    with netCDF4.Dataset(place, "w") as data:
        data.title, data.Conventions = "field", "CF-1.10"
        data.numbers = np.array([1, 2], "i4")
        for name, size in {"time": 4, "x": 3, "length": 5, "bounds": 2}.items():
            data.createDimension(name, size)

        def add(group, name, kind, dims, values, fill=None, **attributes):
            variable = group.createVariable(name, kind, dims, fill_value=fill)
            variable.set_auto_maskandscale(False)
            for key, value in attributes.items():
                variable.setncattr(key, value)
            variable[...] = values

        days = {"units": "days since 2000-01-01", "calendar": "noleap"}
        add(data, "time", "f8", ("time",), [0, 1.5, 58, 59], **days)
        since = {"units": "seconds since 1970-01-01"}
        add(data, "when", "i4", ("time",), [0, 1, -7, 100000], np.int32(-7), **since)
        add(
            data, "packed", "i2", ("time", "x"),
            [[1, 2, 3], [4, -999, 6], [7, 8, 9], [-999, 0, 1]], np.int16(-999),
            scale_factor=0.25, add_offset=10.0, units="K", coordinates="lat",
        )  # fmt: skip
        add(data, "unsigned", "i1", ("x",), [-2, -1, 5], np.int8(-1), _Unsigned="true")
        add(data, "missing", "f4", ("x",), [1, 9.5, 3], missing_value=np.float32(9.5))
        add(data, "lat", "f8", ("x",), [1, 2, 3], units="degrees_north", bounds="edges")
        add(data, "edges", "f8", ("x", "bounds"), np.arange(6).reshape(3, 2))
        add(data, "count", "i4", ("x",), [1, 2, 3], valid_range=np.array([0, 9], "i4"))
        letters = np.array([list("abc  "), list("de   "), list("fghij")], "S1")
        add(data, "name", "S1", ("x", "length"), letters)
        add(data, "crs", "f8", (), 2.5, grid_mapping_name="latitude_longitude")
        inner = data.createGroup("inner")
        inner.comment = "below"
        add(inner, "values", "f8", ("time",), np.arange(4))
        add(inner, "level", "i2", (), 7, np.int16(0))


@pytest.fixture(params=["nczarr", "zarr"])
def mode(request):
    return request.param


@pytest.fixture
def both(tmp_path, mode):
    """Paths of the NetCDF file and of the hierarchy."""
    write(tmp_path / "a.nc")
    write(f"file://{tmp_path}/a.zarr#mode={mode},file")
    return tmp_path / "a.nc", tmp_path / "a.zarr"


def load(path, engine, opener=xr.open_dataset, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of xarray, about calendars
        with opener(path, engine=engine, **options) as found:
            return found.load()


def plain(data, mode):
    """Return the dataset as plain Zarr has it: a fill value for every array, JSON attributes."""
    if mode == "nczarr":
        return data
    texts = [name for name in data.variables if data[name].dtype.kind in "SO"]
    data = data.drop_vars(texts).copy()
    for item in (data, *(data[name] for name in data.variables)):
        item.attrs = {name: np.asarray(value).tolist() for name, value in item.attrs.items()}
    return data


def test_datasets_are_equal(both, mode):
    file, hierarchy = both
    theirs, ours = (
        plain(load(place, engine), mode)
        for place, engine in ((file, "netcdf4"), (hierarchy, "zarr_core"))
    )
    xr.testing.assert_identical(ours, theirs)
    assert ours["crs"].dims == ()
    assert ours["unsigned"].values[0] == 254
    assert np.isnan(ours["packed"].values[1, 1])
    assert mode == "zarr" or all(
        ours[name].dtype == theirs[name].dtype for name in theirs.variables
    )


def test_trees_are_equal(both, mode):
    file, hierarchy = both
    theirs = load(file, "netcdf4", xr.open_datatree)
    ours = load(hierarchy, "zarr_core", xr.open_datatree)
    xr.testing.assert_identical(plain(ours["inner"].ds, mode), plain(theirs["inner"].ds, mode))
    assert ours["inner/level"].dims == ()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_rewrite_of_netcdf_data(tmp_path, zarr_format):
    write(f"file://{tmp_path}/a.zarr#mode=nczarr,file")
    ours = load(tmp_path / "a.zarr", "zarr_core")
    to_zarr(ours, tmp_path / "b.zarr", zarr_format=zarr_format)
    again = load(tmp_path / "b.zarr", "zarr_core")
    for name in ours.variables:
        xr.testing.assert_equal(again[name], ours[name])
        assert again[name].dtype.kind == ours[name].dtype.kind


def test_netcdf_reads_written_data(tmp_path):
    ds = xr.Dataset(
        {
            "t": (("y", "x"), np.arange(12.0).reshape(4, 3), {"units": "K"}),
            "packed": ("x", [1.5, 2, 3]),
        },
        coords={"y": np.arange(4)},
        attrs={"title": "field"},
    )
    encoding = {
        "t": {"chunks": (2, 3), "compressors": None},
        "packed": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9, "compressors": None},
        "y": {"compressors": None},
    }
    to_zarr(ds, tmp_path / "o.zarr", zarr_format=2, encoding=encoding)
    place = f"file://{tmp_path}/o.zarr#mode=zarr,file"
    with netCDF4.Dataset(place) as data:
        assert data["t"].dimensions == ("y", "x")
        assert data["t"][...].tolist() == ds["t"].values.tolist()
        assert data["packed"][...].tolist() == [1.5, 2, 3]
        assert data["t"].units == "K"
        assert data.title == "field"


@pytest.mark.parametrize("name", ["nczarr", "zarr"])
def test_netcdf_fixtures(tmp_path, name):
    """Read stored fixtures, independent of the installed netCDF-C."""
    folder = Path(__file__).parents[1] / "fixtures" / "v2" / "netcdf-c-4.10"
    with ZipFile(folder / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    found = xr.open_dataset(tmp_path, engine="zarr_core", mask_and_scale=False)
    nodes = json.loads((folder / f"{name}.json").read_text())["nodes"]
    arrays = {path: node for path, node in nodes.items() if node["kind"] == "array"}
    assert len(arrays) > 10
    for path, node in arrays.items():
        if "/" not in path:
            values = np.frombuffer(base64.b64decode(node["data"]), node["dtype"])
            variable = found[path]
            assert variable.dims == ("y", "x")[: variable.ndim]
            assert variable.values.tobytes() == values.astype(variable.dtype).tobytes()
            assert not any(key.startswith("_nc") for key in variable.attrs)
