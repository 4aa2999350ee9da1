"""Writing datasets with ``to_zarr``."""

import pickle
import threading
from contextlib import nullcontext

import dask
import dask.array
import numpy as np
import pytest
import xarray as xr
import zarr_core
from zarr_core.errors import MetadataValidationError, NodeTypeError
from zarr_xarray import to_zarr
from zarr_xarray.consolidated_metadata import ConsolidatedCopies

ENGINE = {"engine": "zarr_core"}


@pytest.fixture
def store():
    return zarr_core.MemoryStore()


def line(start=0, stop=4, **more):
    values = np.arange(start, stop)
    return xr.Dataset({"a": ("x", values * 1.5)}, coords={"x": values}, **more)


def read(store, **options):
    return xr.open_dataset(store, **ENGINE, **options).load()


def test_modes(store, zarr_format):
    to_zarr(line(), store, zarr_format=zarr_format)
    with pytest.raises(FileExistsError):
        to_zarr(line(), store)
    with pytest.raises(FileExistsError):
        to_zarr(line(), store, "w-")
    with pytest.raises(ValueError, match="non-pre-existing"):
        to_zarr(xr.Dataset({"b": 1}), store, "r+")
    to_zarr(line() + 1, store, "r+")
    to_zarr(xr.Dataset({"b": 1}, attrs={"t": 1}), store, "a")
    xr.testing.assert_equal(read(store), (line() + 1).assign(b=1))
    assert read(store, consolidated=False).attrs == {"t": 1}
    to_zarr(xr.Dataset({"c": 2}), store, "w", zarr_format=zarr_format)
    xr.testing.assert_identical(read(store), xr.Dataset({"c": 2}))
    with pytest.raises(FileNotFoundError):
        to_zarr(line(), zarr_core.MemoryStore(), "r+")
    with pytest.raises(ValueError, match="mode"):
        to_zarr(line(), store, "x")


def test_existing_format_and_other_groups_are_kept(store, zarr_format):
    to_zarr(line(), store, zarr_format=zarr_format)
    to_zarr(line(4, 8), store, group="b/c")
    to_zarr(line(8, 9), store, "w", group="b/d")
    assert zarr_core.open_group(store)["b/c/a"].zarr_format == zarr_format
    for consolidated in (True, False):
        for group, expected in ((None, line()), ("b/c", line(4, 8)), ("b/d", line(8, 9))):
            found = read(store, group=group, consolidated=consolidated)
            xr.testing.assert_identical(found, expected)
    assert not zarr_core.check_consolidated(zarr_core.open_group(store))


def test_a_group_without_a_root_has_no_consolidated_metadata(store, zarr_format):
    zarr_core.create_group(store, path="b", zarr_format=zarr_format)
    store.erase(".zgroup" if zarr_format == 2 else "zarr.json")  # of the root
    to_zarr(line(), store, "a", group="b")
    to_zarr(line(4, 9), store, group="b", append_dim="x")
    xr.testing.assert_identical(read(store, group="b"), line(0, 9))
    assert not {"zarr.json", ".zmetadata"} & set(store.list())


@pytest.mark.parametrize("name", ["n5", "draft"])
def test_a_group_of_another_format_contains_no_other_arrays(store, name):
    group = zarr_core.create_group(store, zarr_format=name)
    for destination in (store, group):
        with pytest.raises(MetadataValidationError):  # of a NaN and dimension names
            to_zarr(line(), destination, "a", consolidated=False)
        assert not zarr_core.open(store).members()
    assert not [key for key in store.list() if key.startswith(("a/", "x/"))]


def test_append_updates_consolidated_metadata(store, zarr_format):
    to_zarr(line(), store, zarr_format=zarr_format)
    to_zarr(line(4, 9), store, append_dim="x", consolidated=False)
    assert not zarr_core.check_consolidated(zarr_core.open_group(store))
    xr.testing.assert_identical(read(store), line(0, 9))


