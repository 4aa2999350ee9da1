"""Conversion between configurations of numcodecs and codecs of version 3."""

import pytest
from zarr_core.extension import ExtensionDefinition, Location, create_extension
from zarr_formats.codec_ids import KINDS, config, definition


@pytest.mark.parametrize("name", sorted(set(KINDS) - {"pickle"}))
def test_every_id_names_a_codec_that_is_installed(name):
    members = {
        "delta": {"dtype": "<f8"},
        "fixedscaleoffset": {"scale": 1, "offset": 0, "dtype": "<f8"},
        "quantize": {"digits": 1, "dtype": "<f8"},
        "bitround": {"keepbits": 1},
        "astype": {"encode_dtype": "<f4", "decode_dtype": "<f8"},
        "categorize": {"labels": ["a"], "dtype": "|O"},
        "vlen-array": {"dtype": "<i4"},
    }.get(name, {})
    codec = definition({"id": name, **members})
    made = create_extension("codec", codec, Location("here", pointer="/codecs/0"))
    kind = ("ArrayToArrayCodec", "ArrayToBytesCodec", "BytesToBytesCodec")[KINDS[name]]
    assert kind in [base.__name__ for base in type(made).__mro__]
    assert config(codec)["id"] == name


def test_defaults_of_numcodecs_are_filled_in():
    assert definition({"id": "blosc"}, 4).configuration == {
        "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0,
    }  # fmt: skip
    assert definition({"id": "gzip"}).configuration == {"level": 1}
    assert definition({"id": "zstd"}).configuration == {"level": 1, "checksum": False}


def test_members_that_frames_do_not_need_are_omitted():
    assert definition({"id": "gzip", "level": 5, "useZlib": False}).configuration == {"level": 5}


def test_a_typesize_that_is_given_counts():
    assert definition({"id": "blosc", "typesize": 2}, 8).configuration["typesize"] == 2


def test_levels_that_version_3_does_not_have():
    assert definition({"id": "gzip", "level": -1}).name == "numcodecs.gzip"


@pytest.mark.parametrize("name", ["acme.xor", "zlib", "sharding_indexed", "n5.block"])
def test_codecs_that_numcodecs_does_not_have(name):
    with pytest.raises(ValueError, match="version 2 has no codec"):
        config(ExtensionDefinition(name))


def test_the_shuffle_of_netcdf_c_goes_by_the_size_of_elements():
    assert definition({"id": "shuffle", "elementsize": 0}, 8).configuration == {"elementsize": 8}
    assert definition({"id": "shuffle", "elementsize": 4}, 8).configuration == {"elementsize": 4}
    assert definition({"id": "shuffle"}, 8).configuration == {}
