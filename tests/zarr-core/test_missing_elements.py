"""Missing elements of pandas, Arrow and masked arrays are never stored as other values."""

import tracemalloc

import numpy as np
import pytest
import zarr_core as zarr

DATES = [np.datetime64("2020-01-01", "ns"), np.datetime64("2020-01-02", "ns")]
PANDAS = [
    ([1, 2], "Int16", "i8"),
    ([1, 2], "UInt64", "u8"),
    ([1.5, 2], "Float32", "f4"),
    ([True, False], "boolean", "?"),
    (["a", "b"], "string", str),
    (["a", "b"], "string", "S3"),
    (["a", "b"], "category", "U3"),
    ([1, 2], "uint8[pyarrow]", "u1"),
    (["a", "b"], "string[pyarrow]", str),
    (DATES, "timestamp[ns][pyarrow]", "M8[ns]"),
    ([b"a", b"b"], "binary[pyarrow]", "S2"),
]


def with_every_function(values, dtype, shape):
    """The functions that store elements, by name."""
    array = zarr.create_array({}, shape=shape, dtype=dtype)
    before = array[...]
    yield array, before, lambda: array.__setitem__(..., values)
    yield array, before, lambda: array.set_basic_selection(slice(None), values)
    yield array, before, lambda: array.append(values)
    yield array, before, lambda: zarr.create_array({}, data=values, dtype=dtype)
    yield array, before, lambda: zarr.create_array({}, data=values)
    yield array, before, lambda: zarr.save({}, values)


@pytest.mark.parametrize("form", ["array", "Series", "Index"])
@pytest.mark.parametrize(("values", "kind", "dtype"), PANDAS, ids=lambda value: str(value))
def test_extension_arrays_of_pandas(values, kind, dtype, form):
    pandas = pytest.importorskip("pandas")
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    whole = getattr(pandas, form)(values, dtype=kind)
    array = zarr.create_array({}, shape=2, dtype=dtype)
    array[...] = whole
    np.testing.assert_array_equal(array[...], np.array(values, dtype))
    assert zarr.create_array({}, data=whole, dtype=dtype)[...].tolist() == array[...].tolist()
    holes = getattr(pandas, form)([values[0], None], dtype=kind)
    for array, before, store in with_every_function(holes, dtype, 2):
        with pytest.raises(ValueError, match="missing elements cannot be stored; replace"):
            store()
        np.testing.assert_array_equal(array[...], before)


def test_strings_of_pandas_need_no_dtype():
    pandas = pytest.importorskip("pandas")
    array = zarr.create_array({}, data=pandas.Series(["Oslo", "Bergen"], dtype="string"))
    assert array[...].tolist() == ["Oslo", "Bergen"]
    assert array.metadata.data_type.name == "string"


def test_missing_elements_of_frames_are_those_of_extension_columns():
    pandas = pytest.importorskip("pandas")
    array = zarr.create_array({}, shape=(2, 2), dtype="f8")
    array[...] = pandas.DataFrame({"a": [1.0, np.nan], "b": [3.0, 4.0]})
    np.testing.assert_array_equal(array[...], [[1, 3], [np.nan, 4]])
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": pandas.array([3, None], "Int64")})
    with pytest.raises(ValueError, match="missing elements"):
        array[...] = frame


def test_nan_of_a_numpy_dtype_is_a_value():
    pandas = pytest.importorskip("pandas")
    array = zarr.create_array({}, data=pandas.Series([1.0, np.nan]))
    np.testing.assert_array_equal(array[...], [1, np.nan])


def test_arrays_of_arrow():
    arrow = pytest.importorskip("pyarrow")
    array = zarr.create_array({}, shape=3, dtype="i2")
    array[...] = arrow.array([1, 2, 3], arrow.int16())
    assert array[...].tolist() == [1, 2, 3]
    for values in (arrow.array([1, None, 3]), arrow.chunked_array([[1, None], [3]])):
        with pytest.raises(ValueError, match=r"missing elements cannot be stored.*fill_null"):
            array[...] = values
    assert array[...].tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["U4", "S4", str, "?"])
@pytest.mark.parametrize(
    "missing", [None, np.nan, float("nan"), np.datetime64("NaT", "s"), np.ma.masked]
)
def test_missing_objects_are_not_stored_as_text_or_booleans(dtype, missing):
    array = zarr.create_array({}, shape=2, dtype=dtype)
    for values in (["a", missing], np.array(["a", missing], object)):
        with pytest.raises(ValueError, match="replace missing values"):
            array[...] = values


@pytest.mark.parametrize("dtype", ["i2", "u8", "f8", "?", "U30", str])
@pytest.mark.parametrize("kind", ["M8[D]", "m8[ns]"])
def test_missing_times_are_not_stored_as_numbers_or_text(dtype, kind):
    array = zarr.create_array({}, shape=2, dtype=dtype)
    array[...] = np.array([1, 2], kind)
    before = array[...]
    for values in (np.array([1, "NaT"], kind), np.array("NaT", kind)):
        with pytest.raises(ValueError, match="replace missing values"):
            array[...] = values
    np.testing.assert_array_equal(array[...], before)


@pytest.mark.parametrize("dtype", ["i4", "c8", "complex_float16"])
def test_masked_elements(dtype):
    if dtype == "complex_float16":
        pytest.importorskip("zarr_dtypes")
    masked = np.ma.masked_array([1, 2], [False, True])
    for array, before, store in with_every_function(masked, dtype, 2):
        with pytest.raises(ValueError, match=r"masked.*filled"):
            store()
        np.testing.assert_array_equal(array[...], before)
    with pytest.raises(ValueError, match=r"masked.*filled"):
        array[[0, 1]] = masked
    array[...] = np.ma.masked_array([1, 2], [False, False])


def test_times_of_frames_are_not_stored_as_numbers():
    pandas = pytest.importorskip("pandas")
    array = zarr.create_array({}, shape=(2, 1), dtype="i8")
    array[...] = pandas.DataFrame({"a": np.array([1, 2], "M8[ns]")})
    with pytest.raises(ValueError, match="missing value"):
        array[...] = pandas.DataFrame({"a": np.array([3, "NaT"], "M8[ns]")})
    assert array[...].tolist() == [[1], [2]]


@pytest.mark.parametrize(
    "values", [bytearray(10**5), memoryview(bytes(10**5)), [np.zeros(50_000, bool)] * 2], ids=type
)
def test_booleans_are_not_converted_to_objects(values):
    shape = (2, 50_000) if isinstance(values, list) else 10**5
    array = zarr.create_array({}, shape=shape, dtype="?", compressors=None)
    array[...] = values
    tracemalloc.start()
    try:
        array[...] = values
        assert tracemalloc.get_traced_memory()[1] < 5 * array.size
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", ["i4", "f8", "?", "c8", "S3", "U3", "M8[s]", "i4,f4"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_masked_fill_values(dtype, zarr_format):
    masked = np.ma.zeros(1, dtype)
    masked[0] = np.ma.masked
    with pytest.raises(zarr.errors.MetadataValidationError, match="a masked element has no value"):
        zarr.full(2, masked[0], dtype=dtype, zarr_format=zarr_format)


def test_masked_fill_values_of_existing_arrays():
    store = zarr.zeros(2, dtype="i2").store
    with pytest.raises(zarr.errors.MetadataValidationError, match="a masked element has no value"):
        zarr.open_array(store, fill_value=np.ma.masked)
