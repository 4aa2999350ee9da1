"""Arrays of the types of ml_dtypes from end to end, and what happens without that package."""

import importlib.metadata
import json
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import ExtensionLoadError, UnknownExtensionError
from zarr_core.extension import data_type_for

FLOATS = [
    "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
    "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn",
    "float6_e3m2fn", "float4_e2m1fn",
]  # fmt: skip
INTEGERS = ["int2", "int4", "uint2", "uint4"]
NAMES = [*FLOATS, *INTEGERS]


def same(left, right):
    return (left.shape, left.dtype, left.tobytes()) == (right.shape, right.dtype, right.tobytes())


def test_types_of_one_byte_have_no_byte_order():
    for name in NAMES[1:]:
        for order in "<>":
            dtype = np.dtype(getattr(ml_dtypes, name)).newbyteorder(order)
            array = zarr.create_array(shape=3, dtype=dtype)
            assert "endian" not in array.metadata.codecs[0].configuration
            assert array.dtype.isnative


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3", "float8_e5m2", "float4_e2m1fn"])
def test_a_chunk_is_omitted_only_if_it_is_the_fill_value_bit_by_bit(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    negative = np.array(1 << (3 if name == "float4_e2m1fn" else 8 * dtype.itemsize - 1),
                        f"u{dtype.itemsize}").view(dtype)  # fmt: skip
    array = zarr.create_array(shape=4, chunks=2, dtype=name)
    array[:2] = negative
    array[2:] = 0
    assert [key for key in array.store.list() if "c/" in key] == ["c/0"]
    assert same(array[:2], np.broadcast_to(negative, 2).copy())
    if name != "float4_e2m1fn":
        nan = zarr.create_array(shape=4, chunks=2, dtype=name, fill_value=float("nan"))
        payload = nan.stored.resolved.fill_value.view(f"u{dtype.itemsize}") | 1
        nan[:2] = payload.view(dtype)
        nan[2:] = float("nan")
        assert [key for key in nan.store.list() if "c/" in key] == ["c/0"]


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_cast_as_ml_dtypes_casts(name):
    array = zarr.create_array(shape=(2, 3), chunks=(1, 2), dtype=name)
    given = np.array([[1, 0.5, 1.25], [3, 0.125, 1]])
    array[...] = given
    assert same(array[...], given.astype(array.dtype))
    array[0] = [1, 0, True]
    assert same(array[0], np.array([1, 0, 1], array.dtype))
    array[1] = given[1].astype(ml_dtypes.bfloat16)
    assert same(array[1], given[1].astype(array.dtype))
    wider = np.asarray(array, dtype="f4")
    assert np.array_equal(wider, array[...].astype("f4"), equal_nan=True)


def test_documents_say_the_name_and_an_exact_fill_value():
    array = zarr.create_array(shape=1, dtype="bfloat16", fill_value=0.1)
    document = json.loads(array.store.get("zarr.json"))
    assert document["data_type"] == "bfloat16"
    assert document["fill_value"] == 0.10009765625
    assert zarr.create_array(shape=1, dtype=np.dtype("bfloat16")).dtype == ml_dtypes.bfloat16
    assert repr(array.fill_value) == "0.100098"


def test_raw_bytes_are_not_taken_for_numbers():
    assert data_type_for(np.dtype("V2")).to_definition().name == "r16"
    assert data_type_for(np.dtype("V1")).to_definition().name == "r8"
    with pytest.raises(UnknownExtensionError):  # registered with NumPy, and nobody's
        data_type_for(np.dtype(ml_dtypes.int1))


# --- without ml_dtypes ---


def run(code):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_other_types_do_not_import_it():
    """Not even where all data types are asked whether they know a dtype."""
    run(
        "import sys, zarr_core as zarr\n"
        "from zarr_core.errors import ZarrError\n"
        "zarr.create_array(shape=1, dtype='M8[s]')\n"
        "zarr.create_array(shape=1, dtype=[('real', 'f2'), ('imag', 'f2')])\n"
        "zarr.create_array(shape=1, dtype='complex_float16')\n"
        "try: zarr.create_array(shape=1, dtype=object)\n"
        "except ZarrError: pass\n"
        "else: raise AssertionError\n"
        "assert 'ml_dtypes' not in sys.modules\n"
    )


@pytest.mark.parametrize("name", ["bfloat16", "int4", "complex_float8_e5m2"])
def test_advice_if_not_installed(name):
    message = run(
        "import sys, zarr_core as zarr\n"
        "from zarr_core.errors import ExtensionLoadError\n"
        "sys.modules['ml_dtypes'] = None\n"
        f"try: zarr.create_array(shape=1, dtype={name!r})\n"
        "except ExtensionLoadError as error: print(error)\n"
    )
    assert name.removeprefix("complex_") in message
    assert "ml_dtypes 0.5 or newer is required" in message
    assert "pip install 'zarr-dtypes[ml]'" in message


def test_one_that_is_too_old(monkeypatch):
    from zarr_dtypes import _ml_dtypes

    monkeypatch.delattr(ml_dtypes, "float4_e2m1fn")
    with pytest.raises(ExtensionLoadError, match=r"has no attribute 'float4_e2m1fn'\): pip inst"):
        _ml_dtypes.dtype_named.__wrapped__("float4_e2m1fn", "module:Class")


def test_the_extra_is_declared():
    extras = importlib.metadata.metadata("zarr-dtypes").get_all("Provides-Extra")
    assert extras == ["ml"]
