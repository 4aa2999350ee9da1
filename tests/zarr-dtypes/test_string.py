"""string: Unicode strings of any length."""

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import ExtensionConfigurationError, MetadataValidationError
from zarr_core.extension import data_type_for
from zarr_dtypes.string import String

STRINGS = np.dtypes.StringDType()
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.mark.parametrize("dtype", [str, "str", "string", np.str_, STRINGS, "U", np.dtype("U")])
def test_dtypes_of_variable_length_strings(dtype):
    array = zarr.create_array(shape=(2, 2), dtype=dtype)
    assert array.metadata.data_type.to_json() == "string"
    assert array.metadata.fill_value == ""
    assert [codec.name for codec in array.metadata.codecs] == ["vlen-utf8", "zstd"]
    assert array.dtype == STRINGS
    array[0] = ["a", "ä𝄞" * 50]
    assert array[...].tolist() == [["a", "ä𝄞" * 50], ["", ""]]


def test_strings_that_may_be_missing_are_rejected():
    with pytest.raises(ExtensionConfigurationError, match="missing value"):
        data_type_for(np.dtypes.StringDType(na_object=None))
    assert data_type_for(np.dtypes.StringDType(coerce=False)) == String()


@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(TEXT, min_size=1, max_size=12),
    chunk=st.integers(1, 5),
    fill=TEXT,
    shards=st.booleans(),
)
def test_strings_round_trip(texts, chunk, fill, shards):
    values = np.array(texts, STRINGS)
    array = zarr.create_array(
        data=values, chunks=chunk, shards=2 * chunk if shards else None, fill_value=fill
    )
    again = zarr.open(array.store)
    assert again[...].tolist() == texts
    assert again.fill_value == fill
    again[::2] = fill
    assert array[...].tolist() == [fill if n % 2 == 0 else t for n, t in enumerate(texts)]


@pytest.mark.parametrize("value", [0, None, ["a"], True, "\ud800", {}])
def test_invalid_fill_value(value):
    with pytest.raises(ValueError, match="string|surrogates"):
        String().fill_value_from_json(value)


def test_arguments():
    for value in ("ab", np.str_("ab"), np.array("ab"), np.array("ab", STRINGS)):
        assert zarr.create_array(shape=1, dtype=str, fill_value=value)[0] == "ab"
    assert zarr.zeros(2, dtype=str)[...].tolist() == ["", ""]
    for value in (b"ab", 1, 0.0, True, "\ud800", ["a"]):
        with pytest.raises(MetadataValidationError, match="/fill_value"):
            zarr.create_array(shape=1, dtype=str, fill_value=value)


def test_arrays_of_objects_are_cast():
    array = zarr.create_array(shape=2, dtype=str)
    array[...] = np.array(["a", "b" * 20], object)
    assert array[...].tolist() == ["a", "b" * 20]


def test_names_of_python_objects_must_be_said():
    with pytest.raises(zarr.errors.ZarrError):
        zarr.create_array(data=np.array(["a", 1], object))


@pytest.mark.parametrize(
    "missing",
    [
        ["a", None],
        ["a", float("nan")],
        np.array(["a", None], object),
        np.array(["a", np.datetime64("NaT", "s")], object),
        np.array(["a", None], np.dtypes.StringDType(na_object=None)),
        np.array(["a", np.nan], np.dtypes.StringDType(na_object=np.nan)),
    ],
)
def test_missing_values_are_not_text(missing):
    array = zarr.create_array(shape=2, dtype="string")
    with pytest.raises(ValueError, match="is not a string.*replace missing values"):
        array[...] = missing
    assert array[...].tolist() == ["", ""]
    array[...] = np.array(["a", "b"], np.dtypes.StringDType(na_object=None))
    assert array[...].tolist() == ["a", "b"]


@pytest.mark.parametrize("fill", ["", "\0", "a", "a\0", "a\0\0", "\0a"])
def test_null_characters_are_reported_apart(fill):
    # NumPy compares no further than to the first, and leaves them out at the end of a str.
    texts = ["", "\0", "\0\0", "a", "a\0", "a\0\0", "\0a", "\0a\0"]
    array = zarr.create_array(shape=len(texts), dtype="string", chunks=1, fill_value=fill)
    array[...] = np.array(texts, np.dtypes.StringDType())
    assert zarr.open_array(array.store)[...].tolist() == texts
    assert array.nchunks_initialized == len(texts) - texts.count(fill)
