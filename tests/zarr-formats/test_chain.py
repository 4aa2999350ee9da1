"""Conversion between order, filters and compressor of version 2 and codecs of version 3."""

import pytest
from zarr_core.extension import ArrayMetadata, ExtensionDefinition, MetadataValidationError
from zarr_formats.chain import object_codec, read_chain, write_chain, write_stored_dtype
from zarr_formats.typestr import read_dtype

ZLIB = {"id": "zlib", "level": 1}
LITTLE = ("bytes", {"endian": "little"})


def read(dtype="<f8", filters=None, compressor=None, order="C", ndim=2):
    dtype = read_dtype(dtype, object_codec=object_codec(filters, compressor))
    codecs = read_chain(dtype, order, ndim, filters, compressor)
    return [(codec.name, dict(codec.configuration)) for codec in codecs]


def metadata(*codecs, data_type="float64", ndim=2):
    return ArrayMetadata(
        shape=(4,) * ndim,
        data_type=ExtensionDefinition(data_type),
        chunk_grid=ExtensionDefinition("regular", {"chunk_shape": [2] * ndim}),
        chunk_key_encoding=ExtensionDefinition("v2"),
        codecs=tuple(ExtensionDefinition(*codec) for codec in codecs),
        fill_value=0,
    )


def as_before(dtype, *configs):
    return [("v2.filters", {"dtype": dtype, "codecs": list(configs)})]


# --- reading ---


def test_nothing_but_elements():
    assert read() == [LITTLE]
    assert read(filters=[]) == [LITTLE]
    assert read(">f8") == [("bytes", {"endian": "big"})]
    assert read("|b1") == read("|S5") == read([["a", "|u1"]]) == [("bytes", {})]


def test_order():
    assert read(order="F", ndim=3) == [("transpose", {"order": [2, 1, 0]}), LITTLE]
    assert read(order="F", ndim=1) == read(order="F", ndim=0) == [LITTLE]


@pytest.mark.parametrize(
    ("dtype", "config", "endian"),
    [
        ("<f8", {"id": "delta", "dtype": "<f8"}, "little"),
        ("<f8", {"id": "delta", "dtype": "<f8", "astype": ">f4"}, "big"),
        (
            ">f8",
            {"id": "fixedscaleoffset", "scale": 1, "offset": 0, "dtype": ">f8", "astype": "<i2"},
            "little",
        ),
        ("<f8", {"id": "quantize", "digits": 1, "dtype": "<f8", "astype": ">f4"}, "big"),
        ("<f8", {"id": "astype", "decode_dtype": "<f8", "encode_dtype": ">f4"}, "big"),
        (">f4", {"id": "bitround", "keepbits": 3}, "big"),
        ("|b1", {"id": "packbits"}, None),
        ("<U4", {"id": "categorize", "labels": ["a"], "dtype": "<U4", "astype": ">u2"}, "big"),
        ("|O", {"id": "categorize", "labels": ["a"], "dtype": "|O"}, None),
        ("<M8[ns]", {"id": "delta", "dtype": "<i8"}, "little"),
        # Other spellings of types that numcodecs accepts.
        ("<f8", {"id": "delta", "dtype": "f8"}, "little"),
        ("<f8", {"id": "delta", "dtype": "float64"}, "little"),
        ("|u1", {"id": "delta", "dtype": "u1"}, None),
    ],
)
def test_bytes_have_the_byte_order_that_the_last_filter_gives(dtype, config, endian):
    *_, last = read(dtype, [config])
    assert last == ("bytes", {} if endian is None else {"endian": endian})


@pytest.mark.parametrize("name", ["vlen-utf8", "vlen-bytes"])
def test_object_codecs_take_the_place_of_bytes(name):
    assert read("|O", [{"id": name}], ZLIB) == [(name, {}), ("numcodecs.zlib", {"level": 1})]


