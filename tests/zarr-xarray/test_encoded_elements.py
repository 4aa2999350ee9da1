"""Elements are stored as they will be read, or refused, in every way of writing."""

import cftime
import dask
import numpy as np
import pytest
import xarray as xr
import zarr_core
from zarr_xarray import append, to_zarr

ENGINE = {"engine": "zarr_core"}

pytestmark = pytest.mark.filterwarnings("ignore::xarray.SerializationWarning")


def times(*values, unit="ns"):
    return np.array(values, f"M8[{unit}]")


def read(store, **options):
    with xr.open_dataset(store, **ENGINE, **options) as ds:
        return ds.load()


def line(values, **more):
    return xr.Dataset({"a": ("x", values)}, **more)


DAYS = times("2001-02-03", "2001-02-04")
HALF = {"dtype": "uint8", "scale_factor": 0.5, "add_offset": 1.0}
SIGNED = {"dtype": "int8", "_Unsigned": "true", "_FillValue": np.int8(-1)}

# Stored elements, their encoding, elements that cannot be stored as these are.
CHANGED = {
    "minutes in days": (DAYS, {}, times("2001-02-05T00:10")),
    "coarser times in days": (DAYS, {}, times("2001-02-05T12", unit="m")),
    "no leap years": (
        [cftime.DatetimeNoLeap(2001, 1, day) for day in (1, 2)], {},
        [cftime.DatetimeNoLeap(2001, 1, 3, 6)],
    ),
    "timedelta": (np.array([3600, 7200], "m8[s]"), {"units": "hours", "dtype": "int16"}, np.array([5400], "m8[s]")),
    "timedelta overflow": (np.array([1, 2], "m8[s]"), {"units": "seconds", "dtype": "int16"}, np.array([40000], "m8[s]")),
    "float32 times": (DAYS, {"units": "days since 1900-01-01", "dtype": "float32"}, times("2001-02-05T00:10")),
    "packed": ([1.0, 2.0], HALF, [129.0]),
    "below the offset": ([1.0, 2.0], HALF, [0.0]),
    "missing without a fill value": ([1.0, 2.0], HALF, [np.nan]),
    "the fill value": ([1.0, np.nan], {"dtype": "int32", "_FillValue": -7}, [-7.0]),
    "unsigned": ([1.0, 200.0], SIGNED, [256.0]),
    "narrow": (np.array([1, 2], "u1"), {}, [256]),
    "negative": (np.array([1, 2], "u2"), {}, [-1]),
    "fraction": (np.array([1, 2]), {}, [1.25]),
    "NaN": (np.array([1, 2], "i2"), {}, [np.nan]),
    "float32": (np.array([1, 2], "f4"), {}, [1e39]),
    "scaled in float32": ([1.0, 2.0], {"scale_factor": 1e-4, "add_offset": 1e6}, np.array([-81.5], "f4")),
    "scaled in float16": ([1.0, 2.0], {"add_offset": 1e6}, np.array([1.5], "f2")),
    "complex64": (np.array([1, 2], "c8"), {}, [1e39j]),
    "boolean": (np.array([True, False]), {}, [2]),
    "not times": (DAYS, {}, [3]),
    "times in numbers": (np.array([1, 2]), {}, DAYS[:1]),
}  # fmt: skip


def write_region(ds, store):
    to_zarr(ds, store, region={"x": slice(1, 2)})


def write_append(ds, store):
    to_zarr(ds, store, append_dim="x")


def write_all(ds, store):
    """With mode ``a``, which also creates a variable."""
    twice = xr.concat([ds, ds], "x").assign(b=1)
    twice["a"].encoding = {}
    to_zarr(twice, store, "a")


def write_tree(ds, store):
    to_zarr(xr.DataTree(xr.concat([ds, ds], "x")), store, "r+")


def write_dask(ds, store):
    to_zarr(ds.chunk(x=1), store, region={"x": slice(1, 2)}, safe_chunks=False)


