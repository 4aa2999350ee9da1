"""Alternatives are the codecs that they stand for: by the kit, and beside the usual provider."""

import gzip
import json
import tracemalloc
import zlib
from importlib.metadata import entry_points
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from zarr_conformance.kit import BytesToBytesCodecTests
from zarr_core.config import config
from zarr_core.extension import (
    ChecksumError,
    ChunkDecodeError,
    ExtensionDefinition,
    make_extension,
)

DATA = Path(__file__).parents[1] / "zarr-codecs" / "data"
STORED = (np.arange(600, dtype="<i4") ** 2 % 1009).tobytes()
"""What the files of DATA decode to."""
CONTENT = bytes(range(256)) * 8
USUAL = "zarr-codecs"
ALTERNATIVES = [
    (point.name, f"zarr-fast[{word}]")
    for word in ("deflate", "fastcrc", "isal")
    for point in entry_points(group=f"zarr_core.codec.{word}")
    if point.value.startswith("zarr_fast.")
]
GZIP = [choice for name, choice in ALTERNATIVES if name == "gzip"]
ZLIB = [choice for name, choice in ALTERNATIVES if name == "numcodecs.zlib"]


def made(name, choice, **configuration):
    with config.set(providers={f"codec.{name}": choice}):
        return make_extension("codec", ExtensionDefinition(name, configuration), complete=False)


def schema_of(name, package="zarr_fast"):
    return json.loads((files(package) / f"schemas/codec/{name}.json").read_text())


def test_there_are_some():
    assert len(ALTERNATIVES) == 10


# --- the kit for authors ---


def kit(name, choice):
    @pytest.fixture(autouse=True)
    def _chosen(self):
        with config.set(providers={f"codec.{name}": choice}):
            assert type(self.make({})).__module__.startswith("zarr_fast.")
            yield

    given = {"name": name, "examples": 5, "configurations": schema_of(name)["examples"]}
    return type("Tests", (BytesToBytesCodecTests,), {**given, "_chosen": _chosen})


for _name, _choice in ALTERNATIVES:
    _title = "".join(part.title() for part in f"{_choice[10:-1]}.{_name}".split("."))
    globals()[f"Test{_title}"] = kit(_name, _choice)


# --- beside the usual provider ---


@pytest.mark.parametrize(("name", "choice"), ALTERNATIVES)
def test_each_reads_what_the_other_writes(name, choice):
    draw = np.random.default_rng(5)
    contents = [b"", b"x", CONTENT, bytes(1 << 20), draw.bytes(70_000), CONTENT * 999]
    for configuration in [{}, *schema_of(name)["examples"]]:
        codecs = [made(name, who, **configuration) for who in (choice, USUAL)]
        assert codecs[0].to_configuration() == codecs[1].to_configuration()
        assert codecs[0].detects_damage == codecs[1].detects_damage
        for content in contents:
            for writer, reader in (codecs, codecs[::-1]):
                encoded = bytes(writer.encode(content))
                assert bytes(reader.decode(encoded, len(content))) == content
                assert bytes(reader.decode(encoded, None)) == content
                out = bytearray(len(content))
                reader.decode_into(encoded, memoryview(out))
                assert out == content
        if "32" in name:  # checksums have one encoding only
            assert len({bytes(codec.encode(CONTENT)) for codec in codecs}) == 1


@pytest.mark.parametrize(("name", "choice"), ALTERNATIVES)
def test_both_refuse_the_same_configurations(name, choice):
    for configuration in ({"level": 10}, {"level": "5"}, {"level": -2}, {"location": "middle"}):
        types = []
        for who in (choice, USUAL):
            with pytest.raises(ValueError, match=name) as caught:
                made(name, who, **configuration)
            types.append(type(caught.value))
        assert types[0] is types[1]


@pytest.mark.parametrize(("name", "choice"), ALTERNATIVES)
def test_damaged_bytes_are_refused_or_have_the_same_content(name, choice):
    codec = made(name, choice)
    encoded = bytes(made(name, USUAL).encode(CONTENT))
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


