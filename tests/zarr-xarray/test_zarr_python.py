"""Data that xarray writes with zarr-python and reads with zarr-core, and vice versa."""

import tempfile
import warnings

import dask.array
import hypothesis.strategies as st
import numcodecs
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from random_datasets import ATTRIBUTES, variables
from zarr_xarray import to_zarr

zarr = pytest.importorskip("zarr", "3.1")

KINDS = {
    "bool": np.array([True, False, True]),
    **{
        name: np.array([0, 1, 100], name)
        for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
    },
    **{name: np.array([0, 1.5, np.nan], name) for name in ("f2", "f4", "f8")},
    "c8": np.array([1j, 2, np.nan], "c8"),
    "c16": np.array([1j, 2, 3], "c16"),
    "big endian": np.array([1, 2, 3], ">i4"),
    "fixed text": np.array(["a", "", "bcd"]),
    "objects": np.array(["a", "", "bcd"], object),
    "bytes": np.array([b"a", b"", b"bcd"]),
    "datetime": np.array(["2020-01-01", "NaT", "1950-06-01T12:00"], "M8[ns]"),
    "datetime in seconds": np.array(["2020-01-01", "2021-01-01", "1950-06-01T12:00"], "M8[s]"),
    "timedelta": np.array([1, "NaT", 3], "m8[ns]"),
}
ENCODINGS = {
    "packed": ([1.5, np.nan, 3.0], {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9}),
    "float32": ([1.5, np.nan, 3.0], {"dtype": "f4", "_FillValue": -1.0}),
    "unsigned": ([1, 2, 3], {"dtype": "u1", "_FillValue": 255}),
    "days": (KINDS["datetime"], {"units": "days since 1900-01-01", "dtype": "f8"}),
    "calendar": (KINDS["datetime in seconds"], {"calendar": "proleptic_gregorian"}),
    "chunks": (np.arange(3), {"chunks": (2,)}),
}


def dataset():
    variables = {f"kind {name}": ("x", values) for name, values in KINDS.items()}
    variables |= {f"encoding {name}": ("x", value) for name, (value, _) in ENCODINGS.items()}
    variables["scalar"] = ((), 3.5, {"units": "m"})
    variables["plane"] = (("y", "x"), np.arange(12.0).reshape(4, 3), {"list": [1, 2.5, "a"]})
    coords = {"x": [3, 1, 2], "label": ("y", list("abcd")), "y": np.arange(4) / 2}
    ds = xr.Dataset(variables, coords=coords, attrs={"title": "ä", "numbers": [1, 2]})
    for name, (_, encoding) in ENCODINGS.items():
        ds[f"encoding {name}"].encoding = dict(encoding)
    return ds