def test_append_replaces_a_group_in_stale_consolidated_metadata(store):
    to_zarr(line()[["x"]], store)
    group = zarr_core.open_group(store, use_consolidated=False)
    group.create_group("a")
    zarr_core.consolidate_metadata(store)
    del group["a"]
    group.create_array("a", data=line()["a"].values, dimension_names=["x"])
    to_zarr(line(4, 9), store, append_dim="x")
    xr.testing.assert_identical(read(store), line(0, 9))


def test_append_ignores_stale_consolidated_metadata(store, zarr_format):
    to_zarr(line(), store, zarr_format=zarr_format)
    for name in ("a", "x"):  # appended without updating the consolidated metadata
        zarr_core.open_array(store, path=name).append(np.arange(2))
    zarr_core.open_array(store, path="a").attrs["units"] = "K"
    to_zarr(line(), store, append_dim="x")
    found = read(store)
    assert found["x"].values.tolist() == [0, 1, 2, 3, 0, 1, 0, 1, 2, 3]
    assert found["a"].attrs == {"units": "K"}
    assert not zarr_core.check_consolidated(zarr_core.open_group(store))


@pytest.mark.parametrize("consolidated", [True, False])
@pytest.mark.parametrize("mode", ["a", "a-"])
def test_append_of_some_variables_is_rejected(store, zarr_format, consolidated, mode):
    # Their lengths would differ, and xarray opens no such group.
    whole = line().assign(b=("x", np.arange(4)), fixed=("y", np.arange(3)))
    to_zarr(whole, store, zarr_format=zarr_format, consolidated=consolidated)
    more = line(4, 9)
    with pytest.raises(ValueError, match="the dataset does not contain 'b'; append to all"):
        to_zarr(more, store, mode, append_dim="x")
    with pytest.raises(ValueError, match="contain 'b', 'x' and the store does not contain 'c'"):
        to_zarr(more.drop_vars("x").assign(c=("x", np.arange(5))), store, mode, append_dim="x")
    more = more.assign(b=more.a.astype(int))
    with pytest.raises(ValueError, match="the store does not contain 'c'; append to all"):
        to_zarr(more.assign(c=more.a), store, mode, append_dim="x")
    xr.testing.assert_identical(read(store), whole)
    to_zarr(more, store, mode, append_dim="x")
    assert read(store).sizes == {"x": 9, "y": 3}


def test_append_to_empty_arrays_may_add_variables(store, zarr_format):
    to_zarr(line(0, 0), store, zarr_format=zarr_format)
    to_zarr(line().assign(c=line().a), store, append_dim="x")
    assert read(store).sizes == {"x": 4}
    to_zarr(line(0, 0), store, append_dim="x")  # appends nothing
    assert read(store).sizes == {"x": 4}


def test_append_ignores_variables_that_were_removed(store, zarr_format):
    to_zarr(line().assign(b=line().a), store, zarr_format=zarr_format)
    zarr_core.remove(store, path="b")  # and stays in the consolidated metadata
    to_zarr(line(4, 9), store, append_dim="x")
    assert read(store, consolidated=False).sizes == {"x": 9}


@pytest.mark.parametrize("requests", [None, 4])
def test_failed_append_restores_shapes(zarr_format, requests):
    store = zarr_core.MemoryStore()
    store.max_concurrency = requests
    to_zarr(line(), store, zarr_format=zarr_format)
    # Replace the last array without updating the consolidated metadata.
    old = zarr_core.open_array(store, path="x")
    attributes = old.attrs.asdict()
    names = {"dimension_names": ["x"]} if zarr_format == 3 else {}
    new = zarr_core.create_array(
        store, path="x", data=old[:], chunks=3, attributes=attributes, overwrite=True,
        zarr_format=zarr_format, **names,
    )  # fmt: skip
    to_zarr(line(4, 9), store, append_dim="x")
    new.refresh()
    assert new.chunks == (3,)
    for consolidated in (True, False):
        found = read(store, consolidated=consolidated, mask_and_scale=False)
        xr.testing.assert_equal(found, line(0, 9))


def test_interrupted_append_is_detected(store):
    to_zarr(line(), store)
    zarr_core.open_array(store, path="a").resize(6)
    with pytest.raises(zarr_core.errors.ZarrError, match=r"differ in length \('a': 6, 'x': 4\)"):
        to_zarr(line(), store, append_dim="x")
    assert zarr_core.open_array(store, path="x").shape == (4,)


