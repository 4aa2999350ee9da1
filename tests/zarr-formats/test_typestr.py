"""Conversion of data types of versions 1 and 2 from and to version 3."""

import numpy as np
import pytest
from growth import LIMIT, growth
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.extension import ExtensionDefinition, MetadataValidationError, create_extension
from zarr_formats.typestr import LARGEST, read_dtype, write_dtype

UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "\u03bcs", "ns", "ps", "fs", "as")

ordered = st.builds(
    "{}{}".format,
    st.sampled_from("<>"),
    st.one_of(
        st.sampled_from(["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]),
        st.integers(1, 40).map("U{}".format),
        st.builds(
            "{}8[{}{}]".format,
            st.sampled_from("mM"),
            st.sampled_from(["", 10]),
            st.sampled_from(UNITS),
        ),
    ),
)
orderless = st.one_of(
    st.sampled_from(["|b1", "|i1", "|u1"]),
    st.builds("|{}{}".format, st.sampled_from("SV"), st.integers(1, 40)),
)
simple = ordered | orderless


def fields(types):
    shapes = st.lists(st.integers(1, 3), min_size=1, max_size=2)
    items = st.tuples(types) | st.tuples(types, shapes)
    return st.lists(items, min_size=1, max_size=4).map(
        lambda parts: [[f"f{number}", *part] for number, part in enumerate(parts)]
    )


def test_types_of_one_byte_have_no_byte_order():
    # netCDF-C writes "<i1".
    for text in ("<i1", ">u1", "<b1"):
        assert read_dtype(text).byte_order is None


@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ("vlen-utf8", "string"),
        ("categorize", "string"),
        ("vlen-bytes", "bytes"),
        ("json2", "v2.object"),
        (None, "v2.object"),
    ],
)
def test_codec_determines_the_object_type(codec, name):
    dtype = read_dtype("|O", object_codec=codec)
    assert dtype.data_type.name == name
    assert dtype.item_size is None
    assert write_dtype(dtype.data_type, None) == "|O"


def test_fields_of_several_byte_orders():
    dtype = read_dtype([["a", "<f4"], ["b", ">f4"], ["c", "|u1"]])
    assert dtype.byte_order == "mixed"
    assert dtype.numpy_dtype() == np.dtype([("a", "<f4"), ("b", ">f4"), ("c", "u1")])


def test_padding_gets_the_name_that_numpy_gives():
    written = np.dtype({"names": ["a", "b"], "formats": ["u1", "<i4"], "offsets": [0, 4]}).descr
    value = [list(field) for field in written]
    dtype = read_dtype(value)
    names = [field["name"] for field in dtype.data_type.configuration["fields"]]
    assert names == list(dtype.numpy_dtype().names) == ["a", "f1", "b"]


REFUSED = {
    "": [
        None, 1, "", "!", "!b", "i4,f8", "<f8\n", "<f\u0668", [],
        # the byte order is missing
        "i4", "|i4", "|U4", "|M8[ns]",
        # the unit is missing or wrong
        "<M8", "<m8", "<M8[]", "<M8[generic]", "<M8[0ns]", "<M8[x]", "<M8[ 1s]",
        # sizes that do not exist, or are too large
        "<u16", "<u0", "<u10000", "<b4", "<f16", "<U0", "|S0", "|V2000000000", "|V" + "9" * 5000,
        [["a", "|V10000000"], ["b", "|V10000000"]],
    ],
    "/0": [[["a"]], [["a", "<i4", [1], 1]], [{"name": "a"}], [[1, "<i4"]]],
    "/1/0": [[["a", "<i4"], ["a", "<i4"]]],
    "/0/1": [[["a", "|O"]]],
    "/0/1/0/1": [[["a", [["b", "<q9"]]]]],
    "/0/2": [[["a", "<i4", 2]], [["a", "<i4", [0]]], [["a", "<i4", [2**60]]]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("pointer", "value"), [(pointer, value) for pointer in REFUSED for value in REFUSED[pointer]]
)
def test_invalid_data_type_error_has_pointer(pointer, value):
    with pytest.raises(MetadataValidationError) as caught:
        read_dtype(value, "/here")
    assert caught.value.problems[0].pointer == "/here" + pointer
    assert len(str(caught.value)) < 1000


def test_a_missing_byte_order_is_pointed_out():
    with pytest.raises(MetadataValidationError, match="must be given: '<i4'"):
        read_dtype("i4")


def test_all_problems_are_reported():
    with pytest.raises(MetadataValidationError) as caught:
        read_dtype([["a", "i4"], ["b", "<f8"], [1, "<f8"], ["b", "|O"]])
    assert [p.pointer for p in caught.value.problems] == ["/dtype/0/1", "/dtype/2", "/dtype/3/1"]


@pytest.mark.parametrize(
    "definition",
    [
        ExtensionDefinition("bfloat16"),
        ExtensionDefinition("r12"),
        ExtensionDefinition("numpy.datetime64", {"unit": "generic", "scale_factor": 1}),
        ExtensionDefinition("v2.subarray", {"data_type": "int8", "shape": [2]}),
        ExtensionDefinition("struct", {"fields": [{"name": "a", "data_type": "string"}]}),
        ExtensionDefinition("struct", {"fields": [{"name": "a", "data_type": "int4"}]}),
        ExtensionDefinition("raw_bytes"),
        ExtensionDefinition("null_terminated_bytes", {"length_bytes": 2**30}),
    ],
)
def test_data_types_without_typestr(definition):
    with pytest.raises(ValueError, match=r"."):
        write_dtype(definition, "little")


def test_the_older_form_of_fields():
    definition = ExtensionDefinition("structured", {"fields": [["a", "int16"], ["b", "uint8"]]})
    assert write_dtype(definition, "big") == [["a", ">i2"], ["b", "|u1"]]
    assert write_dtype(ExtensionDefinition("raw_bytes", {"length_bytes": 5}), None) == "|V5"


@settings(max_examples=60)
@given(st.recursive(simple, fields, max_leaves=6))
def test_sizes_match_numpy_and_round_trip(value):
    dtype = read_dtype(value)
    assert dtype.item_size == dtype.numpy_dtype().itemsize <= LARGEST
    # The data type of version 3 has the same memory layout.
    data_type = create_extension("data_type", dtype.data_type)
    assert data_type.item_size == dtype.item_size
    if dtype.byte_order != "mixed":
        written = write_dtype(dtype.data_type, dtype.byte_order)
        assert read_dtype(written).numpy_dtype() == dtype.numpy_dtype()
        assert read_dtype(written).data_type == dtype.data_type
        assert data_type.numpy_dtype.newbyteorder(dtype.byte_order or "=") == dtype.numpy_dtype()


@pytest.mark.parametrize("distinct", [True, False])
def test_reading_many_fields_takes_linear_time(distinct):
    def fields(count):
        return [[f"f{number if distinct else number // 2}", "|i1"] for number in range(count)]

    def read(value):
        if distinct:
            return read_dtype(value)
        with pytest.raises(MetadataValidationError, match="and [0-9,]* more"):
            read_dtype(value)
        return None

    assert growth(fields, read, 2000) < LIMIT