@pytest.fixture(autouse=True)
def _no_warnings_of_strangers():
    with warnings.catch_warnings():
        for category in (UserWarning, RuntimeWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        yield


@pytest.mark.parametrize("consolidated", [True, False])
def test_read_data_of_zarr_python(tmp_path, zarr_format, consolidated):
    path = tmp_path / "a.zarr"
    dataset().to_zarr(path, zarr_format=zarr_format, consolidated=consolidated)
    theirs = xr.open_dataset(path, engine="zarr", consolidated=consolidated).load()
    ours = xr.open_dataset(path, engine="zarr_core", consolidated=consolidated).load()
    xr.testing.assert_identical(ours, theirs)
    for name in theirs.variables:
        assert ours[name].dtype == theirs[name].dtype, name


@pytest.mark.parametrize("consolidated", [True, False])
def test_zarr_python_reads_written_data(tmp_path, zarr_format, consolidated):
    to_zarr(dataset(), tmp_path / "o.zarr", zarr_format=zarr_format, consolidated=consolidated)
    dataset().to_zarr(tmp_path / "t.zarr", zarr_format=zarr_format, consolidated=consolidated)
    found = [
        xr.open_dataset(tmp_path / name, engine="zarr", consolidated=consolidated).load()
        for name in ("o.zarr", "t.zarr")
    ]
    xr.testing.assert_identical(*found)
    for name in found[0].variables:
        assert found[0][name].dtype == found[1][name].dtype, name


def test_append_to_data_of_the_other_library(tmp_path, zarr_format):
    parts = [
        xr.Dataset(
            {"a": ("t", [n, n + 0.5]), "s": ("t", ["x", "yz"])}, coords={"t": [2 * n, 2 * n + 1]}
        )
        for n in range(4)
    ]
    path = tmp_path / "a.zarr"
    parts[0].to_zarr(path, zarr_format=zarr_format)
    to_zarr(parts[1], path, append_dim="t")
    parts[2].to_zarr(path, append_dim="t")
    to_zarr(parts[3], path, append_dim="t")
    expected = xr.concat(parts, "t")
    for engine in ("zarr", "zarr_core"):
        found = xr.open_dataset(path, engine=engine).load()
        xr.testing.assert_equal(found.drop_vars("s"), expected.drop_vars("s"))
        assert found["s"].values.tolist() == ["x", "yz"] * 4


def test_write_regions_of_the_other_library(tmp_path, zarr_format):
    whole = xr.Dataset({"a": ("x", np.arange(8.0))}, coords={"x": np.arange(8)})
    path = tmp_path / "a.zarr"
    xr.zeros_like(whole).assign_coords(x=whole.x).to_zarr(
        path, zarr_format=zarr_format, encoding={"a": {"chunks": (2,)}}
    )
    to_zarr(whole.isel(x=slice(2, 6)), path, region="auto")
    whole.isel(x=slice(6, 8)).to_zarr(path, region="auto")
    for engine in ("zarr", "zarr_core"):
        found = xr.open_dataset(path, engine=engine)["a"].values
        assert found.tolist() == [0, 0, 2, 3, 4, 5, 6, 7]


def test_shards(tmp_path):
    ds = xr.Dataset({"a": (("x", "y"), dask.array.arange(64, chunks=64).reshape(8, 8))})
    encoding = {"a": {"chunks": (2, 2), "shards": (4, 8)}}
    ds.chunk(x=4, y=8).to_zarr(tmp_path / "t.zarr", encoding=encoding)
    to_zarr(ds.chunk(x=4, y=8), tmp_path / "o.zarr", encoding=encoding)
    for name, engine in (("t.zarr", "zarr_core"), ("o.zarr", "zarr")):
        found = xr.open_dataset(tmp_path / name, engine=engine)
        xr.testing.assert_equal(found.load(), ds.compute())
        assert found["a"].encoding["shards"] == (4, 8)


def test_encodings_are_valid_for_the_other_library(tmp_path):
    ds = dataset()[["plane", "encoding packed", "kind objects"]]
    compressed = {"plane": {"compressors": [{"name": "gzip", "configuration": {"level": 3}}]}}
    to_zarr(ds, tmp_path / "o.zarr", encoding=compressed)
    ours = xr.open_dataset(tmp_path / "o.zarr", engine="zarr_core")
    ours.to_zarr(tmp_path / "t.zarr")
    assert zarr.open(tmp_path / "t.zarr")["plane"].compressors[0].level == 3
    theirs = xr.open_dataset(tmp_path / "t.zarr", engine="zarr")
    to_zarr(theirs, tmp_path / "again.zarr")
    to_zarr(theirs, tmp_path / "version 2.zarr", zarr_format=2)
    for name in ("again.zarr", "version 2.zarr"):
        found = xr.open_dataset(tmp_path / name, engine="zarr").load()
        xr.testing.assert_identical(found, ours.load())


def test_trees(tmp_path, zarr_format):
    tree = xr.DataTree.from_dict(
        {"/": xr.Dataset({"a": ("x", [1, 2])}), "/b/c": xr.Dataset({"d": 2.5}), "/e": xr.Dataset()}
    )
    to_zarr(tree, tmp_path / "o.zarr", zarr_format=zarr_format)
    tree.to_zarr(tmp_path / "t.zarr", zarr_format=zarr_format)
    for name, engine in (("o.zarr", "zarr"), ("t.zarr", "zarr_core")):
        xr.testing.assert_identical(xr.open_datatree(tmp_path / name, engine=engine), tree)


def test_stores_of_zarr_python(tmp_path, zarr_format):
    store = zarr.storage.MemoryStore()
    to_zarr(dataset()[["plane"]], store, zarr_format=zarr_format)
    found = xr.open_dataset(store, engine="zarr_core").load()
    xr.testing.assert_identical(found, xr.open_dataset(store, engine="zarr").load())


SHARED = st.sampled_from(["i1", "i4", "u8", "f4", "f8", "c16", "?", "U3", "M8[ns]"])


@settings(max_examples=15)
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=4), variables(SHARED), max_size=3),
    ATTRIBUTES,
    st.sampled_from([2, 3]),
    st.booleans(),
    st.booleans(),
)
def test_datasets_round_trip_between_libraries(
    found, attributes, zarr_format, ours_first, consolidated
):
    ds = xr.Dataset(found, attrs=attributes)
    options = {"zarr_format": zarr_format, "consolidated": consolidated}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        writers = [to_zarr, xr.Dataset.to_zarr][:: 1 if ours_first else -1]
        writers[0](ds, f"{folder}/first", **options)
        reader = "zarr" if ours_first else "zarr_core"
        again = xr.open_dataset(f"{folder}/first", engine=reader, consolidated=consolidated)
        xr.testing.assert_identical(again.load(), ds)
        writers[1](again.drop_encoding(), f"{folder}/second", **options)
        for place in ("first", "second"):
            for engine in ("zarr", "zarr_core"):
                last = xr.open_dataset(
                    f"{folder}/{place}", engine=engine, consolidated=consolidated
                )
                xr.testing.assert_identical(last.load(), ds)
        # Overwrite what the other library has stored.
        writers[1](ds, f"{folder}/first", mode="w", **options)
        last = xr.open_dataset(f"{folder}/first", engine="zarr_core", consolidated=consolidated)
        xr.testing.assert_identical(last.load(), ds)