def write_delayed(ds, store):
    later = to_zarr(ds.chunk(x=1), store, "r+", region={"x": slice(1, 2)}, compute=False, safe_chunks=False)  # fmt: skip
    later.compute()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "write",
    [write_region, write_append, write_all, write_tree, write_dask, write_delayed, append],
    ids=lambda write: write.__name__,
)
@pytest.mark.parametrize("case", CHANGED)
def test_elements_that_would_be_read_differently_are_refused(case, write, zarr_format):
    stored, encoding, given = CHANGED[case]
    store = zarr_core.MemoryStore()
    to_zarr(line(stored), store, encoding={"a": encoding}, zarr_format=zarr_format)
    before = {key: bytes(store.get(key)) for key in store.list()}
    with pytest.raises(ValueError, match="cannot write these elements of 'a' to .*'/a'") as caught:
        write(line(given), store, *(["x"] if write is append else []))
    lazy = write in (write_dask, write_delayed)
    lazy_note = any("chunks of Dask" in note for note in getattr(caught.value, "__notes__", ()))
    kinds = case in ("not times", "times in numbers", "boolean")
    assert lazy_note == lazy or kinds
    assert {key: bytes(store.get(key)) for key in store.list()} == before


@pytest.mark.parametrize("chunks", [None, 1])
def test_elements_that_can_be_stored_are(chunks, zarr_format):
    cases = {
        "days": (DAYS, {}, times("2001-03-05", unit="s")),
        "half": ([1.0, 2.0], HALF, [1.25]),  # rounded to the scale
        "unsigned": ([1.0, 200.0], SIGNED, [250.0]),
        "narrow": (np.array([1, 2], "u1"), {}, [255]),
        "float64 days": (DAYS, {"units": "days since 0001-01-01", "dtype": "float64"}, times("2001-02-05T01:02:03")),
        "NaT": (DAYS, {}, times("NaT")),
        "text": (np.array(["a", "bc"], object), {}, np.array(["longer"], object)),
    }  # fmt: skip
    for name, (stored, encoding, given) in cases.items():
        store = zarr_core.MemoryStore()
        to_zarr(
            line(stored), store, encoding={"a": encoding | {"chunks": 1}}, zarr_format=zarr_format
        )
        more = line(given)
        to_zarr(more if chunks is None else more.chunk(x=chunks), store, append_dim="x")
        found, wanted = read(store).a.values[2:], np.asarray(given)
        if wanted.dtype.kind == "M":
            assert (np.isnat(found) == np.isnat(wanted)).all(), name
            near = np.abs(found - wanted) <= np.timedelta64(10, "us")
            assert (near | np.isnat(wanted)).all(), name
        elif wanted.dtype.kind == "f":
            assert np.allclose(found, wanted, atol=0.26, rtol=0), name
        else:
            assert (found == wanted).all(), name


