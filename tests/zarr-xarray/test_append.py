"""Live append: all variables grow together; labels, encodings and other data are checked."""

import os
import warnings
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import zarr_core
from hypothesis import given
from hypothesis import strategies as st
from zarr_core import MemoryStore
from zarr_stores.cache.chunk_cache import ChunkCacheStore
from zarr_stores.cache.lru_cache import CachePool
from zarr_xarray import Appender, append, to_zarr


def steps(start, stop):
    numbers = np.arange(start, stop)
    times = np.datetime64("2000-01-01T00:35", "ns") + numbers * np.timedelta64(6, "h")
    return xr.Dataset(
        {
            "a": (("t", "x"), np.stack([numbers, -numbers, numbers / 3], 1), {"units": "K"}),
            "n": ("t", numbers),
            "s": ("t", np.array([f"text {number}" for number in numbers], object)),
            "mask": ("x", [True, False, True]),
        },
        coords={"t": times, "x": [1, 2, 3]},
        attrs={"title": "growing"},
    )


def opened(store, **options):
    with xr.open_dataset(store, engine="zarr_core", **options) as ds:
        return ds.load()


def assert_contains(store, expected):
    found = opened(store)
    found["s"] = found["s"].astype(object)
    xr.testing.assert_identical(found, expected)


def test_all_variables_grow_and_others_read_them(tmp_path, zarr_format):
    path = str(tmp_path / "a.zarr")
    assert append(steps(0, 1), path, "t", zarr_format=zarr_format) == 1
    assert append(steps(1, 4), path, "t") == 4
    with Appender(path, "t", flush_every=7, flush_seconds=1e9) as appender:
        for number in range(4, 30):
            appender.append(steps(number, number + 1).drop_vars(["mask", "x"]))
        assert (appender.length, appender.buffered) == (25, 5)
    assert_contains(path, steps(0, 30))
    assert not zarr_core.check_consolidated(zarr_core.open_group(path))
    assert not (tmp_path / "a.zarr" / ".zarr-append").exists()
    for consolidated in (True, False):
        with xr.open_zarr(path, consolidated=consolidated) as other:
            assert (other["t"].values == steps(0, 30)["t"].values).all()
            assert (other["a"].values == steps(0, 30)["a"].values).all()


def test_chunks_are_few(tmp_path, zarr_format):
    path = str(tmp_path / "a.zarr")
    with Appender(path, "t", flush_every=17, chunk=50, zarr_format=zarr_format) as appender:
        appender.append(steps(0, 1))
        whole = steps(1, 310)
        data = {name: whole[name].values for name in ("t", "a", "n", "s")}
        for number in range(309):
            appender.append({name: values[number] for name, values in data.items()})
    assert_contains(path, steps(0, 310))
    chunks = {
        name: sum(
            len(files)
            for place, _, files in os.walk(os.path.join(path, name))
            if zarr_format == 2 or place != os.path.join(path, name)
        )
        for name in ("t", "a", "n", "s")
    }
    metadata = 2 if zarr_format == 2 else 0
    assert chunks == {"t": 1 + metadata, "a": 7 + metadata, "n": 7 + metadata, "s": 7 + metadata}
    assert zarr_core.open_array(path, path="t").chunks == (100_000,)


def test_arrays_with_shards_and_another_axis():
    store = MemoryStore()
    whole = xr.Dataset(
        {"a": (("x", "t"), np.arange(60.0).reshape(3, 20)), "b": ("t", np.arange(20))}
    )
    encoding = {"a": {"chunks": (3, 2), "shards": (3, 6)}}
    with Appender(store, "t", flush_every=4, encoding=encoding) as appender:
        for number in range(20):
            appender.append(whole.isel(t=[number]) if number % 3 == 0 else whole.isel(t=number))
    xr.testing.assert_identical(opened(store), whole)
    assert zarr_core.open_array(store, path="a").shards == (3, 6)


