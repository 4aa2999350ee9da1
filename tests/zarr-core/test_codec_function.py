"""zarr_core.codec: a definition from a name and keyword arguments."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError, UnknownExtensionError

# Codecs with required members.
REQUIRED = {
    "bitround": {"keepbits": 3},
    "cast_value": {"data_type": "int8"},
    "conditional": {"codecs": ["gzip"]},
    "numcodecs.astype": {"encode_dtype": "f4"},
    "numcodecs.bitround": {"keepbits": 3},
    "numcodecs.categorize": {"labels": ["a"], "dtype": "<U1"},
    "numcodecs.delta": {"dtype": "i4"},
    "numcodecs.fixedscaleoffset": {"scale": 2, "offset": 0, "dtype": "f8"},
    "numcodecs.quantize": {"digits": 2, "dtype": "f8"},
    "numcodecs.vlen-array": {"dtype": "i4"},
    "reshape": {"shape": [[0]]},
    "transpose": {"order": (0,)},
    "v2.filters": {"dtype": "|O", "codecs": [{"id": "vlen-utf8"}]},
    "zfp": {"mode": "reversible"},
}
OURS = sorted(
    {
        line.name
        for line in zarr.installed_extensions(load=False, extension_point="codec")
        if line.distribution in ("zarr-codecs", "zarr-core", "zarr-formats", "zarr-sharding")
    }
)


@pytest.mark.parametrize("name", OURS)
def test_every_codec_can_be_created_by_name(name):
    members = REQUIRED.get(name, {})
    definition = zarr.codec(name, **members)
    assert definition.name == name
    assert definition.configuration.keys() == members.keys()
    assert eval(repr(definition)) == definition


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_argument_is_named(name):
    with pytest.raises(ExtensionConfigurationError) as caught:
        zarr.codec(name)
    pointers = {problem.pointer for problem in caught.value.problems}
    assert pointers & {f"/configuration/{member}" for member in REQUIRED[name]}


def test_an_unknown_name_is_rejected_with_similar_names():
    with pytest.raises(UnknownExtensionError, match=r"'gzipp'.*'gzip'"):
        zarr.codec("gzipp", level=9)


@pytest.mark.parametrize(
    ("name", "members", "pointer"),
    [
        ("gzip", {"level": 99}, "/level"),
        ("gzip", {"level": "9"}, "/level"),
        ("gzip", {"level": {9}}, "/level"),
        ("bitround", {"keepbits": float("nan")}, "/keepbits"),
        ("transpose", {"order": (0, 0)}, "/order"),
        (
            "sharding_indexed",
            {"chunk_shape": (2,), "codecs": ["bytes", ExtensionDefinition("gzip", {"level": 12})]},
            "/codecs/1/configuration/level",
        ),
    ],
)
def test_a_wrong_value_is_located(name, members, pointer):
    with pytest.raises(ExtensionConfigurationError) as caught:
        zarr.codec(name, **members)
    assert [
        problem.pointer.removeprefix("/configuration") for problem in caught.value.problems
    ] == [pointer]


def test_values_of_numpy_and_other_forms_of_codecs_become_json():
    numcodecs = pytest.importorskip("numcodecs")
    definition = zarr.codec(
        "sharding_indexed",
        chunk_shape=np.array([2, 3]),
        codecs=(BytesCodec("big"), numcodecs.GZip(3), zarr.codec("zstd", level=np.int64(4))),
    )
    assert definition.configuration == {
        "chunk_shape": [2, 3],
        "codecs": [
            {"name": "bytes", "configuration": {"endian": "big"}},
            {"name": "gzip", "configuration": {"level": 3}},
            {"name": "zstd", "configuration": {"level": 4}},
        ],
    }


def test_it_is_accepted_wherever_codecs_are():
    inner = [zarr.codec("bytes"), zarr.codec("zstd", level=3)]
    values = np.arange(24, dtype="int16").reshape(4, 6)
    array = zarr.create_array(
        data=values,
        chunks=(4, 6),
        filters=zarr.codec("transpose", order=(1, 0)),
        serializer=zarr.codec("sharding_indexed", chunk_shape=(3, 2), codecs=inner),
        compressors=[zarr.codec("gzip", level=9), zarr.codec("crc32c")],
    )
    names = [definition.name for definition in array.metadata.codecs]
    assert names == ["transpose", "sharding_indexed", "gzip", "crc32c"]
    shard = array.metadata.codecs[1].configuration
    assert shard["codecs"][1] == {
        "name": "zstd",
        "configuration": {"level": 3, "checksum": False},
    }
    assert shard["index_codecs"][1] == {"name": "crc32c"}
    np.testing.assert_array_equal(array[:], values)
