"""Alternative providers pass the tests of their codecs and agree with the default provider."""

import json
import os
import subprocess
import sys
import zlib
from importlib.metadata import entry_points
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from zarr_conformance.kit import BytesToBytesCodecTests
from zarr_core.config import config
from zarr_core.extension import (
    ChunkDecodeError,
    ExtensionDefinition,
    create_extension,
)

CONTENT = bytes(range(256)) * 8
USUAL = "zarr-codecs"
ALTERNATIVES = [
    (point.name, f"zarr-codecs[{word}]")
    for word in ("deflate", "fastcrc", "isal")
    for point in entry_points(group=f"zarr_core.codec.{word}")
    if point.value.startswith("zarr_codecs.")
]
ISAL = "zarr-codecs[isal]"
ZLIB = [choice for name, choice in ALTERNATIVES if name == "numcodecs.zlib"]
DEFLATE = [("gzip", ISAL), *(("numcodecs.zlib", choice) for choice in ZLIB)]
MODULES = {f"zarr_codecs.{name}" for name in ("fastcrc", "isal", "libdeflate")}
WBITS = {"gzip": 31, "numcodecs.zlib": 15}


def made(name, choice, **configuration):
    with config.set(providers={f"codec.{name}": choice}):
        return create_extension("codec", ExtensionDefinition(name, configuration), complete=False)


def schema_of(name):
    return json.loads((files("zarr_codecs") / f"schemas/codec/{name}.json").read_text())


def test_schemas_are_found():
    assert len(ALTERNATIVES) == 8


# --- the kit for authors ---


def kit(name, choice):
    @pytest.fixture(autouse=True)
    def _chosen(self):
        with config.set(providers={f"codec.{name}": choice}):
            assert type(self.make({})).__module__ in MODULES
            yield

    given = {"name": name, "examples": 5, "configurations": schema_of(name)["examples"]}
    if name == "numcodecs.zlib":  # an Adler-32 may miss what a wrong code does to few bytes
        given["detects"] = lambda self, chain: False
    return type("Tests", (BytesToBytesCodecTests,), {**given, "_chosen": _chosen})


for _name, _choice in ALTERNATIVES:
    _title = "".join(part.title() for part in f"{_choice[12:-1]}.{_name}".split("."))
    globals()[f"Test{_title}"] = kit(_name, _choice)


# --- beside the usual provider ---


@pytest.mark.parametrize(("name", "choice"), ALTERNATIVES)
def test_both_libraries_read_each_other(name, choice):
    draw = np.random.default_rng(5)
    contents = [b"", b"x", CONTENT, bytes(1 << 20), draw.bytes(70_000), CONTENT * 999]
    for configuration in [{}, *schema_of(name)["examples"]]:
        codecs = [made(name, who, **configuration) for who in (choice, USUAL)]
        assert codecs[0].to_configuration() == codecs[1].to_configuration()
        assert codecs[0].detects_damage == codecs[1].detects_damage
        for content in contents:
            for writer, reader in (codecs, codecs[::-1]):
                encoded = bytes(writer.encode(content, None))
                assert bytes(reader.decode(encoded, len(content))) == content
                assert bytes(reader.decode(encoded, None)) == content
                out = bytearray(len(content))
                reader.decode_into(encoded, memoryview(out))
                assert out == content
        if "32" in name:  # checksums have one encoding only
            assert len({bytes(codec.encode(CONTENT, None)) for codec in codecs}) == 1


@pytest.mark.parametrize(("name", "choice"), ALTERNATIVES)
def test_both_reject_the_same_configurations(name, choice):
    for configuration in ({"level": 10}, {"level": "5"}, {"level": -2}, {"location": "middle"}):
        types = []
        for who in (choice, USUAL):
            with pytest.raises(ValueError, match=name) as caught:
                made(name, who, **configuration)
            types.append(type(caught.value))
        assert types[0] is types[1]


