"""Reading with xarray's ``engine="zarr_core"``."""

import asyncio
import pickle
import threading

import numpy as np
import pytest
import xarray as xr
import zarr_core
import zarr_xarray
from counting_store import CountingStore
from waits import PATIENCE
from zarr_stores.wrappers.observer import ObservedStore
from zarr_xarray import ZarrCoreBackend


@pytest.fixture
def field(tmp_path, zarr_format):
    """A store with a chunked array, a coordinate and an attribute."""
    ds = xr.Dataset(
        {"t": (("y", "x"), np.arange(60.0).reshape(6, 10), {"units": "K"})},
        coords={"x": np.arange(10) * 2, "y": [0, 1, 2, 3, 4, 5]},
        attrs={"title": "field"},
    )
    path = str(tmp_path / "field.zarr")
    zarr_xarray.to_zarr(ds, path, encoding={"t": {"chunks": (2, 4)}}, zarr_format=zarr_format)
    return path, ds


def test_dataset_round_trip(field):
    path, expected = field
    with xr.open_dataset(path, engine="zarr_core") as ds:
        xr.testing.assert_identical(ds, expected)
        assert ds["t"].encoding["chunks"] == (2, 4)
        assert ds["t"].encoding["preferred_chunks"] == {"y": 2, "x": 4}


@pytest.mark.parametrize(
    "selection",
    [
        {"x": 3},
        {"x": slice(1, 9, 3), "y": slice(None, None, -2)},
        {"x": [7, 1, 1], "y": [True, False, True, False, False, True]},
        {"x": xr.DataArray([1, 5, 9], dims="p"), "y": xr.DataArray([5, 0, 2], dims="p")},
        {"x": xr.DataArray([[1], [5]], dims=("p", "q")), "y": slice(1, 3)},
    ],
    ids=["integer", "slices", "outer", "points", "points with a slice"],
)
def test_selections_are_lazy_and_correct(field, selection):
    path, expected = field
    ds = xr.open_dataset(path, engine="zarr_core")
    lazy = ds["t"].isel(selection)
    assert not lazy.variable._in_memory
    xr.testing.assert_identical(lazy.load(), expected["t"].isel(selection))


def test_selection_reads_only_its_chunks(field):
    path, _ = field
    store = CountingStore(zarr_core.LocalStore(path))
    ds = xr.open_dataset(store, engine="zarr_core")
    store.calls.clear()
    assert float(ds["t"].isel(x=3, y=3)) == 33
    assert len({call.key for call in store.calls}) == 1


def test_dask_chunks_are_stored_chunks(field):
    path, expected = field
    ds = xr.open_dataset(path, engine="zarr_core", chunks={})
    assert ds["t"].chunks == ((2, 2, 2), (4, 4, 2))
    xr.testing.assert_identical(ds.compute(scheduler="threads"), expected)


def test_dask_chunks_are_shards_if_sharded(tmp_path):
    ds = xr.Dataset({"t": (("x",), np.arange(16))})
    path = tmp_path / "a.zarr"
    ds.zarr_core.to_zarr(path, encoding={"t": {"chunks": (2,), "shards": (8,)}})
    found = xr.open_dataset(path, engine="zarr_core", chunks={})
    assert found["t"].chunks == ((8, 8),)
    # The encoding can be written again.
    found.zarr_core.to_zarr(tmp_path / "b.zarr")
    again = zarr_core.open_array(tmp_path / "b.zarr", path="t")
    assert (again.chunks, again.shards) == ((2,), (8,))


def test_open_dataset_pickles(field):
    path, expected = field
    ds = xr.open_dataset(path, engine="zarr_core")
    xr.testing.assert_identical(pickle.loads(pickle.dumps(ds)).load(), expected)


def test_open_mfdataset(tmp_path):
    for number in range(3):
        ds = xr.Dataset({"a": ("t", [number])}, coords={"t": [number]})
        ds.zarr_core.to_zarr(tmp_path / f"{number}.zarr")
    with xr.open_mfdataset(str(tmp_path / "*.zarr"), engine="zarr_core") as ds:
        assert ds["a"].values.tolist() == [0, 1, 2]


def test_groups_and_trees(tmp_path, zarr_format):
    tree = xr.DataTree.from_dict(
        {"/": xr.Dataset({"a": ("x", [1])}), "/b/c": xr.Dataset({"d": 2.5}), "/e": xr.Dataset()}
    )
    path = tmp_path / "tree.zarr"
    tree.zarr_core.to_zarr(path, zarr_format=zarr_format)
    for consolidated in (True, False):
        options = {"engine": "zarr_core", "consolidated": consolidated}
        xr.testing.assert_identical(xr.open_datatree(path, **options), tree)
        assert float(xr.open_dataset(path, group="b/c", **options)["d"]) == 2.5
        assert sorted(xr.open_groups(path, **options)) == ["/", "/b", "/b/c", "/e"]
        below = xr.open_datatree(path, group="b", **options)
        assert float(below["c/d"]) == 2.5


def test_missing_groups_raise_file_not_found(tmp_path, field):
    with pytest.raises(FileNotFoundError, match="No group found"):
        xr.open_dataset(tmp_path / "none.zarr", engine="zarr_core")
    with pytest.raises(FileNotFoundError, match="consolidated"):
        xr.open_dataset(field[0], engine="zarr_core", group="none")


