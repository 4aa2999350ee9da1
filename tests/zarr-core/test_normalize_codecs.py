"""Codecs as arguments, in addition to test_create.py."""

from dataclasses import dataclass

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.data_types.integer import Integer
from zarr_core.errors import CodecChainError
from zarr_core.extension import ExtensionDefinition
from zarr_core.normalize import codecs as normalize_codecs
from zarr_core.normalize.definitions import parse_definition

INT32 = Integer("int32")
ZSTD = ExtensionDefinition("zstd", {"level": 0, "checksum": True})


def names(definitions):
    return [definition.name for definition in definitions]


@pytest.mark.filterwarnings("ignore:.*not compressed")
def test_defaults_of_new_arrays():
    chain = normalize_codecs.parse_codec_chain("auto", "auto", "auto", "big", INT32)
    assert chain == [ExtensionDefinition("bytes", {"endian": "big"}), ZSTD]
    with zarr.config.set(disabled_plugins={"*"}):
        assert names(normalize_codecs.parse_codec_chain("auto", "auto", "auto", None, INT32)) == [
            "bytes"
        ]
        array = zarr.create_array(data=np.arange(3))
        assert array.compressors == ()


def test_a_filter_that_gives_bytes_takes_the_place_of_the_serializer():
    filters = ["transpose", {"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"]
    chain = normalize_codecs.parse_codec_chain(filters, "auto", ["gzip"], "little", INT32)
    assert names(chain) == ["transpose", "bytes", "crc32c", "gzip"]
    assert chain[1].configuration == {"endian": "big"}
    # An unknown codec is not a serializer; creating the chain raises the error.
    chain = normalize_codecs.parse_codec_chain(["nobody.knows"], "auto", None, None, INT32)
    assert names(chain) == ["nobody.knows", "bytes"]
    with pytest.raises(CodecChainError, match="exactly one array -> bytes"):
        zarr.create_array(shape=4, dtype="i4", filters="bytes", serializer="bytes")


@dataclass
class Numcodec:
    """A codec of numcodecs."""

    config: dict

    def get_config(self):
        return self.config


class Wrapped(Numcodec):
    """A codec of numcodecs in zarr-python, with both forms of configuration."""

    def to_dict(self):
        return {"name": "numcodecs.lz4", "configuration": {"acceleration": 2}}


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
    assert normalize_codecs.parse_codec(Numcodec(config)) == expected
    assert normalize_codecs.parse_codec(config) == expected


def test_entry_point_of_another_library_takes_precedence():
    assert normalize_codecs.parse_codec(Wrapped({"id": "lz4"})).configuration == {"acceleration": 2}


class Described:
    def to_definition(self):
        return ZSTD


def test_definitions():
    assert parse_definition(Described(), "codec") is ZSTD
    assert parse_definition(ZSTD, "codec") is ZSTD
    assert parse_definition("zstd", "codec") == ExtensionDefinition("zstd")
    given = {"name": "a", "configuration": {"order": (1, np.int8(0))}, "must_understand": False}
    made = parse_definition(given, "codec")
    assert (made.configuration, made.must_understand) == ({"order": [1, 0]}, False)
    assert normalize_codecs.parse_codec(BytesCodec("big")).configuration == {"endian": "big"}
    for bad in (None, 5, {}, {"name": None}, {"name": "x", "level": 1}, []):
        with pytest.raises(CodecChainError, match="codec"):
            normalize_codecs.parse_codec(bad)