@pytest.mark.parametrize("removed", [False, True])
def test_an_append_that_another_overtakes_changes_nothing(zarr_format, removed):
    class Overtaken(zarr_core.MemoryStore):
        overtake = None

        def update(self, key, change):
            if self.overtake is not None:
                overtake, self.overtake = self.overtake, None
                overtake()
            super().update(key, change)

    store = Overtaken()
    to_zarr(line(0, 2), store, zarr_format=zarr_format)
    store.overtake = lambda: (
        zarr_core.remove(store, path="a") if removed else to_zarr(line(2, 6), store, append_dim="x")
    )
    with pytest.raises(zarr_core.errors.ZarrError, match="another process has changed or removed"):
        to_zarr(line(2, 4), store, append_dim="x")
    expected = line(0, 2).drop_vars("a") if removed else line(0, 6)
    xr.testing.assert_identical(read(store, consolidated=False), expected)


def test_consolidated_metadata_of_two_appends_that_finish_in_reverse_order(
    tmp_path, zarr_format, monkeypatch
):
    path = tmp_path / "a.zarr"
    to_zarr(line(0, 2), path, zarr_format=zarr_format)
    write = ConsolidatedCopies.write
    first_resized, second_finished = threading.Event(), threading.Event()

    def write_late(copies):
        if threading.current_thread() is first:
            first_resized.set()
            assert second_finished.wait(60)
        write(copies)

    monkeypatch.setattr(ConsolidatedCopies, "write", write_late)
    first = threading.Thread(target=to_zarr, args=(line(2, 4), path), kwargs={"append_dim": "x"})
    first.start()
    try:
        assert first_resized.wait(60)
        to_zarr(line(4, 6), path, append_dim="x")
    finally:
        second_finished.set()
        first.join()
    xr.testing.assert_identical(read(path), line(0, 6))
    assert not zarr_core.check_consolidated(zarr_core.open_group(path))


def test_regions(store, zarr_format):
    whole = line(0, 10)
    to_zarr(xr.zeros_like(whole).assign_coords(x=whole.x), store, zarr_format=zarr_format)
    part = whole.isel(x=slice(3, 6))
    to_zarr(part, store, region="auto")
    to_zarr(whole.isel(x=slice(6, 8)).drop_vars("x"), store, region={"x": slice(6, 8)})
    expected = np.where((whole.x >= 3) & (whole.x < 8), whole.a, 0)
    assert read(store)["a"].values.tolist() == expected.tolist()
    with pytest.raises(KeyError, match="x"):
        to_zarr(part.assign_coords(x=[20, 21, 22]), store, region="auto")
    with pytest.raises(ValueError, match="sizes"):
        to_zarr(part.drop_vars("x"), store, region={"x": slice(0, 2)})


def test_overlapping_dask_chunks_raise(store):
    ds = xr.Dataset({"a": ("x", dask.array.arange(24, chunks=4))})
    shards = {"a": {"chunks": (2,), "shards": (8,)}}
    with pytest.raises(ValueError, match="overlap"):
        to_zarr(ds, store, encoding=shards)
    assert not [*store.list()]  # nothing was stored
    to_zarr(ds, store, encoding=shards, align_chunks=True)
    xr.testing.assert_equal(read(store), ds.compute())
    with pytest.raises(ValueError, match="overlap"):
        to_zarr(ds.isel(x=slice(4, 16)), store, region={"x": slice(4, 16)})
    to_zarr(ds.chunk(x=8), store, region={"x": slice(None)})
    to_zarr(ds, store, "w", encoding=shards, safe_chunks=False)


def test_compute_false(tmp_path, zarr_format):
    ds = xr.Dataset({"a": ("x", dask.array.ones(6, chunks=2)), "b": ("x", np.arange(6))})
    later = to_zarr(ds, tmp_path / "a.zarr", compute=False, zarr_format=zarr_format)
    array = zarr_core.open_array(tmp_path / "a.zarr", path="a")
    assert array.nchunks_initialized == 0
    assert read(tmp_path / "a.zarr")["b"].values.tolist() == [*range(6)]
    scheduler = "processes" if zarr_format == 3 else "synchronous"  # one start of processes
    dask.compute(pickle.loads(pickle.dumps(later)), scheduler=scheduler)
    xr.testing.assert_equal(read(tmp_path / "a.zarr"), ds.compute())


