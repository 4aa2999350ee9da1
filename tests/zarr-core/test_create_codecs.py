"""Creating arrays with all forms of codecs, chunks and shards."""

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.chunk_grids import RegularGrid
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.errors import (
    CodecChainError,
    ExtensionConfigurationError,
    ExtensionError,
    MetadataValidationError,
    UnknownExtensionError,
)
from zarr_core.extension import BytesToBytesCodec, ExtensionDefinition
from zarr_core.normalize.codecs import parse_codec


def document(array):
    prefix = f"{array.path}/" if array.path else ""
    return json.loads(bytes(array.store.get(f"{prefix}zarr.json")))


# --- codecs ---


def codec_names(array):
    return [codec["name"] for codec in document(array)["codecs"]]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_default_compressors_are_a_setting(zarr_format):
    def names(**options):
        array = zarr.create_array(shape=9, zarr_format=zarr_format, **options)
        return [codec.name for codec in array.metadata.codecs[1:]]

    usual = names()
    for setting, expected in (
        ("gzip", ["gzip"]), (zarr.codec("gzip", level=9), ["gzip"]), (None, []), ("auto", usual),
    ):  # fmt: skip
        with zarr.config.set(default_compressors=setting):
            assert names() == names(compressors="auto") == names(metadata={}) == expected
            assert names(compressors="zstd") == ["zstd"]
            assert names(compressors=None) == names(metadata={"codecs": ["bytes"]}) == []
    with zarr.config.set(default_compressors="missing"), pytest.raises(UnknownExtensionError):
        names()
    assert names() == usual


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("zstd", ["bytes", "zstd"]), (["zstd"], ["bytes", "zstd"]), (None, ["bytes"]),
        ((), ["bytes"]), (False, ["bytes"]), ("auto", ["bytes", "zstd"]),
        ({"name": "gzip", "configuration": {"level": 3}}, ["bytes", "gzip"]),
        (ExtensionDefinition("gzip", {"level": 3}), ["bytes", "gzip"]),
        (["gzip", {"name": "crc32c"}], ["bytes", "gzip", "crc32c"]),
        ({"id": "unheard", "level": 1}, None),
        ({"id": "gzip", "level": 1}, ["bytes", "gzip"]),
        (iter(["crc32c"]), ["bytes", "crc32c"]),
    ],
)  # fmt: skip
def test_compressors(given, expected):
    if expected is None:
        with pytest.raises(UnknownExtensionError, match=r"numcodecs\.unheard"):
            zarr.create_array(shape=2, compressors=given)
        return
    assert codec_names(zarr.create_array(shape=2, compressors=given)) == expected


def test_only_arguments_of_a_codec_are_its_configuration():
    @dataclass(frozen=True)
    class Plain(BytesToBytesCodec):
        level: int = 3
        table: ClassVar = print
        seen: int = field(default=0, init=False)

        def encode(self, data, decoded_size):
            return bytes(data)

        def decode(self, data, decoded_size):
            return bytes(data)

    with zarr.override_extensions({"codec": {"plain": Plain}}):
        array = zarr.create_array(shape=2, compressors="plain")
    assert document(array)["codecs"][1]["configuration"] == {"level": 3}


def test_a_codec_without_a_configuration_is_rejected():
    class Silent(BytesToBytesCodec):
        def __init__(self, level):
            self.level = level

        def encode(self, data, decoded_size):
            return data

        def decode(self, data, decoded_size):
            return data

    with (
        zarr.override_extensions({"codec": {"acme.silent": Silent}}),
        pytest.raises(
            CodecChainError, match="Silent does not define its configuration: use a data"
        ),
    ):
        zarr.create_array(shape=3, compressors=Silent(3))