def test_groups_below_the_root(tmp_path, zarr_format):
    path = str(tmp_path / "tree.zarr")
    to_zarr(xr.Dataset({"other": 1}), path, zarr_format=zarr_format)
    for start in (0, 3):
        append(steps(start, start + 3), path, "t", group="one/two")
        zarr_core.consolidate_metadata(path)
    append(steps(6, 9), path, "t", group="one/two")
    for place, group in ((path, "one/two"), (f"{path}/one/two", None)):
        assert opened(place, group=group).sizes["t"] == 9
        assert (opened(place, group=group)["n"].values == np.arange(9)).all()


def test_text_of_any_length_and_data_arrays():
    store = MemoryStore()
    for start, text in ((0, "a"), (1, "longer"), (2, "b")):
        append(xr.DataArray([text], {"t": [start]}, ("t",), name="s"), store, "t")
    assert opened(store)["s"].values.tolist() == ["a", "longer", "b"]


# --- reported problems of appending ---


def test_times_below_the_first_unit(zarr_format):
    """xarray#5969, #3379: units chosen for the first time cannot represent later ones."""
    store = MemoryStore()
    times = pd.date_range("2000-01-01 00:35", periods=8, freq="6h")
    data = xr.DataArray(coords=[times], dims=["time"]).to_dataset(name="foo")
    append(data.isel(time=[0]), store, "time", zarr_format=zarr_format)
    append(data.isel(time=slice(1, None)), store, "time")
    assert (opened(store)["time"].values == times.values).all()


@pytest.mark.parametrize("resolution", ["s", "ms", "us", "ns"])
def test_one_time_at_midnight_then_hours(resolution):
    """xarray#5106."""
    store = MemoryStore()
    for hour in (0, 6):
        time = np.array([datetime(2021, 2, 21, hour)], f"M8[{resolution}]")
        append(
            xr.Dataset({"v": (("reftime", "x"), [["A"]])}, {"reftime": time, "x": [0]}),
            store, "reftime",
        )  # fmt: skip
    found = opened(store)["reftime"].values
    assert (found == np.array(["2021-02-21T00", "2021-02-21T06"], "M8[ns]")).all()


