"""Configuration of the codec."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import zarr_core
from zarr_core.engine.chain import CodecChain
from zarr_core.errors import CodecChainError, ExtensionConfigurationError
from zarr_core.extension import (
    BasicIndexer,
    BufferByteReader,
    ExtensionDefinition,
    create_extension,
)
from zarr_sharding.codec import ShardingCodec

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
INDEX = [BYTES, {"name": "crc32c"}]


def configuration(**changes):
    return {"chunk_shape": [2, 2], "codecs": [BYTES], "index_codecs": INDEX} | changes


def make(**changes):
    return create_extension(
        "codec", ExtensionDefinition("sharding_indexed", configuration(**changes))
    )


def test_unknown_inner_codec_with_must_understand_false_is_ignored():
    unknown = {"name": "acme.none", "must_understand": False}
    codec = make(codecs=[BYTES, unknown])
    assert [it.name for it in codec.ignored] == ["acme.none"]
    assert codec.to_configuration()["codecs"][1] == unknown
    # A chain with such a shard reports it, so that the array is read-only.
    outer = {"name": "sharding_indexed", "configuration": configuration(codecs=[BYTES, unknown])}
    chain = CodecChain.from_definitions([ExtensionDefinition.from_json(outer)])
    assert [it.name for it in chain.ignored] == ["acme.none"]


def test_invalid_inner_configuration_raises_even_if_must_understand_is_false():
    bad = {"name": "gzip", "configuration": {"level": 99}, "must_understand": False}
    with pytest.raises(ExtensionConfigurationError):
        make(codecs=[BYTES, bad])


def test_resolve_records_what_depends_on_the_inner_chunk(rep):
    codec = ShardingCodec((2, 2), ["bytes", "blosc"]).complete(rep((4, 4), "float64"))
    blosc = codec.to_configuration()["codecs"][1]
    assert blosc["configuration"]["typesize"] == 8
    assert codec.to_configuration()["codecs"][0]["configuration"]["endian"] in ("little", "big")


def test_codecs_may_be_given_in_any_form(rep):
    forms = [
        "bytes",
        BYTES,
        ExtensionDefinition("bytes", {"endian": "little"}),
        create_extension("codec", ExtensionDefinition("bytes", {"endian": "little"})),
    ]
    decoded = rep((4, 4))
    stored = {
        b"".join(
            ShardingCodec((2, 2), [form]).complete(decoded).encode(np.ones((4, 4), "i4"), decoded)
        )
        for form in forms
    }
    assert len(stored) == 1


@pytest.mark.parametrize("length", [0, -1, True, 1.5, "2"])
def test_constructor_rejects_invalid_values(length):
    with pytest.raises(ValueError, match="at least 1"):
        ShardingCodec((length, 2))
    with pytest.raises(ValueError, match="index_location"):
        ShardingCodec((2, 2), index_location="middle")


def test_constructor_takes_numpy_integers():
    codec = ShardingCodec(np.array([2, 3]))
    assert codec.chunk_shape == (2, 3)
    assert json.dumps(codec.to_configuration())


def test_codec_pickles_also_after_use(rep):
    codec, decoded = make(), rep((4, 4))
    data = b"".join(codec.encode(np.ones((4, 4), np.int32), decoded))
    again = pickle.loads(pickle.dumps(codec))
    assert again == codec
    assert (again.decode(data, decoded) == 1).all()


# --- errors when an array is opened or created ---


def refused(codec, decoded):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the test looks at the message
        codec.check(decoded)
    return str(caught.value)


def test_compressed_index_error_names_the_codec(rep):
    gzip = {"name": "gzip", "configuration": {"level": 1}}
    message = refused(make(index_codecs=[BYTES, gzip, "crc32c"]), rep((4, 4)))
    assert "'gzip'" in message
    assert "crc32c'" not in message


def test_sharded_index_is_rejected(rep):
    inner = {"name": "sharding_indexed", "configuration": configuration(chunk_shape=[1, 1, 1])}
    assert "sharding_indexed" in refused(make(index_codecs=[inner]), rep((4, 4)))


def test_inner_bytes_codec_needs_a_byte_order(rep):
    with pytest.raises(CodecChainError, match="endian"):
        make(codecs=["bytes"]).check(rep((4, 4), "int32"))
    make(codecs=["bytes"]).check(rep((4, 4), "uint8"))


def test_chain_of_inner_chunk_is_known_to_the_array(rep):
    decoded = rep((4, 6), "float32", 7.5)
    inner = make().inner_codecs(decoded)
    assert inner.decoded.shape == (2, 2)
    assert inner.decoded.fill_value == 7.5


def test_zero_dimensional_shard(rep):
    decoded = rep((), "int16", 3)
    codec = ShardingCodec((), [BYTES])
    data = b"".join(codec.encode(np.array(5, np.int16), decoded))
    assert codec.decode(data, decoded)[()] == 5
    assert codec.encode(np.array(3, np.int16), decoded) is None
    out = np.zeros((), np.int16)
    codec.partial_decode(BufferByteReader(data), decoded, BasicIndexer(()), out)
    assert out[()] == 5
    data = b"".join(
        codec.partial_encode(
            BufferByteReader(data), decoded, BasicIndexer(()), np.array(9, np.int16)
        )
    )
    assert codec.decode(data, decoded)[()] == 9


# --- arguments of new arrays ---


@pytest.mark.parametrize(
    ("members", "chunk_shape", "codecs", "index"),
    [
        ({}, [4, 6], ["bytes"], ["bytes", "crc32c"]),
        ({"chunk_shape": [2, 3]}, [2, 3], ["bytes"], ["bytes", "crc32c"]),
        ({"codecs": ["gzip"]}, [4, 6], ["bytes", "gzip"], ["bytes", "crc32c"]),
        (
            {"codecs": [{"name": "transpose", "configuration": {"order": "F"}}, "gzip"]},
            [4, 6], ["transpose", "bytes", "gzip"], ["bytes", "crc32c"],
        ),
        ({"index_codecs": ["crc32c"]}, [4, 6], ["bytes"], ["bytes", "crc32c"]),
        (
            {"codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1]}}]},
            [4, 6], ["sharding_indexed"], ["bytes", "crc32c"],
        ),
    ],
)  # fmt: skip
def test_a_new_array_completes_the_configuration(members, chunk_shape, codecs, index):
    serializer = {"name": "sharding_indexed", "configuration": members}
    array = zarr_core.create_array(
        shape=(8, 12), chunks=(4, 6), dtype="int16", serializer=serializer, compressors=None
    )
    (sharding,) = json.loads(bytes(array.store.get("zarr.json")))["codecs"]
    found = sharding["configuration"]
    names = {
        key: [item if isinstance(item, str) else item["name"] for item in found[key]]
        for key in ("codecs", "index_codecs")
    }
    assert found["chunk_shape"] == chunk_shape
    assert names == {"codecs": codecs, "index_codecs": index}
    array[...] = np.arange(96).reshape(8, 12)
    again = zarr_core.open_array(array.store)
    np.testing.assert_array_equal(again[...], np.arange(96).reshape(8, 12))


def test_the_default_serializer_is_that_of_the_data_type():
    array = zarr_core.create_array(
        shape=4, chunks=2, dtype="string", serializer="sharding_indexed", compressors=None
    )
    assert array.serializer.to_configuration() == {}
    assert array.metadata.codecs[0].configuration["codecs"][0]["name"] == "vlen-utf8"