def test_codecs_of_numcodecs():
    numcodecs = pytest.importorskip("numcodecs")
    array = zarr.create_array(
        data=np.arange(100, dtype="int32"),
        compressors=numcodecs.Blosc("lz4", 5, numcodecs.Blosc.BITSHUFFLE),
    )
    configuration = document(array)["codecs"][1]["configuration"]
    assert configuration == {
        "cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0,
    }  # fmt: skip
    auto = zarr.create_array(shape=4, dtype="int16", compressors=[numcodecs.Blosc()])
    assert document(auto)["codecs"][1]["configuration"]["typesize"] == 2
    zstd = zarr.create_array(shape=4, compressors=numcodecs.Zstd(level=7))
    assert document(zstd)["codecs"][1]["configuration"]["level"] == 7
    assert array[...].tolist() == list(range(100))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"id": "gzip", "level": np.int64(3)}, ExtensionDefinition("gzip", {"level": 3})),
        ({"id": "delta", "dtype": "<i4"}, ExtensionDefinition("numcodecs.delta", {"dtype": "<i4"})),
        (
            {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 0, "blocksize": 0},
            ExtensionDefinition(
                "blosc", {"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0}
            ),
        ),
        ({"id": "blosc", "shuffle": -1}, ExtensionDefinition("blosc", {})),
        ({"id": "blosc"}, ExtensionDefinition("blosc", {})),
    ],
)
def test_numcodecs(config, expected):
    assert parse_codec(SimpleNamespace(get_config=lambda: config)) == expected
    assert parse_codec(config) == expected


def test_entry_point_of_another_library_takes_precedence():
    of_zarr_python = {"name": "numcodecs.lz4", "configuration": {"acceleration": 2}}
    both = SimpleNamespace(get_config=lambda: {"id": "lz4"}, to_dict=lambda: of_zarr_python)
    assert parse_codec(both).configuration == {"acceleration": 2}


class OtherLibrarys:
    """An extension object of zarr-python."""

    def __init__(self, name, **configuration):
        self.document = {"name": name, "configuration": configuration}

    def to_dict(self):
        return self.document


def test_extensions_of_another_library():
    array = zarr.create_array(
        data=np.arange(6).reshape(2, 3),
        filters=OtherLibrarys("transpose", order=(1, 0)),
        serializer=OtherLibrarys("bytes", endian="big"),
        compressors=[OtherLibrarys("gzip", level=1)],
        chunk_key_encoding=OtherLibrarys("v2", separator="."),
    )
    assert codec_names(array) == ["transpose", "bytes", "gzip"]
    assert document(array)["codecs"][0]["configuration"] == {"order": [1, 0]}
    np.testing.assert_array_equal(zarr.open(array.store)[...], np.arange(6).reshape(2, 3))


def test_filters_and_serializer():
    array = zarr.create_array(
        shape=(4, 2),
        dtype="int16",
        filters=[{"name": "transpose", "configuration": {"order": [1, 0]}}],
        serializer=BytesCodec("big"),
        compressors=None,
    )
    assert codec_names(array) == ["transpose", "bytes"]
    assert [type(codec).__name__ for codec in array.filters] == ["Transpose"] or array.filters
    assert array.serializer == BytesCodec("big")
    assert array.compressors == ()
    assert [d.name for d in array.codecs] == ["transpose", "bytes"]
    again = zarr.create_array(
        shape=(4, 2), dtype="int16", filters=array.filters, serializer=array.serializer,
        compressors=array.compressors,
    )  # fmt: skip
    assert document(again)["codecs"] == document(array)["codecs"]
    assert codec_names(zarr.create_array(shape=1, serializer=None, compressors=None)) == ["bytes"]