def test_blosc_shuffles_by_what_it_is_given():
    def blosc(*args, shuffle=1, **kwargs):
        *_, (name, configuration) = read(
            *args, compressor={"id": "blosc", "shuffle": shuffle}, **kwargs
        )
        assert name == "blosc"
        return configuration["shuffle"], configuration["typesize"]

    assert blosc("<f4") == ("shuffle", 4)
    assert blosc("<U3") == ("shuffle", 12)
    assert blosc("|S300") == ("shuffle", 1)
    assert blosc("<f4", shuffle=0) == ("noshuffle", 4)
    assert blosc("<f4", shuffle=2) == ("bitshuffle", 4)
    assert blosc("<f4", shuffle=-1) == ("shuffle", 4)
    assert blosc("|u1", shuffle=-1) == ("bitshuffle", 1)
    assert blosc("<f8", [{"id": "delta", "dtype": "<f8", "astype": "<f4"}]) == ("shuffle", 4)
    assert blosc("<f8", [{"id": "crc32"}]) == ("shuffle", 1)
    assert blosc("|O", [{"id": "vlen-utf8"}]) == ("shuffle", 1)


AS_BEFORE = [
    # The filter expects little-endian, but the elements are big-endian; version 2 still applies it.
    (">f8", [{"id": "delta", "dtype": "<f8"}]),
    ("<i8", [{"id": "delta", "dtype": "<u8"}]),
    # Compressed before the filter.
    ("<f8", [{"id": "zlib", "level": 1}, {"id": "delta", "dtype": "|u1"}]),
    # Two codecs from arrays to bytes.
    ("|O", [{"id": "json2"}, {"id": "vlen-bytes"}]),
    # Unknown.
    ("<f8", [{"id": "acme"}]),
    ("<f8", [{"id": "base64"}]),
    # Fields with two byte orders.
    ([["a", "<i4"], ["b", ">i4"]], []),
    # Filters without input types, or with unknown ones.
    ("<f8", [{"id": "delta"}]),
    ("<f8", [{"id": "delta", "dtype": "float99"}]),
]


@pytest.mark.parametrize(("dtype", "filters"), AS_BEFORE)
def test_arguments_without_version_3_form_are_unchanged(dtype, filters):
    assert read(dtype, filters) == as_before(dtype, *filters)
    assert read(dtype, filters, ZLIB) == as_before(dtype, *filters, ZLIB)
    turned = [("transpose", {"order": [1, 0]})]
    assert read(dtype, filters, ZLIB, order="F") == turned + as_before(dtype, *filters, ZLIB)


UNFIT = [
    ("<f8", {"id": "delta", "dtype": "<i4"}, "/filters/0/dtype"),
    ("<i4", {"id": "delta", "dtype": "<f4"}, "/filters/0/dtype"),
    ("<i4", {"id": "delta", "dtype": "<i2"}, "/filters/0/dtype"),
    (
        "<i4",
        {"id": "astype", "decode_dtype": "<f8", "encode_dtype": "<f4"},
        "/filters/0/decode_dtype",
    ),
    ("<i4", {"id": "packbits"}, "/filters/0"),
]


@pytest.mark.parametrize(("dtype", "config", "pointer"), UNFIT)
def test_filters_for_other_elements_are_rejected(dtype, config, pointer):
    with pytest.raises(MetadataValidationError) as caught:
        read(dtype, [config])
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_the_second_filter_is_given_what_the_first_gives():
    first = {"id": "delta", "dtype": "<f8", "astype": "<f4"}
    assert len(read(filters=[first, {"id": "delta", "dtype": "<f4"}])) == 3
    with pytest.raises(MetadataValidationError, match="/filters/1/dtype"):
        read(filters=[first, first])


@pytest.mark.parametrize(
    ("filters", "compressor", "pointer"),
    [(None, None, "/filters"), (None, ZLIB, "/compressor"), ([ZLIB], None, "/filters/0")],
)
def test_objects_need_a_codec(filters, compressor, pointer):
    with pytest.raises(MetadataValidationError) as caught:
        read("|O", filters, compressor)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


@pytest.mark.parametrize(
    ("dtype", "filters", "compressor"),
    [
        ("|O", [{"id": "pickle", "protocol": 5}], ZLIB),
        ("|O", [{"id": "vlen-utf8"}, {"id": "pickle"}], None),
        ("<i4", [{"id": "pickle"}], None),
        ("<i4", [{"id": "acme"}], {"id": "pickle"}),
    ],
)
def test_pickle_is_never_hidden_within_another_codec(dtype, filters, compressor):
    assert "numcodecs.pickle" in dict(read(dtype, filters, compressor))


