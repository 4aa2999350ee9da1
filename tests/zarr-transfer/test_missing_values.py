"""xarray reads the same elements and missing values before and after a conversion."""

import json
import shutil
from functools import partial

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from zarr_transfer import convert

xr = pytest.importorskip("xarray")
pytest.importorskip("zarr_xarray")

ENGINES = ["zarr_core", "zarr"]
pytestmark = pytest.mark.filterwarnings("ignore")


def read(path, engine):
    with xr.open_dataset(path, engine=engine, consolidated=False) as ds:
        return ds.load()


def assert_alike(one, other, engines=ENGINES):
    for engine in engines:
        before, after = read(one, engine), read(other, engine)
        assert set(before.variables) == set(after.variables)
        for name in before.variables:
            xr.testing.assert_equal(before[name].variable, after[name].variable)


def dataset():
    return xr.Dataset(
        {
            "packed": (("y", "x"), [[2.5, np.nan, -1.0]]),
            "count": ("x", [0, 1, 2]),
            "flag": ("x", [False, True, False]),
            "real": ("x", [0.0, -5.0, np.nan]),
            "odd": ("x", np.array([0, 9.5, np.nan], "f4")),
            "short": ("x", np.array([1, 255.0, np.nan])),
            "complex": ("x", np.array([0, 1j, 2], "c8")),
            "text": ("x", np.array(["", "b", "cc"], object)),
            "bytes": ("x", np.array([b"", b"b", b"cc"])),
            "since": ("x", np.array([0, 1, 2], "m8[h]")),
            "scalar": 0,
        },
        {"x": [0, 1, 2], "t": ("x", np.array(["2000-01-01", "2000-01-02", "NaT"], "M8[ns]"))},
    )


ENCODING = {
    "packed": {"dtype": "int16", "scale_factor": 0.1, "_FillValue": -9999, "chunks": (1, 2)},
    "odd": {"_FillValue": np.float32(9.5)},
    "short": {"dtype": "uint8", "_FillValue": 0, "chunks": (2,)},
}


@pytest.mark.parametrize("writer", ENGINES)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_datasets_there_and_back(tmp_path, zarr_format, writer):
    source, there, back = tmp_path / "source", tmp_path / "there", tmp_path / "back"
    write = xr.Dataset.to_zarr if writer == "zarr" else zarr_xarray_writer()
    write(dataset(), source, zarr_format=zarr_format, encoding=ENCODING)
    convert(source, there, zarr_format=5 - zarr_format)
    assert_alike(source, there)
    convert(there, back, zarr_format=zarr_format)
    assert_alike(source, back)


def zarr_xarray_writer():
    from zarr_xarray import to_zarr

    return to_zarr


def test_datasets_in_place(tmp_path):
    copy = tmp_path / "copy"
    dataset().to_zarr(tmp_path / "a", zarr_format=2, encoding=ENCODING)
    shutil.copytree(tmp_path / "a", copy)
    before = {name: zarr.open_array(copy / name).metadata.fill_value for name in ENCODING}
    for zarr_format in (3, 2):
        convert(copy, zarr_format=zarr_format, remove_source=True)
        assert_alike(tmp_path / "a", copy)
    assert {name: zarr.open_array(copy / name).metadata.fill_value for name in ENCODING} == before
    assert zarr.open_array(copy / "count").metadata.fill_value_undefined


@st.composite
def arrays(draw):
    """Some elements, and a fill value and a mask that are often among them."""
    dtype = np.dtype(draw(st.sampled_from(["|b1", "i1", "u2", "<i4", ">i8", "u8", "f2", "<f4", ">f8", "c8", "c16", "M8[s]", "m8[ms]"])))  # fmt: skip
    elements = hnp.from_dtype(dtype, allow_nan=True)
    if dtype.kind in "mM":
        elements = st.integers(-(2**40), 2**40).map(lambda it: np.array(it, np.int64).astype(dtype)[()]) | st.just(np.array("NaT", dtype)[()])  # fmt: skip
    values = np.array(draw(st.lists(elements, min_size=4, max_size=4)), dtype)
    choice = (st.sampled_from(list(values)) | elements).map(partial(with_one_nan, dtype))
    return values, np.array(draw(choice), dtype)[()], draw(st.none() | choice)


def with_one_nan(dtype, value):
    """Version 2 has only one NaN as a fill value."""
    is_nan = dtype.kind in "fc" and value != value
    return np.array(complex(np.nan, np.nan) if dtype.kind == "c" else np.nan, dtype)[()] if is_nan else value  # fmt: skip


def attribute(value, dtype):
    from xarray.backends.zarr import FillValueCoder

    return {} if value is None else {"_FillValue": FillValueCoder.encode(value, dtype)}