def test_encodings_survive_other_version_and_shards(tmp_path):
    """Not supported by xarray with zarr-python: version 2 codecs in version 3, shards."""
    ds = xr.Dataset({"a": (("x", "y"), np.arange(64.0).reshape(8, 8))})
    blosc = numcodecs.Blosc("zstd", 3, numcodecs.Blosc.SHUFFLE)
    ds.to_zarr(tmp_path / "2.zarr", zarr_format=2, encoding={"a": {"compressors": [blosc]}})
    opened = xr.open_dataset(tmp_path / "2.zarr", engine="zarr_core", chunks={})
    to_zarr(opened, tmp_path / "3.zarr", zarr_format=3)
    codec = zarr.open(tmp_path / "3.zarr")["a"].compressors[0]
    found = codec.to_dict()["configuration"]
    assert (found["cname"], found["clevel"], found["shuffle"]) == ("zstd", 3, "shuffle")
    encoding = {"a": {"chunks": (2, 2), "shards": (4, 8)}}
    to_zarr(ds, tmp_path / "s.zarr", encoding=encoding)
    for engine in ("zarr", "zarr_core"):  # the former prefers inner chunks
        found = xr.open_dataset(tmp_path / "s.zarr", engine=engine, chunks={})
        target = tmp_path / f"of {engine}.zarr"
        to_zarr(found, target, align_chunks=engine == "zarr")
        array = zarr.open(target)["a"]
        assert (array.chunks, array.shards) == ((2, 2), (4, 8))
        assert (array[:] == ds["a"].values).all()