def test_times_that_the_stored_units_cannot_represent(zarr_format):
    """xarray#5969, #3379: data that others created is refused instead of being changed."""
    store = MemoryStore()
    days = xr.Dataset({"v": ("time", [1])}, {"time": np.array(["2000-01-01"], "M8[ns]")})
    to_zarr(days, store, zarr_format=zarr_format)
    later = days.assign_coords(time=np.array(["2000-01-01T06:00"], "M8[ns]"))
    before = {key: bytes(store.get(key)) for key in store.list()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(ValueError, match=r"'time'.*06:00.*days since"):
            append(later, store, "time")
    assert {key: bytes(store.get(key)) for key in store.list()} == before
    assert append(days.assign_coords(time=np.array(["2000-01-09"], "M8[ns]")), store, "time") == 2
    assert opened(store)["time"].values[1] == np.datetime64("2000-01-09")


def test_the_same_labels_twice():
    """xarray#4958."""
    store = MemoryStore()
    append(steps(0, 3), store, "t")
    with pytest.raises(ValueError, match=r"2000-01-01T00:35:00.* of 't' already exists"):
        append(steps(0, 3), store, "t")
    with Appender(store, "t", flush_seconds=1e9) as appender:
        appender.append(steps(3, 4))
        with pytest.raises(ValueError, match="already exists"):
            appender.append(steps(3, 4))  # in the buffer
    assert_contains(store, steps(0, 4))


def test_an_empty_dataset_first(zarr_format):
    """xarray#8383: the first dataset has a coordinate without elements."""
    store = MemoryStore()
    empty = xr.Dataset(coords={"t": np.array([], np.int64)})
    append(empty, store, "t", zarr_format=zarr_format)
    assert opened(store).sizes["t"] == 0
    full = xr.Dataset({"foo": ("t", [7])}, coords={"t": [0]})
    append(full, store, "t")
    xr.testing.assert_identical(opened(store), full)
    other = MemoryStore()
    to_zarr(empty, other, zarr_format=zarr_format)
    append(full, other, "t")
    xr.testing.assert_identical(opened(other), full)


def test_fill_values_of_packed_data(zarr_format):
    """xarray#6329: elements with an attribute ``_FillValue`` for packed data."""
    store = MemoryStore()
    air = xr.Dataset({"air": ("time", [250.5, np.nan])}, {"time": [0, 1]})
    air["air"].encoding = {"dtype": "int16", "scale_factor": 0.01, "_FillValue": -9999}
    append(air, store, "time", zarr_format=zarr_format)
    later = xr.Dataset(
        {"air": ("time", [251.25, np.nan], {"_FillValue": np.nan})}, {"time": [2, 3]}
    )
    append(later, store, "time")
    np.testing.assert_allclose(opened(store)["air"], [250.5, np.nan, 251.25, np.nan], atol=0.005)
    for wrong in (4000.0, -99.99, np.inf):  # too large, the fill value, too large
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            with pytest.raises(ValueError, match="'air'"):
                append(xr.Dataset({"air": ("time", [wrong])}, {"time": [4]}), store, "time")
    assert opened(store).sizes["time"] == 4


def test_incomplete_data_and_changed_coordinates():
    """xarray#10766, #11101: a variable is missing; a variable without the dimension differs."""
    store = MemoryStore()
    append(steps(0, 2), store, "t")
    for wrong, message in (
        (steps(2, 3).drop_vars("n"), "'n' is missing"),
        (steps(2, 3).assign(more=("t", [1])), "'more' is new"),
        (steps(2, 3).assign_coords(x=[3, 2, 1]), "'x' differs"),
        (steps(2, 3).assign(mask=("x", [True, True, True])), "'mask' differs"),
        (steps(2, 3).isel(x=[0, 1]), "'a' has the shape"),
        (steps(2, 3).rename(x="y"), "dimensions"),
        ({"t": 5, "a": np.zeros(3), "n": 1}, "'s' is missing"),
        ({"t": 5, "a": [[1.0], [2.0, 3.0]], "n": 1, "s": "b"}, "'a' is not an array"),
    ):
        with pytest.raises(ValueError, match=message):
            append(wrong, store, "t")
    assert append(steps(2, 3).transpose(), store, "t") == 3
    assert_contains(store, steps(0, 3))


def test_elements_that_the_stored_data_type_cannot_represent():
    store = MemoryStore()
    append(xr.Dataset({"n": ("t", [1]), "f": ("t", np.ones(1, "f4"))}), store, "t")
    for name, wrong in (("n", [0.5]), ("n", [np.nan]), ("f", [1e300]), ("f", ["text"])):
        data = xr.Dataset({"n": ("t", [2]), "f": ("t", [0.1])})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match=f"cannot write these elements of '{name}'"):
                append(data.assign({name: ("t", wrong)}), store, "t")
    with pytest.warns(xr.SerializationWarning, match="floating point"):
        append(xr.Dataset({"n": ("t", [2.0]), "f": ("t", [0.1])}), store, "t")  # to float32
    assert opened(store)["f"].values.tolist() == [1, np.float32(0.1)]


# --- labels ---


def test_policies_for_labels():
    store = MemoryStore()
    append(steps(0, 4), store, "t")
    assert append(steps(2, 6), store, "t", on_duplicate="skip") == 6
    changed = steps(4, 8)
    changed["n"] = changed["n"] * 100
    assert append(changed, store, "t", on_duplicate="skip") == 8
    assert opened(store)["n"].values.tolist() == [0, 1, 2, 3, 4, 5, 600, 700]
    with pytest.raises(ValueError, match="not increasing after 2000-01-02"):
        append(steps(-2, 0), store, "t")
    assert append(steps(-2, 0), store, "t", on_unordered="append") == 10
    with pytest.raises(ValueError, match="already exists"):
        append(steps(7, 8), store, "t", on_unordered="append")
    with pytest.raises(ValueError, match="missing label"):
        append(steps(20, 21).assign_coords(t=np.array(["NaT"], "M8[ns]")), store, "t")
    with pytest.raises(ValueError, match="cannot be compared"):
        append(steps(20, 21).assign_coords(t=["later"]), store, "t")