@settings(max_examples=30, deadline=None)
@given(arrays(), st.integers(0, 4), st.sampled_from([2, 3]), st.sampled_from(ENGINES))
def test_arrays_with_missing_chunks(tmp_path_factory, given_array, stored, zarr_format, engine):
    """In version 2 the fill value is the mask, in version 3 the attribute; chunks are missing."""
    values, fill, mask = given_array
    dtype = values.dtype
    path = tmp_path_factory.mktemp("conversion")
    root = zarr.create_group(path / "a", zarr_format=zarr_format)
    kind = {"shape": 4, "chunks": 1, "dtype": dtype}
    if zarr_format == 2:
        kind |= {"fill_value": fill, "attributes": {"_ARRAY_DIMENSIONS": ["x"], "other": 1}}
    else:
        masked = attribute(mask, dtype) if dtype.kind not in "mM" else {}
        kind |= {"fill_value": fill, "dimension_names": ["x"], "attributes": masked | {"other": 1}}
    array = root.create_array("v", **kind)
    array[:stored] = values[:stored]
    if dtype.kind in "mM" and zarr_format == 2 and not np.isnat(fill):
        return  # no mask in version 3: see the note
    convert(path / "a", path / "b", zarr_format=5 - zarr_format)
    assert_alike(path / "a", path / "b", [engine])
    there = zarr.open_array(path / "b", path="v")
    assert there[...].tobytes() == array[...].tobytes()
    convert(path / "b", path / "c", zarr_format=zarr_format)
    assert_alike(path / "a", path / "c", [engine])
    back = zarr.open_array(path / "c", path="v")
    assert back[...].tobytes() == array[...].tobytes()
    assert back.attrs.asdict() == array.attrs.asdict() or "_FillValue" in back.attrs


def test_missing_chunks_are_stored_if_the_fill_value_changes(tmp_path):
    root = zarr.create_group(tmp_path / "a")
    more = {"shape": 6, "chunks": 2, "dtype": "i2", "dimension_names": ["x"]}
    root.create_array("undefined", fill_value=7, **more)[:2] = 1
    root.create_array("other", fill_value=7, attributes={"_FillValue": -1}, **more)[:2] = 1
    root.create_array("same", fill_value=-1, attributes={"_FillValue": -1}, **more)[:2] = 1
    root.create_array("full", fill_value=7, **more)[:] = 1
    shards = {**more, "shards": 4}
    root.create_array("sharded", fill_value=7, attributes={"_FillValue": 1}, **shards)[:2] = 1
    plan = convert(tmp_path / "a", tmp_path / "b", zarr_format=2)
    assert_alike(tmp_path / "a", tmp_path / "b")
    count = {}
    for name in ("undefined", "other", "same", "full", "sharded"):
        new = zarr.open_array(tmp_path / "b", path=name)
        np.testing.assert_array_equal(new[...], root[name][...])
        count[name] = len(list(new.stored.stored_chunks()))
    assert count == {"undefined": 3, "other": 3, "same": 1, "full": 3, "sharded": 2}
    notes = {step.path: " ".join(step.notes) for step in plan.steps}
    assert "chunks that are not stored are written" in notes["other"]
    assert "not stored" not in notes["same"]


def test_missing_chunks_are_stored_in_place(tmp_path):
    more = {"shape": (3, 4), "chunks": 2, "dtype": "f4", "dimension_names": ["y", "x"]}
    array = zarr.create_array(tmp_path / "a", fill_value=3, chunk_key_encoding="v2", **more)
    array[:2, :2] = 1
    expected = array[...]
    convert(tmp_path / "a", zarr_format=2, remove_source=True)
    converted = zarr.open_array(tmp_path / "a")
    assert converted.metadata.fill_value_undefined
    np.testing.assert_array_equal(converted[...], expected)
    assert len([key for key in converted.store.list() if key[0].isdigit()]) == 4


def test_other_data_types_and_arrays_without_names_get_a_note(tmp_path):
    root = zarr.create_group(tmp_path / "a", zarr_format=2)
    named = {"_ARRAY_DIMENSIONS": ["x"]}
    root.create_array("unnamed", data=np.array([1, 2]), fill_value=2)
    root.create_array("native", data=np.array([1, 2], "M8[D]"), fill_value=np.datetime64(1, "D"), attributes=named)  # fmt: skip
    root.create_array("text", data=np.array([b"ab", b"c"]), fill_value=b"c", attributes=named)
    root.create_array("empty", data=np.array([b"ab", b""]), fill_value=b"", attributes=named)
    plan = convert(tmp_path / "a", tmp_path / "b")
    notes = {step.path: " ".join(step.notes) for step in plan.steps}
    assert "the fill value 2 is not masked by xarray in version 3" in notes["unnamed"]
    for name in ("native", "empty"):
        assert "which has no mask" in notes[name]
    new = zarr.open_group(tmp_path / "b")
    assert [("_FillValue" in new[name].attrs) for name in ("unnamed", "native", "text", "empty")] == [False, False, True, False]  # fmt: skip
    del new["unnamed"]
    assert read(tmp_path / "b", "zarr_core").text.isnull().values.tolist() == [False, True]


def test_masks_of_another_data_type(tmp_path):
    """xarray encodes the attribute by data type."""
    ds = xr.Dataset({"a": ("x", np.array([1, 2, np.nan]))})
    for zarr_format in (2, 3):
        path = tmp_path / str(zarr_format)
        encoding = {"a": {"dtype": "int16", "_FillValue": -9}}
        ds.to_zarr(path, zarr_format=zarr_format, encoding=encoding)
        convert(path, tmp_path / f"f{zarr_format}", dtype="float32")
        for engine in ENGINES:
            np.testing.assert_array_equal(read(tmp_path / f"f{zarr_format}", engine).a, ds.a)


def test_a_requested_fill_value_is_stored(tmp_path):
    ds = xr.Dataset({"a": ("x", [1.5, np.nan])})
    ds.to_zarr(tmp_path / "a", zarr_format=3, encoding={"a": {"_FillValue": -1.0}})
    convert(tmp_path / "a", tmp_path / "b", zarr_format=2, fill_value=4.0)
    assert json.loads((tmp_path / "b" / "a" / ".zarray").read_text())["fill_value"] == 4.0
