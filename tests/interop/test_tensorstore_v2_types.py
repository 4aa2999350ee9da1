"""Data types for which TensorStore uses additional names in version 2."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataValidationError

ts = pytest.importorskip("tensorstore")

NAMES = [
    "bfloat16",
    "float8_e3m4",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float4_e2m1fn",
    "int4",
    "int2",
]
CASES = [
    (name, fill)
    for name in NAMES
    for fill in (None, 1, "NaN")
    if fill != "NaN" or name.startswith(("bfloat", "float8"))
]


def assert_equal(ours, theirs):
    """Whether values are equal; NaN equals NaN with any payload, because TensorStore's differs from the specification's."""
    np.testing.assert_array_equal(ours.astype("f4"), theirs.astype("f4"))


def spec(path, **members):
    return {"driver": "zarr", "kvstore": f"file://{path}/", **members}


def written(path, name, fill, values):
    schema = {"domain": {"shape": [len(values)]}}
    if fill is not None:
        schema["fill_value"] = fill
    theirs = ts.open(
        spec(path, dtype=name, schema=schema, metadata={"chunks": [4]}), create=True
    ).result()
    values = values.astype(theirs.dtype.numpy_dtype)
    theirs[:6] = values[:6]
    return theirs.read().result()


@pytest.mark.parametrize(("name", "fill"), CASES)
def test_reads_and_changes_what_tensorstore_wrote(tmp_path, name, fill):
    expected = written(tmp_path, name, fill, np.array([0, 1, -2, -1, 0, 1, 0, 0, 0, 0]))
    before = json.loads((tmp_path / ".zarray").read_bytes())
    array = zarr.open_array(tmp_path, mode="r+")
    assert array.dtype.name == name
    assert array[:6].tobytes() == expected[:6].tobytes()
    assert_equal(array[...], expected)
    assert_equal(array[5:9], expected[5:9])

    array[1] = 0
    array.resize(12)
    array.attrs["changed"] = True
    after = json.loads((tmp_path / ".zarray").read_bytes())
    assert after == before | {"shape": [12]}
    theirs = ts.open(spec(tmp_path)).result().read().result()
    assert_equal(zarr.open_array(tmp_path)[...], theirs)
    expected[1] = 0
    assert_equal(theirs[:8], expected[:8])


@pytest.mark.parametrize("name", NAMES)
def test_new_arrays_of_version_2_cannot_have_them(name):
    store = {}
    with pytest.raises(MetadataValidationError, match=name):
        zarr.create_array(store, shape=4, dtype=name, zarr_format=2)
    assert not store


def test_fields_may_have_them(tmp_path):
    document = {
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": [["a", "bfloat16"], ["b", "|u1"]],
        "compressor": None, "filters": None, "order": "C", "fill_value": None,
    }  # fmt: skip
    (tmp_path / ".zarray").write_text(json.dumps(document))
    (tmp_path / "0").write_bytes(b"\x80\x3f\x05\x00\xc0\x06")
    theirs = ts.open(spec(tmp_path, field="a")).result().read().result()
    ours = zarr.open_array(tmp_path)[...]
    assert ours["a"].tobytes() == theirs.tobytes()
    assert ours["b"].tolist() == [5, 6]
