"""The kits put what is registered to the cases of its text."""

import zarr_core as zarr
from zarr_conformance.kit import BytesToBytesCodecTests
from zarr_conformance.kit.specification import broken_cases, cases_of
from zarr_core.extension import ExtensionDefinition, create_extension

ZSTD = type(create_extension("codec", ExtensionDefinition("zstd", {"level": 1})))


class Wrong(ZSTD):
    """Gives the bytes of a chunk in reverse order; no schema says that it takes a level."""

    def decode_into(self, data, out):
        super().decode_into(data, out)
        out[:] = bytes(out)[::-1]


def test_a_wrong_codec_breaks_cases_of_its_text():
    assert broken_cases("codec", "zstd") == {}
    with zarr.override_extensions({"codec": {"zstd": Wrong}}):
        broken = broken_cases("codec", "zstd")
    assert "ext-codecs/zstd/level-1" in broken
    assert "ext-codecs/zstd/no-level-left-out" in broken
    assert "ext-codecs/zstd/no-level-23" not in broken


def test_names_have_their_cases():
    assert len(cases_of("codec", "gzip")) > 10
    assert len(cases_of("data_type", "bfloat16")) > 10
    assert len(cases_of("chunk_grid", "rectilinear")) > 50
    assert cases_of("codec", "acme.xor") == []


class TestZstd(BytesToBytesCodecTests):
    name = "zstd"
    configurations = ({"level": 1},)
    examples = 2