# --- writing ---


@pytest.mark.parametrize(
    ("dtype", "filters", "compressor", "order"),
    [
        ("<f8", None, None, "C"),
        ("<f8", None, ZLIB, "F"),
        (
            "<f8",
            None,
            {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
            "C",
        ),
        ("<f8", None, {"id": "zstd", "level": 3}, "C"),
        ("<f8", None, {"id": "gzip", "level": 3}, "C"),
        ("<f8", None, {"id": "zstd", "level": 3, "checksum": True}, "C"),
        (">f8", [{"id": "delta", "dtype": ">f8", "astype": "<f4"}], ZLIB, "F"),
        ("<f8", [{"id": "astype", "decode_dtype": "<f8", "encode_dtype": ">f4"}], None, "C"),
        ("<f8", [{"id": "shuffle", "elementsize": 8}, {"id": "crc32"}], ZLIB, "C"),
        ("|b1", [{"id": "packbits"}], None, "C"),
        (">f4", [{"id": "bitround", "keepbits": 3}], None, "C"),
        ("<f8", None, {"id": "pcodec", "level": 8}, "C"),
        ("|O", [{"id": "vlen-utf8"}], {"id": "zstd", "level": 0}, "C"),
        ("|O", [{"id": "json2", "encoding": "utf-8"}], None, "F"),
        ("|O", [{"id": "categorize", "labels": ["a"], "dtype": "|O", "astype": "|u1"}], None, "C"),
        (">i4", [{"id": "delta", "dtype": "<i4"}], ZLIB, "F"),
        ("<f8", [{"id": "acme"}], None, "C"),
        ([["a", "<i4"], ["b", ">i4"]], None, ZLIB, "F"),
    ],
)
def test_read_metadata_round_trip(dtype, filters, compressor, order):
    read_one = read_dtype(dtype, object_codec=object_codec(filters, compressor))
    codecs = read_chain(read_one, order, 2, filters, compressor)
    array = metadata().replace(data_type=read_one.data_type, codecs=codecs)
    written = write_chain(array)
    assert write_stored_dtype(array) == dtype
    expected = (order, filters, compressor)
    if filters == [{"id": "acme"}]:  # a single codec can also be the compressor
        expected = (order, None, {"id": "acme"})
    assert written == expected
    again = read_dtype(dtype, object_codec=object_codec(*written[1:]))
    assert read_chain(again, written[0], 2, *written[1:]) == codecs


def test_transpose_of_one_dimension_or_none():
    assert write_chain(metadata(("transpose", {"order": [0]}), LITTLE, ndim=1))[0] == "C"
    assert write_chain(metadata(("transpose", {"order": [0, 1]}), LITTLE))[0] == "C"


def test_the_checksum_of_version_3_is_numcodecs():
    _, filters, compressor = write_chain(metadata(LITTLE, ("crc32c", {})))
    assert (filters, compressor) == ([{"id": "crc32c", "location": "end"}], None)


@pytest.mark.parametrize(
    ("codecs", "pointer"),
    [
        ([("transpose", {"order": [1, 2, 0]}), LITTLE], "/codecs/0/configuration/order"),
        ([("sharding_indexed", {"chunk_shape": [1, 1]})], "/codecs/0"),
        ([LITTLE, ("acme.xor", {})], "/codecs/1"),
        (
            [("numcodecs.delta", {"dtype": "<f8"}), ("bytes", {"endian": "big"})],
            "/codecs/1/configuration/endian",
        ),
        (
            [("numcodecs.delta", {"dtype": "<f8"}), ("numcodecs.delta", {"dtype": ">f8"}), LITTLE],
            "/codecs/1/configuration",
        ),
        ([LITTLE, ("transpose", {"order": [1, 0]})], "/codecs/1"),
    ],
)
def test_not_representable_in_version_2(codecs, pointer):
    with pytest.raises(MetadataValidationError) as caught:
        write_chain(metadata(*codecs))
    assert caught.value.problems[0].pointer == pointer


def test_data_types_without_typestr():
    with pytest.raises(MetadataValidationError) as caught:
        write_stored_dtype(metadata(LITTLE, data_type="bfloat16"))
    assert caught.value.problems[0].pointer == "/data_type"