@pytest.mark.parametrize("choice", GZIP)
@pytest.mark.parametrize("level", range(10))
def test_the_standard_library_reads_every_level(choice, level):
    encoded = bytes(made("gzip", choice, level=level).encode(CONTENT))
    assert gzip.decompress(encoded) == CONTENT
    assert (len(encoded) > len(CONTENT)) == (level == 0)
    zipped = bytes(made("numcodecs.zlib", choice, level=level).encode(CONTENT))
    assert zlib.decompress(zipped) == CONTENT
    assert (len(zipped) > len(CONTENT)) == (level == 0)


@pytest.mark.parametrize("choice", ZLIB)
def test_the_default_level_of_zlib(choice):
    assert zlib.decompress(made("numcodecs.zlib", choice, level=-1).encode(CONTENT)) == CONTENT


@pytest.mark.parametrize("choice", GZIP)
def test_more_effort_never_gives_many_more_bytes(choice):
    content = b"".join(b"%d," % (number * number) for number in range(20000))
    sizes = [len(made("gzip", choice, level=level).encode(content)) for level in range(10)]
    assert all(after <= before * 1.03 for before, after in pairwise(sizes))
    assert sizes[1] < 0.6 * sizes[0]


@pytest.mark.parametrize("choice", GZIP)
@pytest.mark.parametrize("name", ["level-0-zlib", "tensorstore", "two-members", "with-file-name"])
def test_reads_what_others_have_stored(choice, name):
    encoded = (DATA / f"gzip-{name}.bin").read_bytes()
    assert bytes(made("gzip", choice).decode(encoded, len(STORED))) == STORED


@pytest.mark.parametrize("choice", GZIP)
def test_members_after_each_other(choice):
    codec = made("gzip", choice)
    large = bytes(1 << 19)
    empty = gzip.compress(b"")
    assert codec.decode(empty + gzip.compress(CONTENT) + empty, len(CONTENT)) == CONTENT
    members = gzip.compress(large, 0) + gzip.compress(large, 9)
    assert codec.decode(members, 1 << 20) == bytes(1 << 20)
    out = bytearray(3 * len(CONTENT))
    codec.decode_into(gzip.compress(CONTENT) * 3, memoryview(out))
    assert out == CONTENT * 3


@pytest.mark.parametrize("choice", GZIP)
def test_says_what_is_wrong(choice):
    encoded = gzip.compress(CONTENT)
    size = len(CONTENT)
    flipped = {place: bytearray(encoded) for place in (-1, -5)}
    for place, data in flipped.items():
        data[place] ^= 1
    for data, kind, message in [
        (b"", ChunkDecodeError, "cut short|0 bytes of DEFLATE cannot hold"),
        (encoded[:-1], ChunkDecodeError, "cut short"),
        (
            encoded + b"garbage!!!",
            ChunkDecodeError,
            f"no stream of gzip follow byte {len(encoded)}",
        ),
        (gzip.compress(CONTENT + b"x"), ChunkDecodeError, f"more than {size} bytes"),
        (gzip.compress(CONTENT[1:]), ChunkDecodeError, f"{size - 1} bytes instead of {size}"),
        (zlib.compress(CONTENT), ChunkDecodeError, "header|wrapper"),
        *((data, ChecksumError, "not that of its content") for data in flipped.values()),
    ]:
        for decode in (
            lambda data: made("gzip", choice).decode(data, size),
            lambda data: made("gzip", choice).decode_into(data, memoryview(bytearray(size))),
        ):
            with pytest.raises(kind, match=message) as caught:
                decode(data)
            assert caught.value.codec == "gzip"


@pytest.mark.parametrize("choice", GZIP)
@pytest.mark.parametrize("name", ["gzip", "numcodecs.zlib"])
def test_a_bomb_costs_no_memory(choice, name):
    bomb = zlib.compress(bytes(1 << 26), wbits=31 if name == "gzip" else 15)
    codec = made(name, choice)
    tracemalloc.start()
    with pytest.raises(ChunkDecodeError, match="more than 16 bytes"):
        codec.decode(bomb, 16)
    with pytest.raises(ChunkDecodeError, match="cannot hold"):
        codec.decode(bomb, 1 << 40)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