def test_unknown_arguments_raise(field):
    with pytest.raises(TypeError, match=r"argument consolidate for .* expected .*consolidated"):
        xr.open_dataset(field[0], engine="zarr_core", consolidate=True)


def test_consolidated_true_requires_consolidated_metadata(tmp_path):
    path = tmp_path / "a.zarr"
    xr.Dataset({"a": 1}).zarr_core.to_zarr(path, consolidated=False)
    assert int(xr.open_dataset(path, engine="zarr_core")["a"]) == 1
    with pytest.raises(ValueError, match="no consolidated metadata"):
        xr.open_dataset(path, engine="zarr_core", consolidated=True)


def test_arrays_without_dimension_names_raise_or_are_dropped(tmp_path):
    group = zarr_core.create_group(tmp_path / "a.zarr")
    group.create_array("a", shape=(2, 3), dtype="int8")
    group.create_array("b", shape=(2,), dtype="int8", dimension_names=["x"])
    with pytest.raises(KeyError, match="dimension_names"):
        xr.open_dataset(tmp_path / "a.zarr", engine="zarr_core")
    ds = xr.open_dataset(tmp_path / "a.zarr", engine="zarr_core", drop_variables="a")
    assert list(ds) == ["b"]


def test_guess_can_open(tmp_path, field):
    guess = ZarrCoreBackend().guess_can_open
    assert guess("s3://bucket/field.zarr")
    assert guess("field.zarr/")
    assert guess(zarr_core.MemoryStore())
    assert not guess("field.nc")
    assert not guess(tmp_path)
    assert not guess(b"CDF\x01")
    xr.Dataset().zarr_core.to_zarr(tmp_path / "plain")
    assert guess(tmp_path / "plain")


@pytest.mark.parametrize("place", ["attributes", "document"])
def test_dimensions_of_nczarr(place):
    store = zarr_core.MemoryStore()
    zarr_core.create_group(store, zarr_format=2, attributes={"_nczarr_group": {}, "title": "x"})
    array = zarr_core.create_array(store, path="a", shape=(2, 3), dtype="i2", zarr_format=2)
    array[...] = [[1, 2, 3], [4, 5, 6]]
    if place == "attributes":
        array.attrs["_nczarr_array"] = {"dimension_references": ["/g/y", "/x"]}
    else:
        document = bytes(store.get("a/.zarray")).replace(
            b"{", b'{"_NCZARR_ARRAY": {"dimrefs": ["/g/y", "/x"]},', 1
        )
        store.set("a/.zarray", document)
    ds = xr.open_dataset(store, engine="zarr_core", mask_and_scale=False)
    assert ds["a"].dims == ("y", "x")
    assert not ds["a"].attrs  # netCDF-C's own fill value has no attribute
    assert ds.attrs == {"title": "x"}


@pytest.mark.parametrize(
    "members", [{"dimrefs": []}, {"dimension_references": [], "storage": "scalar"}]
)
@pytest.mark.parametrize(("dtype", "shape"), [("f8", (1,)), ("u2", (1,)), ("i4", ())])
def test_scalars_of_nczarr_have_no_dimension(members, dtype, shape):
    array = zarr_core.create_array(
        {}, path="a", shape=shape, dtype=dtype, zarr_format=2, fill_value=7
    )
    array[...] = 7
    array.attrs["_nczarr_array"] = members
    ds = xr.open_dataset(array.store, engine="zarr_core")
    assert (ds["a"].dims, ds["a"].dtype, ds["a"].item()) == ((), dtype, 7)


def test_fill_values_mask_in_version_2_and_on_request():
    for zarr_format, given, missing in ((2, None, True), (3, None, False), (3, True, True)):
        store = zarr_core.MemoryStore()
        group = zarr_core.create_group(store, zarr_format=zarr_format)
        names = {"dimension_names": ["x"]} if zarr_format == 3 else {}
        array = group.create_array("a", shape=2, dtype="int16", fill_value=-1, **names)
        array.attrs["_ARRAY_DIMENSIONS"] = ["x"]
        array[:] = [-1, 5]
        ds = ZarrCoreBackend().open_dataset(store, use_zarr_fill_value_as_mask=given)
        assert bool(np.isnan(ds["a"].values[0])) is missing


VARIABLES = 4


class Meeting(ObservedStore):
    """A store whose chunks are sent only when one of each variable was requested."""

    def __init__(self, inner):
        super().__init__(inner)
        self.barrier = threading.Barrier(VARIABLES)

    def perform(self, operation, key, work, nbytes):
        if "/c/" in key:
            self.barrier.wait(PATIENCE)
        return work()


async def _loaded(ds):
    return await ds.load_async()


def test_load_async_reads_all_variables_concurrently():
    store = zarr_core.MemoryStore()
    values = np.arange(12.0).reshape(3, 4)
    expected = xr.Dataset({f"v{n}": (("y", "x"), values + n) for n in range(VARIABLES)})
    zarr_xarray.to_zarr(expected, store)
    with xr.open_dataset(Meeting(store), engine="zarr_core") as ds:
        xr.testing.assert_identical(asyncio.run(_loaded(ds)), expected)