def test_encodings(store, zarr_format):
    ds = xr.Dataset(
        {
            "packed": ("x", [1.5, np.nan, 3.0]),
            "when": ("x", np.array(["2020-01-01", "NaT", "2021-01-01"], "M8[ns]")),
            "how long": ("x", np.array([1, 2, 3], "m8[s]")),
            "text": ("x", ["a", "", "bcd"]),
            "objects": ("x", np.array(["a", "", "bcd"], object)),
            "bytes": ("x", np.array([b"a", b"", b"bcd"])),
            "yes": ("x", [True, False, True]),
            "complex": ("x", [1j, 2, 3]),
        }
    )
    encoding = {
        "packed": {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -1, "compressors": None},
        "when": {"units": "days since 2000-01-01", "compressors": "gzip"},
        "text": {"chunks": (2,), "compressor": {"id": "zstd", "level": 3}},
    }
    to_zarr(ds, store, encoding=encoding, zarr_format=zarr_format)
    found = read(store)
    for name in ds:
        text = {"dtype": "U3"} if name in ("text", "objects") else {"dtype": ds[name].dtype}
        xr.testing.assert_equal(found[name].astype(**text), ds[name].astype(**text))
    raw = zarr_core.open_group(store)
    assert raw["packed"].dtype == "int16"
    assert raw["packed"].compressors == ()
    assert raw["when"].codecs[-1].name == "gzip"
    assert raw["text"].chunks == (2,)
    assert raw["packed"].fill_value == (-1 if zarr_format == 2 else 0)
    # Data can be written again unchanged, and in the other version.
    for other in (2, 3):
        again = zarr_core.MemoryStore()
        to_zarr(found, again, zarr_format=other)
        xr.testing.assert_identical(read(again), found)
        assert zarr_core.open_group(again)["when"].codecs[-1].name == "gzip"


def test_version_2_fill_value_only_for_missing_elements(store):
    ds = xr.Dataset({"a": ("x", [0, 1]), "b": ("x", [0.0, np.nan])})
    to_zarr(ds, store, zarr_format=2)
    xr.testing.assert_identical(read(store), ds)
    assert zarr_core.open_array(store, path="a").fill_value is None
    assert np.isnan(zarr_core.open_array(store, path="b").fill_value)


def test_shards_are_ignored_in_version_2_unless_explicit(store):
    ds = line(0, 8)
    ds["a"].encoding = {"chunks": (2,), "shards": (4,)}
    with pytest.warns(UserWarning, match="shards"):
        to_zarr(ds, store, zarr_format=2)
    xr.testing.assert_identical(read(store), ds)


def test_missing_value_nan_is_not_stored(store, zarr_format):
    ds = xr.Dataset({"a": ("x", [1.0, np.nan], {"missing_value": np.nan})})
    to_zarr(ds, store, zarr_format=zarr_format)
    assert np.isnan(read(store)["a"].values[1])


def test_attributes_that_are_not_json_raise_before_writing(store):
    for ds in (line(attrs={"bad": object()}), line().assign(b=((), 1, {"bad": object()}))):
        with pytest.raises(TypeError, match="bad"):
            to_zarr(ds, store)
        assert not [*store.list()]


@pytest.mark.parametrize("group", [None, "b/c"])
def test_failed_overwrite_keeps_existing_data(store, zarr_format, group):
    to_zarr(line(), store, zarr_format=zarr_format, group=group)
    bad = line().assign(a=("x", np.arange(4), {"bad": object()}))
    keys = sorted(store.list())
    for mode in ("w", "w-", "a"):
        with pytest.raises(TypeError, match="bad"):
            to_zarr(bad, store, mode, group="b/d" if mode != "w" else group)
        assert sorted(store.list()) == keys
    xr.testing.assert_identical(read(store, group=group), line())


