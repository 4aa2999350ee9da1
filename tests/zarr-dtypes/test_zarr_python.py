"""Records, fill values and documents exchanged with zarr-python.

That elements are read both ways is in the table of tests/interop/test_extensions.py.
"""

import json
import warnings

import numpy as np
import pytest
import zarr
import zarr_core


def same(left, right):
    return (
        left.shape == right.shape
        and left.dtype == right.dtype
        and (
            left.tolist() == right.tolist()
            if left.dtype.hasobject
            else left.tobytes() == right.tobytes()
        )
    )


@pytest.fixture(autouse=True)
def quiet():
    """zarr-python warns of data types without a specification."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


FIXED = ["M8[ns]", "M8[10us]", "M8[Y]", "m8[s]", "m8[7W]", "U4", "S5", "V3", "S1", "U1"]


FILLS = [
    ("M8[s]", np.datetime64("NaT", "s")), ("M8[s]", np.datetime64(-7, "s")),
    ("m8[10us]", np.timedelta64(3, "10us")), ("m8[10us]", np.timedelta64("NaT", "10us")),
    ("U4", "a𝄞"), ("U4", ""), ("S4", b"a\0b"), ("S4", b"\xff\xfe\xfd\xfc"),
    ("str", "a𝄞" * 9), ("str", ""), ("variable_length_bytes", b"\xff\0" * 9),
    ("variable_length_bytes", b""), ("V3", np.void(b"\1\xff\0")),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "fill"), FILLS, ids=str)
def test_their_fill_values(tmp_path, dtype, fill):
    array = zarr.create_array(tmp_path, shape=3, dtype=dtype, fill_value=fill)
    ours = zarr_core.open(tmp_path)
    assert same(ours[...], np.asarray(array[...]))
    assert same(ours[...], np.full(3, ours.stored.resolved.fill_value))


@pytest.mark.parametrize(("dtype", "fill"), FILLS, ids=str)
def test_our_fill_values(tmp_path, dtype, fill):
    if dtype == "V3":
        dtype = {"name": "raw_bytes", "configuration": {"length_bytes": 3}}
    array = zarr_core.create_array(tmp_path, shape=3, dtype=dtype, fill_value=fill)
    assert same(np.asarray(zarr.open_array(tmp_path)[...]), array[...])
    # Not by numpy.full, which makes an S of bytes and loses null bytes at their end.
    if isinstance(fill, str | bytes):
        assert array[...].tolist() == [array.fill_value] * 3 == [fill] * 3
    else:
        assert same(array[...], np.full(3, fill, array.dtype))


@pytest.mark.parametrize("dtype", [*FIXED, "str", "variable_length_bytes"])
def test_contents_of_new_arrays_are_equal(tmp_path, dtype):
    theirs = zarr.create_array(tmp_path / "theirs", shape=2, dtype=dtype)
    ours = zarr_core.create_array(tmp_path / "ours", shape=2, dtype=dtype)
    assert same(ours[...], np.asarray(theirs[...]))
    documents = [
        json.loads((tmp_path / name / "zarr.json").read_text()) for name in ("theirs", "ours")
    ]
    if dtype not in ("V3", "variable_length_bytes"):  # by its other name
        assert documents[0]["data_type"] == documents[1]["data_type"]