@pytest.mark.parametrize(("name", "choice"), ALTERNATIVES)
def test_damaged_bytes_raise_or_decode_to_the_same_content(name, choice):
    codec = made(name, choice)
    encoded = bytes(made(name, USUAL).encode(CONTENT, None))
    for data in (b"", b"\0", encoded[:-1], encoded + b"\0", encoded * 2):
        with pytest.raises(ChunkDecodeError) as caught:
            codec.decode(data, len(CONTENT))
        assert caught.value.codec == name.replace("numcodecs.gzip", "gzip")
    refused = 0
    for position in range(len(encoded)):
        damaged = bytearray(encoded)
        damaged[position] ^= 16
        try:
            assert bytes(codec.decode(bytes(damaged), len(CONTENT))) == CONTENT
        except ChunkDecodeError:
            refused += 1
    assert refused > len(encoded) - 10  # the rest: the time in the header, bits of no meaning


# --- DEFLATE ---


@pytest.mark.parametrize(("name", "choice"), DEFLATE)
@pytest.mark.parametrize("level", range(10))
def test_the_standard_library_reads_every_level(name, choice, level):
    encoded = bytes(made(name, choice, level=level).encode(CONTENT, None))
    assert zlib.decompress(encoded, WBITS[name]) == CONTENT
    assert (len(encoded) > len(CONTENT)) == (level == 0)


@pytest.mark.parametrize("choice", ZLIB)
def test_the_default_level_of_zlib(choice):
    assert (
        zlib.decompress(made("numcodecs.zlib", choice, level=-1).encode(CONTENT, None)) == CONTENT
    )


@pytest.mark.parametrize(("name", "choice"), DEFLATE)
def test_more_effort_never_gives_many_more_bytes(name, choice):
    content = b"".join(b"%d," % (number * number) for number in range(20000))
    sizes = [len(made(name, choice, level=level).encode(content, None)) for level in range(10)]
    assert all(after <= before * 1.03 for before, after in pairwise(sizes))
    assert sizes[1] < 0.6 * sizes[0]


@pytest.mark.parametrize(("name", "choice"), DEFLATE)
def test_decompression_bomb_allocates_no_memory(name, choice, at_most):
    bomb = zlib.compress(bytes(1 << 26), wbits=WBITS[name])
    codec = made(name, choice)
    with at_most(2_000_000), pytest.raises(ChunkDecodeError, match="more than 16 bytes"):
        codec.decode(bomb, 16)
    with at_most(100_000), pytest.raises(ChunkDecodeError, match="cannot decode to"):
        codec.decode(bomb, 1 << 40)


# --- selected provider ---

PROGRAM = """
import sys
import zarr_core as zarr
for line in zarr.installed_extensions(load=False):
    if line.name == "gzip" and line.extension_point == "codec":
        print(line.choice, "used" if line.wins else line.note)
array = zarr.create_array(data=[1, 2, 3], compressors="gzip")
print(array[:].tolist(), type(array.compressors[0]).__module__)
print(*sorted({"isal", "fastcrc"} & set(sys.modules)))
"""


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_alternatives_are_not_imported_by_default():
    said = run(PROGRAM).stdout.splitlines()
    assert said[0] == "zarr-codecs used"
    assert said[1:] == ["zarr-codecs[isal] alternative", "[1, 2, 3] zarr_codecs.gzip", ""]


def test_the_environment_chooses():
    said = run(PROGRAM, ZARR_CORE_PROVIDERS=f"codec.gzip={ISAL}").stdout.splitlines()
    assert said[:2] == ["zarr-codecs not used", "zarr-codecs[isal] used"]
    assert said[2:] == ["[1, 2, 3] zarr_codecs.isal", "isal"]


def test_missing_library_error_tells_how_to_install():
    program = "import sys; sys.modules['isal'] = None\n" + PROGRAM
    done = run(program, ZARR_CORE_PROVIDERS=f"codec.gzip={ISAL}")
    assert done.returncode
    assert "pip install 'zarr-codecs[isal]'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", ["gzip", "numcodecs.zlib", "numcodecs.gzip"])
def test_default_levels_are_those_of_the_usual_codec(name):
    usual = made(name, USUAL).level
    for other in {choice for point, choice in ALTERNATIVES if point == name}:
        assert made(name, other).level == usual