@given(
    given=st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=4), max_size=6),
    on_duplicate=st.sampled_from(["raise", "skip"]),
    on_unordered=st.sampled_from(["raise", "append"]),
    flush_every=st.integers(1, 5),
)
def test_labels_follow_a_model(given, on_duplicate, on_unordered, flush_every):
    store = MemoryStore()
    model = {}
    appender = Appender(
        store, "t", on_duplicate=on_duplicate, on_unordered=on_unordered, flush_every=flush_every,
        chunk=3, coordinate_chunk=4,
    )  # fmt: skip
    for number, labels in enumerate(given):
        values = [100 * number + position for position in range(len(labels))]
        changed = dict(model)
        refused = False
        for label, value in zip(labels, values, strict=True):
            if label in changed:
                refused = refused or on_duplicate == "raise"
            else:
                late = bool(changed) and label < max(changed)
                refused = refused or (late and on_unordered == "raise")
                changed[label] = value
        try:
            appender.append(xr.Dataset({"v": ("t", values)}, {"t": labels}))
        except ValueError:
            assert refused
        else:
            assert not refused
            model = changed
    appender.close()
    if model:
        found = opened(store)
        assert (
            dict(zip(found["t"].values.tolist(), found["v"].values.tolist(), strict=True)) == model
        )
        assert found["t"].values.tolist() == list(model)


def test_labels_of_another_appender():
    store = MemoryStore()
    append(steps(0, 1), store, "t")
    one, two = (Appender(store, "t", flush_seconds=1e9) for _ in range(2))
    one.append(steps(1, 2))
    two.append(steps(1, 3))
    one.flush()
    with pytest.raises(ValueError, match="already exists"):
        two.flush()
    assert (two.discard(), two.length) == (2, 2)
    two.append(steps(2, 3))
    two.close()
    one.append(steps(3, 4))
    one.close()
    assert_contains(store, steps(0, 4))


# --- the interface ---


def test_steps_that_come_rarely_are_stored_at_once():
    with Appender(MemoryStore(), "t", flush_seconds=1e-9) as appender:
        for number in range(3):
            appender.append(steps(number, number + 1))
            assert (appender.length, appender.buffered) == (number + 1, 0)


def test_buffered_elements_are_copied():
    store = MemoryStore()
    buffer = np.zeros(2)
    with Appender(store, "t", flush_every=10) as appender:
        appender.append(xr.Dataset({"a": (("t", "x"), buffer[np.newaxis])}, {"t": [0]}))
        for number in range(1, 5):
            buffer[:] = number
            appender.append({"t": np.int64(number), "a": buffer})
    assert opened(store)["a"].values.tolist() == [[number] * 2 for number in range(5)]


def test_values_of_mappings_of_other_types():
    store = MemoryStore()
    first = xr.Dataset({"a": ("t", [0.0])}, {"t": np.array(["2000-01-01"], "M8[us]")})
    with Appender(store, "t") as appender:
        appender.append(first)
        appender.append({"t": datetime(2000, 1, 2), "a": 1})
        appender.append({"t": pd.Timestamp("2000-01-03"), "a": np.float32(2)})
        appender.append({"t": np.array(["2000-01-04", "2000-01-05"], "M8[D]"), "a": [3, 4]})
    found = opened(store)
    assert found["a"].values.tolist() == [0, 1, 2, 3, 4]
    assert (found["t"].values == pd.date_range("2000-01-01", periods=5).values).all()


def test_wrong_arguments(tmp_path):
    for options in ({"flush_every": 0}, {"on_duplicate": "ignore"}, {"chunk": -1}):
        with pytest.raises(ValueError, match=next(iter(options))):
            Appender(MemoryStore(), "t", **options)
    path = tmp_path / "a.zarr"
    with pytest.raises(ValueError, match="first append a Dataset"):
        Appender(path, "t").append({"t": 1})
    assert not path.exists()
    append(xr.Dataset({"a": ("t", [1])}), store := MemoryStore(), "t")
    with pytest.raises(ValueError, match="dimension 'z'"):
        append(xr.Dataset({"a": ("t", [1])}), store, "z")
    with pytest.raises(TypeError, match="list"):
        append([1], MemoryStore(), "t")
    appender = Appender(MemoryStore(), "t")
    appender.close()
    appender.close()
    with pytest.raises(ValueError, match="closed"):
        appender.append(steps(0, 1))