NEW = {
    "integers": (np.array([1e6, 2.0]), {"dtype": "int16"}),
    "packed": (np.array([200.0, 2.0]), HALF),
    "unsigned": (np.array([-1, 2]), {"dtype": "uint16"}),
    "seconds": (times("2001-02-03T12", "2001-02-04"), {"units": "seconds since 1990-01-01", "dtype": "int16"}),
    "float32 days": (times("2001-02-03T00:10", "2001-02-04"), {"units": "days since 1900-01-01", "dtype": "float32"}),
    "NaN": (np.array([1.0, np.nan]), {"dtype": "int64"}),
    "half": (np.array([1e6, 2.0]), {"dtype": "float16"}),
    "packed to the fill value": (np.array([3.0, 4.0]), {**HALF, "_FillValue": 4}),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunks", [None, 1])
@pytest.mark.parametrize("case", NEW)
def test_encodings_that_change_elements_of_new_arrays_are_refused(case, chunks, zarr_format):
    values, encoding = NEW[case]
    store = zarr_core.MemoryStore()
    ds = line(values) if chunks is None else line(values).chunk(x=chunks)
    with pytest.raises(ValueError, match="cannot write these elements of 'a'.* would be read as"):
        to_zarr(ds, store, encoding={"a": encoding}, zarr_format=zarr_format)
    assert not list(store.list())


def test_new_arrays_may_round_to_integers_and_choose_missing_values(zarr_format):
    store = zarr_core.MemoryStore()
    ds = xr.Dataset({"a": ("x", [1.4, 2.6]), "b": ("x", np.array([0, 3], "u1"))})
    encoding = {"a": {"dtype": "int16"}, "b": {"_FillValue": 0}}
    to_zarr(ds, store, encoding=encoding, zarr_format=zarr_format)
    assert read(store).a.values.tolist() == [1, 3]
    np.testing.assert_array_equal(read(store).b, [np.nan, 3])


def test_undecoded_data_is_encoded_again_by_its_attributes(zarr_format):
    store, other = zarr_core.MemoryStore(), zarr_core.MemoryStore()
    to_zarr(line(DAYS), store, zarr_format=zarr_format)
    to_zarr(
        line(times("2001-03-01", "2001-03-02")), other, zarr_format=zarr_format,
        encoding={"a": {"units": "hours since 1999-01-01"}},
    )  # fmt: skip
    raw = read(other, decode_times=False)
    assert raw.a.dtype.kind == "i"
    to_zarr(raw, store, region={"x": slice(0, 2)})
    assert (read(store).a == times("2001-03-01", "2001-03-02")).all()


def native(store, zarr_format, kind):
    values = np.array([100, 200, 300], f"{kind}[s]")
    root = zarr_core.create_group(store, zarr_format=zarr_format)
    named = {"dimension_names": ["x"]} if zarr_format == 3 else {"attributes": {"_ARRAY_DIMENSIONS": ["x"]}}  # fmt: skip
    root.create_array("a", data=values, chunks=2, fill_value=np.array("NaT", values.dtype)[()], **named)  # fmt: skip
    return values


@pytest.mark.parametrize("kind", ["M8", "m8"])
@pytest.mark.parametrize("chunks", [None, 2])
def test_native_times_of_numpy(kind, chunks, zarr_format):
    store = zarr_core.MemoryStore()
    values = native(store, zarr_format, kind)

    def given(*numbers, unit="ms"):
        ds = line(np.array(numbers, f"{kind}[{unit}]"))
        return ds if chunks is None else ds.chunk(x=chunks)

    to_zarr(given(7_000, 8_000), store, region={"x": slice(0, 2)})
    to_zarr(given(9_000), store, append_dim="x", safe_chunks=False)
    found = zarr_core.open_array(store, path="a")[...]
    assert found.tolist() == np.array([7, 8, 300, 9], values.dtype).tolist()
    with pytest.raises(ValueError, match="1500 milliseconds|01.500 would be read as"):
        to_zarr(given(1_500, 1_000), store, region={"x": slice(0, 2)})
    with pytest.raises(ValueError, match="data type is int64"):
        to_zarr(line([1, 2]), store, region={"x": slice(0, 2)})
    other = zarr_core.MemoryStore()
    stored = read(store)
    to_zarr(stored, other, zarr_format=zarr_format)  # in the encoding of CF
    xr.testing.assert_equal(read(other), stored)


@pytest.mark.parametrize("chunks", [{}, {"x": 1}], ids=["whole", "Dask"])
def test_single_bytes_are_not_joined(chunks, zarr_format):
    ds = line(np.array([b"a", b"b"]))
    ds = ds.chunk(chunks) if chunks else ds
    to_zarr(ds, store := {}, zarr_format=zarr_format)
    to_zarr(ds, store, append_dim="x")
    assert read(store).a.values.tolist() == [b"a", b"b", b"a", b"b"]


@pytest.mark.parametrize("dtype", ["S1", "S3", "U3", "T", "O"])
def test_fill_values_of_text_are_masked(dtype, zarr_format):
    store = zarr_core.MemoryStore()
    fill, other = {"S1": (b"n", b"a"), "S3": (b"no", b"ab")}.get(dtype, ("no", "ab"))
    ds = line(np.array([fill, other], np.dtypes.StringDType() if dtype == "T" else dtype))
    to_zarr(ds, store, encoding={"a": {"_FillValue": fill}}, zarr_format=zarr_format)
    found = read(store).a.values
    assert found[0] != found[0]
    assert found[1] == other
    to_zarr(read(store), again := zarr_core.MemoryStore(), zarr_format=zarr_format)
    assert read(again).a.isnull().values.tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["i1", "u8", "f2", "f8", "c8", "c16", "b1"])