def test_a_filter_that_gives_bytes_takes_the_place_of_the_serializer():
    transpose = {"name": "transpose", "configuration": {"order": (1, np.int8(0))}}
    array = zarr.create_array(
        shape=(4, 2), dtype="int16", filters=[transpose, BytesCodec("big"), "crc32c"],
        compressors={"name": "gzip", "must_understand": False},
    )  # fmt: skip
    assert codec_names(array) == ["transpose", "bytes", "crc32c", "gzip"]
    assert array.codecs[0].configuration == {"order": [1, 0]}
    assert array.codecs[1].configuration == {"endian": "big"}
    assert not array.codecs[3].must_understand
    # An unknown codec is not a serializer.
    with pytest.raises(UnknownExtensionError, match=r"nobody\.knows"):
        zarr.create_array(shape=4, filters=["nobody.knows"])
    with pytest.raises(CodecChainError, match="exactly one array -> bytes"):
        zarr.create_array(shape=4, filters="bytes", serializer="bytes")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"compressors": 5}, CodecChainError, "5 is not a codec"),
        ({"compressors": {"level": 5}}, CodecChainError, "needs a name"),
        ({"compressors": {"name": "gzip", "level": 5}}, CodecChainError, "unknown members: level"),
        ({"compressors": [None]}, CodecChainError, "None is not a codec"),
        ({"serializer": BytesCodec}, CodecChainError, "BytesCodec is a class; pass an object"),
        ({"compressors": "nope"}, UnknownExtensionError, "codec called 'nope'"),
        ({"filters": ["gzip", {"name": "transpose", "configuration": {"order": [0]}}],
          "compressors": None}, CodecChainError, "array -> array"),
        ({"serializer": "gzip"}, CodecChainError, "exactly one"),
        (
            {"compressors": {"name": "gzip", "configuration": {"level": 99}}},
            ExtensionConfigurationError,
            "/codecs/1/configuration/level",
        ),
        ({"serializer": {"name": "bytes", "configuration": {"endian": "up"}}},
         ExtensionError, "endian"),
        ({"filters": {"name": "transpose", "configuration": {"order": [1, 0]}}},
         ExtensionError, "transpose"),
    ],
)  # fmt: skip
def test_codecs_that_do_not_do(options, error, message):
    store = CountingStore(zarr.MemoryStore())
    with pytest.raises((error, CodecChainError), match=message):
        zarr.create_array(store, shape=2, **options)
    assert not store.count("set", "update")


# --- chunks, shards ---


def test_shards_may_say_where_their_index_is():
    array = zarr.create_array(
        shape=(8, 8), chunks=2, shards={"shape": 4, "index_location": "start"}, compressors="gzip"
    )
    assert (array.chunks, array.shards) == ((2, 2), (4, 4))
    assert document(array)["codecs"][0]["configuration"]["index_location"] == "start"
    assert [type(codec).__name__.lower()[:4] for codec in array.compressors] == ["gzip"]
    for shards, message in (
        ({"index_location": "start"}, "needs a shape"),
        ({"shape": 4, "where": 1}, "needs a shape, and may have"),
        (3, "not multiples of chunks"),
    ):
        with pytest.raises(ValueError, match=message):
            zarr.create_array(shape=(8, 8), chunks=2, shards=shards)
    with pytest.raises(ExtensionConfigurationError, match="index_location"):
        zarr.create_array(shape=8, chunks=2, shards={"shape": 4, "index_location": "middle"})


def test_a_chunk_grid_may_be_given_by_its_definition():
    grid = {"name": "regular", "configuration": {"chunk_shape": [3]}}
    for given in (grid, ExtensionDefinition("regular", {"chunk_shape": [3]}), RegularGrid((3,))):
        assert zarr.create_array(shape=8, chunks=given).chunks == (3,)
    with pytest.raises(ValueError, match="shards cannot be combined with a chunk grid"):
        zarr.create_array(shape=8, chunks=grid, shards=6)
    with pytest.raises(ValueError, match="does not name a chunk grid"):
        zarr.create_array(shape=8, chunks={"chunk_shape": [3]})
    with pytest.raises(UnknownExtensionError, match="chunk grid called 'rhombic'"):
        zarr.create_array(shape=8, chunks={"name": "rhombic"})
    with pytest.raises((MetadataValidationError, ExtensionError), match="/chunk_grid"):
        zarr.create_array(shape=(8, 8), chunks=grid)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_an_integer_with_a_fraction_of_zero_is_stored_as_an_integer(zarr_format, name):
    """Validators of JSON Schema accept 5.0 as an integer, other readers may not."""
    options = {"checksum": False} if name == "zstd" else {}
    store = zarr.MemoryStore()
    codec = zarr.codec(name, level=5.0, **options)
    zarr.create_array(store, shape=4, dtype="i4", compressors=codec, zarr_format=zarr_format)
    document = store.get("zarr.json" if zarr_format == 3 else ".zarray")
    assert b"5.0" not in document
    assert zarr.open_array(store).compressors[0].level == 5