def test_arrays_that_other_programs_changed():
    store = MemoryStore()
    append(steps(0, 2), store, "t")
    zarr_core.open_array(store, "r+", path="n").resize((5,))
    with pytest.raises(zarr_core.errors.ZarrError, match=r"length 2.*'n': 5"):
        append(steps(2, 3), store, "t")
    zarr_core.consolidate_metadata(store)
    with pytest.raises(zarr_core.errors.ZarrError, match="differ in length"):
        append(steps(2, 3), store, "t")
    zarr_core.open_array(store, "r+", path="n").resize((2,))
    zarr_core.consolidate_metadata(store)
    assert append(steps(2, 3), store, "t") == 3
    to_zarr(steps(3, 4), store, append_dim="t")
    assert append(steps(4, 5), store, "t") == 5
    assert_contains(store, steps(0, 5))
    zarr_core.create_array(store, path="new", shape=5, dtype="int8", dimension_names=("t",))
    with pytest.raises(zarr_core.errors.ZarrError, match="does not contain 'new'"):
        append(steps(5, 6), store, "t")


def test_irregular_chunks_and_other_formats_are_refused():
    store = MemoryStore()
    zarr_core.create_group(store)
    zarr_core.create_array(
        store, path="a", shape=5, chunks=[[2, 3]], dtype="int8", dimension_names=("t",)
    )
    with pytest.raises(ValueError, match="irregular chunks"):
        append(xr.Dataset({"a": ("t", [1])}), store, "t")
    old = MemoryStore()
    zarr_core.create_group(old, zarr_format="n5")
    with pytest.raises(ValueError, match="version 2 or 3"):
        append(xr.Dataset({"a": ("t", [1])}), old, "t")


@pytest.mark.filterwarnings("ignore:saving variable")
@pytest.mark.parametrize("name", ["a", "t"])
@pytest.mark.parametrize("dtype", [np.float64, np.uint64])
def test_buffers_do_not_change_numbers(name, dtype):
    store = MemoryStore()
    append(xr.Dataset({"a": ("t", [0])}, coords={"t": [0]}), store, "t")
    with Appender(store, "t", flush_every=10) as appender:
        for number in (dtype(1), np.int64(2**53 + 1)):
            appender.append({"a": np.array(1), "t": np.int64(number), name: number})
    assert opened(store)[name].values.tolist() == [0, 1, 2**53 + 1]


@pytest.mark.filterwarnings("ignore:Unable to decode")
def test_buffers_do_not_change_times():
    store = MemoryStore()
    first = np.array(["2000-01-01"], "M8[s]")
    append(xr.Dataset({"a": ("t", first)}, coords={"t": [0]}), store, "t")
    with Appender(store, "t", flush_every=10) as appender:
        appender.append({"t": np.array(1), "a": np.array("2000-01-02", "M8[ns]")})
        appender.append({"t": np.array(2), "a": np.array("3000-01-02", "M8[s]")})
    times = xr.coders.CFDatetimeCoder(time_unit="s")
    with xr.open_dataset(store, engine="zarr_core", decode_times=times) as ds:
        assert ds.a.values.astype(str).tolist() == [
            "2000-01-01T00:00:00", "2000-01-02T00:00:00", "3000-01-02T00:00:00",
        ]  # fmt: skip


@pytest.mark.parametrize("policy", ["raise", "skip"])
def test_large_labels_of_several_data_types_are_compared_exactly(policy):
    """2**60 and its neighbours are the same float."""
    store = MemoryStore()
    labels = np.array([2**60, 2**60 + 1], np.uint64)
    append(xr.Dataset({"a": ("t", [0.0, 1.0])}, coords={"t": labels}), store, "t")
    options = {"flush_every": 10, "on_duplicate": policy, "on_unordered": "append"}
    with Appender(store, "t", **options) as appender:
        for difference in (2, 4, 3):
            appender.append({"t": np.array(2**60 + difference), "a": np.array(0.5)})
    assert (opened(store).t.values - labels[0]).tolist() == [0, 1, 2, 4, 3]


