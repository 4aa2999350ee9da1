"""bytes: byte strings of any length."""

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import CodecError, MetadataValidationError
from zarr_dtypes.variable_bytes import VariableBytes


@pytest.mark.parametrize("dtype", [bytes, "bytes", "variable_length_bytes", np.bytes_, "S"])
def test_dtypes_of_variable_length_bytes(dtype):
    array = zarr.create_array(shape=(2, 2), dtype=dtype)
    assert array.metadata.data_type.to_json() == "bytes"
    assert array.metadata.fill_value == ""
    assert [codec.name for codec in array.metadata.codecs] == ["vlen-bytes", "zstd"]
    assert array.dtype == object
    array[0] = [b"\xff\0", b"b" * 500]
    assert array[...].tolist() == [[b"\xff\0", b"b" * 500], [b"", b""]]
    assert array[0, 0] == b"\xff\0"
    assert type(array[0, 0]) is bytes


@settings(max_examples=50, deadline=None)
@given(
    items=st.lists(st.binary(max_size=40), min_size=1, max_size=12),
    chunk=st.integers(1, 5),
    fill=st.binary(max_size=9),
    shards=st.booleans(),
)
def test_bytes_round_trip(items, chunk, fill, shards):
    values = np.empty(len(items), object)
    values[:] = items
    array = zarr.create_array(
        data=values, dtype=bytes, chunks=chunk, shards=2 * chunk if shards else None,
        fill_value=fill,
    )  # fmt: skip
    again = zarr.open(array.store)
    assert again[...].tolist() == items
    assert again.fill_value == fill
    again[::2] = fill
    assert array[...].tolist() == [fill if n % 2 == 0 else item for n, item in enumerate(items)]


def test_fill_values_in_json():
    for form in ("AQID", [1, 2, 3]):
        value = VariableBytes().fill_value_from_json(form)
        assert value[()] == b"\1\2\3"
        assert VariableBytes().fill_value_to_json(value) == "AQID"


@pytest.mark.parametrize("value", [0, None, [256], "A", "not base64", True, {}, [[1]]])
def test_invalid_fill_value(value):
    with pytest.raises(ValueError, match="a fill value of type bytes must be a base64 string"):
        VariableBytes().fill_value_from_json(value)


def test_arguments():
    for value in (b"ab", np.bytes_(b"ab"), bytearray(b"ab"), memoryview(b"ab"), np.array(b"ab")):
        assert zarr.create_array(shape=1, dtype=bytes, fill_value=value)[0] == b"ab"
    assert zarr.zeros(2, dtype=bytes)[...].tolist() == [b"", b""]
    for value in ("ab", 1, 0.0, True, [b"a"]):
        with pytest.raises(MetadataValidationError, match="/fill_value"):
            zarr.create_array(shape=1, dtype=bytes, fill_value=value)


def test_writing_non_bytes_raises():
    array = zarr.create_array(shape=2, dtype=bytes)
    with pytest.raises(CodecError, match="vlen-bytes"):
        array[0] = "text"
    array[...] = np.array([b"a", b"bc"], "S2")
    assert array[...].tolist() == [b"a", b"bc"]


def test_the_name_of_a_document_stays():
    array = zarr.create_array(shape=1, dtype=bytes)
    document = array.store.get("zarr.json")
    array.store.set("zarr.json", document.replace(b'"bytes"', b'"variable_length_bytes"'))
    array = zarr.open(array.store)
    array.attrs["a"] = 1
    assert b'"variable_length_bytes"' in array.store.get("zarr.json")