@pytest.mark.parametrize("group", [None, "b/c"])
def test_dataset_can_overwrite_its_source(store, zarr_format, group):
    to_zarr(line().assign(b=1), store, zarr_format=zarr_format, group=group)
    lazy = xr.open_dataset(store, group=group, **ENGINE).drop_vars("b")
    assert not lazy["a"].variable._in_memory
    to_zarr(lazy, store, "w", group=group)
    for consolidated in (True, False):
        found = read(store, group=group, consolidated=consolidated)
        xr.testing.assert_identical(found, line())  # without the removed variables
    assert not zarr_core.check_consolidated(zarr_core.open_group(store))
    later = xr.open_dataset(store, group=group, chunks={}, **ENGINE) + 1
    with pytest.raises(ValueError, match=r"'a' is computed from .*mode='w'"):
        to_zarr(later, store, "w", group=group)
    xr.testing.assert_identical(read(store, group=group), line())
    to_zarr(later, store, "w", group="elsewhere")
    xr.testing.assert_equal(read(store, group="elsewhere")["a"], line()["a"] + 1)


@pytest.mark.parametrize("how", ["inlined", "optimised", "zarr-python", "zarr-dask"])
def test_dask_data_cannot_overwrite_its_source(tmp_path, how):
    place = tmp_path / "a.zarr"
    to_zarr(line(), place)
    if how == "inlined":
        later = xr.open_dataset(place, chunks={}, inline_array=True, **ENGINE)
    elif how == "optimised":
        (later,) = dask.optimize(xr.open_dataset(place, chunks={}, **ENGINE) + 1)
    elif how == "zarr-python":
        pytest.importorskip("zarr")
        later = xr.open_zarr(place)
    else:
        zarr_dask = pytest.importorskip("zarr_dask")
        later = xr.Dataset({"a": ("x", zarr_dask.from_zarr(place, "a") + 1)})
    with pytest.raises(ValueError, match=r"'a' is computed from .*mode='w'"):
        to_zarr(later, place, "w")
    xr.testing.assert_identical(read(place), line())


def test_dask_data_of_a_group_whose_name_begins_alike_can_be_written(store):
    to_zarr(line(), store, group="bc")
    to_zarr(xr.open_dataset(store, group="bc", chunks={}, **ENGINE), store, "w", group="b")
    xr.testing.assert_identical(read(store, group="b"), line())


def test_data_arrays_with_and_without_a_name(store, zarr_format):
    for array, name in (
        (xr.DataArray([1, 2], dims="x", name="a"), "a"),
        (xr.DataArray([1, 2], dims="x"), "__xarray_dataarray_variable__"),
        (xr.DataArray([1, 2], dims="x", coords={"x": [3, 4]}, name="x"), None),
    ):
        reserved = zarr_format == 3 and name != "a"
        with pytest.warns(UserWarning, match="reserves") if reserved else nullcontext():
            array.zarr_core.to_zarr(store, mode="w", zarr_format=zarr_format)
        assert name is None or list(zarr_core.open(store)) == [name]
        found = xr.open_dataarray(store, **ENGINE)
        xr.testing.assert_identical(found.load(), array)


def test_names_with_slash_raise(store, zarr_format):
    with pytest.raises(ValueError, match="'a/b'.*group"):
        to_zarr(line().assign({"a/b": 1}), store, zarr_format=zarr_format)
    assert not [*store.list()]


def test_reserved_names_are_stored_with_a_warning(store):
    ds = xr.Dataset({"__a": ("x", [1.0, 2.0])})
    with pytest.warns(UserWarning, match="'/__a'.*reserves"):
        to_zarr(ds, store)
    to_zarr(ds, store, append_dim="x")  # creates no array
    with pytest.warns(UserWarning, match="'/__g'.*reserves"):
        to_zarr(ds.rename(__a="b"), store, "a", group="__g")
    xr.testing.assert_identical(read(store), xr.concat([ds, ds], "x"))
    xr.testing.assert_identical(read(store, group="__g"), ds.rename(__a="b"))