def test_fill_values_are_masked_as_by_xarray_with_zarr_python(tmp_path, dtype, zarr_format):
    ds = line(np.array([0, 1, 1], dtype))
    fill = np.array(1, dtype)[()]
    to_zarr(ds, tmp_path / "a", encoding={"a": {"_FillValue": fill}}, zarr_format=zarr_format)
    ours = read(tmp_path / "a")
    with xr.open_dataset(tmp_path / "a", engine="zarr") as theirs:
        xr.testing.assert_identical(ours.compute(), theirs.compute())
    assert ours.a.isnull().values.tolist() == [False, True, True]


def test_lengths_of_chunks(zarr_format):
    ds = xr.Dataset({"a": (("z", "y", "x"), np.ones((4, 6, 5)))})
    for given, wanted in {
        -1: (4, 6, 5), (2, -1, 3): (2, 6, 3), (np.int32(1), -1, -1): (1, 6, 5), None: (4, 6, 5),
        "auto": (4, 6, 5), 2: (2, 2, 2),
    }.items():  # fmt: skip
        for data in (ds, ds.chunk()):
            store = zarr_core.MemoryStore()
            to_zarr(data, store, encoding={"a": {"chunks": given}}, zarr_format=zarr_format)
            assert zarr_core.open_array(store, path="a").chunks == wanted
    for wrong in (0, (1, 0, -1), (1, 1, -2)):
        with pytest.raises(ValueError, match=r"encoding\['chunks'\].*'a'.*along '[xyz]'"):
            to_zarr(ds, encoding={"a": {"chunks": wrong}}, zarr_format=zarr_format)
    with pytest.raises(ValueError, match="2 lengths for the dimensions"):
        to_zarr(ds, encoding={"a": {"chunks": (2, 2)}}, zarr_format=zarr_format)
    with pytest.raises(TypeError, match="True is not an integer"):
        to_zarr(ds, encoding={"a": {"chunks": (True, 1, 1)}}, zarr_format=zarr_format)
    ds.a.encoding["chunks"] = (0, 1, 1)
    with pytest.raises(ValueError, match="along 'z'"):
        to_zarr(ds, zarr_format=zarr_format)


def test_lengths_of_shards():
    ds = xr.Dataset({"a": (("y", "x"), np.ones((4, 6)))})
    store = zarr_core.MemoryStore()
    to_zarr(ds, store, encoding={"a": {"chunks": (2, 3), "shards": (2, -1)}})
    assert zarr_core.open_array(store, path="a").shards == (2, 6)
    with pytest.raises(ValueError, match=r"encoding\['shards'\].*along 'y'"):
        to_zarr(ds, encoding={"a": {"chunks": (2, 3), "shards": (0, 3)}})


def test_arrays_without_elements_keep_lengths_of_chunks(zarr_format):
    ds = xr.Dataset({"a": (("y", "x"), np.ones((0, 6)))})
    store, again = zarr_core.MemoryStore(), zarr_core.MemoryStore()
    to_zarr(ds, store, encoding={"a": {"chunks": (-1, 3)}}, zarr_format=zarr_format)
    assert zarr_core.open_array(store, path="a").chunks == (1, 3)
    to_zarr(read(store), again, zarr_format=zarr_format)
    with dask.config.set(scheduler="synchronous"):
        to_zarr(ds.chunk(), zarr_format=zarr_format)


def test_encoding_of_no_variable(zarr_format):
    store = zarr_core.MemoryStore()
    with pytest.raises(ValueError, match="encoding for 'b', which is not a variable of .*: a"):
        to_zarr(line([1]), store, encoding={"b": {"chunks": 1}}, zarr_format=zarr_format)
    assert not list(store.list())


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("offset", [0.0, 280.0])
def test_all_steps_of_packed_integers_are_accepted(dtype, offset):
    values = (np.linspace(-327.6, 327.6, 20_001) + offset).astype(dtype)
    encoding = {"dtype": "i2", "scale_factor": 0.01, "add_offset": offset, "_FillValue": -32768}
    store = zarr_core.MemoryStore()
    to_zarr(xr.Dataset({"a": ("x", values)}), store, encoding={"a": encoding})
    with xr.open_dataset(store, **ENGINE) as read:
        np.testing.assert_allclose(read.a, values, atol=0.0052)