def test_a_label_that_the_caller_changes_later():
    store = MemoryStore()
    append(xr.Dataset({"a": ("t", [0.0])}, coords={"t": [0]}), store, "t")
    with Appender(store, "t", flush_every=10) as appender:
        appender.append({"t": np.array(1), "a": np.array(1.0)})
        label = np.array(5)
        appender.append({"t": label, "a": np.array(1.0)})
        label[...] = 2
        with pytest.raises(ValueError, match="not increasing after 5"):
            appender.append({"t": np.array(3), "a": np.array(1.0)})
    assert opened(store).t.values.tolist() == [0, 1, 5]


@pytest.mark.filterwarnings("ignore:Unable to decode")
@pytest.mark.parametrize("calendar", ["noleap", "360_day"])
def test_times_of_other_calendars(calendar):
    pytest.importorskip("cftime")
    store = MemoryStore()
    for year in ("2000", "2001"):
        times = xr.date_range(year, periods=2, calendar=calendar, use_cftime=True)
        append(xr.Dataset({"a": ("t", [1.0, 2.0])}, coords={"t": times}), store, "t")
    found = xr.open_dataset(store, engine="zarr_core").t
    assert [int(year) for year in found.dt.year] == [2000, 2000, 2001, 2001]


def test_data_that_cannot_be_stored_creates_nothing():
    zoned = pd.date_range("2000", periods=1, tz="Europe/Berlin")
    levels = pd.MultiIndex.from_product([[1], [2]], names=["p", "q"])
    data = xr.Dataset({"a": ("t", [1.0])})
    store = MemoryStore()
    for wrong, message in (
        (data.assign_coords(t=zoned), "without a time zone"),
        (data.assign_coords(xr.Coordinates.from_pandas_multiindex(levels, "t")), "MultiIndex"),
    ):
        with pytest.raises(ValueError, match=message):
            append(wrong, store, "t")
    with pytest.raises(ValueError, match="the encoding names 'zz'"):
        append(data, store, "t", encoding={"zz": {"dtype": "f4"}})
    assert not [key for key in store.list() if not key.endswith(".zarr-append")]


def test_encodings_of_variables_that_exist():
    """As after an appender that was killed while it created the variables."""
    store = MemoryStore()
    encoding = {name: {"dtype": "float32"} for name in "ab"}
    append(xr.Dataset({"a": ("t", np.zeros(0))}), store, "t", encoding={"a": encoding["a"]})
    append(xr.Dataset({"a": ("t", [1.0]), "b": ("t", [2.0])}), store, "t", encoding=encoding)
    found = opened(store)
    assert (found.a.dtype, found.b.dtype) == (np.float32, np.float32)


@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_times_of_a_coarser_resolution(kind):
    stored = np.array([0, 1], f"{kind}[ns]")
    store = MemoryStore()
    append(xr.Dataset({"a": ("t", stored)}, coords={"t": [0, 1]}), store, "t")
    for number, unit in enumerate(("us", "ms", "s", "D"), 2):
        later = np.array([number, "NaT"], f"{kind}[{unit}]")
        append(
            xr.Dataset({"a": ("t", later)}, coords={"t": [number, number + 10]}),
            store,
            "t",
            on_unordered="append",
        )
        stored = np.concatenate([stored, later])
    with xr.open_dataset(store, engine="zarr_core", decode_timedelta=True) as ds:
        assert np.array_equal(ds.a.values, stored, equal_nan=True)


def test_given_stores_stay_open_with_a_cache_of_chunks():
    closed = []

    class Remote(MemoryStore):
        in_memory = False
        max_concurrency = 4

        def close(self):
            closed.append(self)

    store = Remote()
    data = xr.Dataset({"a": ("t", [1.0])}, coords={"t": [0]})
    cached = ChunkCacheStore(store, CachePool(1 << 20))
    append(data, cached, "t")
    to_zarr(data, cached, group="b")
    with xr.open_dataset(cached, engine="zarr_core", group="b") as ds:
        ds.load()
    assert not closed