def test_empty_chunks(tmp_path, zarr_format):
    ds = xr.Dataset({"a": ("x", np.zeros(4), {"_FillValue": 0.0})})
    for keep, count in ((None, 0), (False, 0), (True, 2)):
        encoding = {
            "a": {"chunks": (2,), "fill_value": 0.0} if zarr_format == 3 else {"chunks": (2,)}
        }
        to_zarr(
            ds, tmp_path, "w", encoding=encoding, write_empty_chunks=keep, zarr_format=zarr_format
        )
        assert zarr_core.open_array(tmp_path, path="a").nchunks_initialized == count
    with pytest.raises(ValueError, match="write_empty_chunks"):
        to_zarr(
            ds, tmp_path, "w", encoding={"a": {"write_empty_chunks": False}},
            write_empty_chunks=True,
        )  # fmt: skip


def test_trees(store, zarr_format):
    tree = xr.DataTree.from_dict({"/": line(), "/b": line() + 1, "/b/c": xr.Dataset({"d": 1})})
    encoding = {"/b": {"a": {"chunks": (2,)}}}
    to_zarr(tree, store, encoding=encoding, zarr_format=zarr_format)
    xr.testing.assert_identical(xr.open_datatree(store, **ENGINE), tree)
    group = zarr_core.open_group(store)
    assert group["b/a"].chunks == (2,)
    assert "b/x" not in group  # inherited
    assert not zarr_core.check_consolidated(group)
    with pytest.raises(ValueError, match="group"):
        to_zarr(tree, store, "w", encoding={"/z": {}})
    with pytest.raises(ValueError, match="append_dim"):
        to_zarr(tree, store, append_dim="x")


@pytest.mark.parametrize("root", [xr.Dataset(), line()], ids=["empty", "full"])
def test_tree_can_overwrite_its_source(store, zarr_format, root):
    tree = xr.DataTree.from_dict({"/": root, "/b/c": line() + 1})
    to_zarr(tree, store, zarr_format=zarr_format)
    to_zarr(xr.open_datatree(store, **ENGINE), store, "w", zarr_format=zarr_format)
    xr.testing.assert_identical(xr.open_datatree(store, **ENGINE).load(), tree)
    with pytest.raises(ValueError, match=r"is computed from .*mode='w'"):
        to_zarr(xr.open_datatree(store, chunks={}, **ENGINE), store, "w")
    xr.testing.assert_identical(xr.open_datatree(store, **ENGINE).load(), tree)


def test_tree_with_an_invalid_node_writes_nothing(store, zarr_format):
    tree = xr.DataTree.from_dict({"/": line(), "/b/c": line() + 1})
    refused = xr.Dataset({"d": ("y", [1], {"bad": object()})})
    bad = xr.DataTree.from_dict({"/": line() * 2, "/b/c": refused})
    with pytest.raises(TypeError, match="bad"):
        to_zarr(bad, store, zarr_format=zarr_format)
    assert not [*store.list()]
    to_zarr(tree, store, zarr_format=zarr_format)
    for mode in ("w", "a"):
        with pytest.raises(TypeError, match="bad"):
            to_zarr(bad, store, mode)
        xr.testing.assert_identical(xr.open_datatree(store, **ENGINE).load(), tree)


def test_one_of_several_processes_creates_a_store(tmp_path):
    results = []

    def work(number):
        try:
            to_zarr(line() + number, tmp_path / "a.zarr")
            results.append(number)
        except FileExistsError:
            pass

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 1
    xr.testing.assert_equal(read(tmp_path / "a.zarr"), line() + results[0])


@pytest.mark.parametrize("mode", [None, "w-", "a", "r+"])
def test_writing_to_an_array_suggests_the_mode(store, mode):
    array = zarr_core.create_array(store, data=[1, 2])
    with pytest.raises((FileExistsError, NodeTypeError), match='use mode="w" to re') as caught:
        to_zarr(line(0, 3), store, **({} if mode is None else {"mode": mode}))
    assert "overwrite" not in str(caught.value)
    assert array[:].tolist() == [1, 2]
    to_zarr(line(0, 3), store, mode="w")
    assert "a" in zarr_core.open_group(store)
