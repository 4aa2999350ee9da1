"""conditional: header and masks as specified, decisions of the writer, damage, unknown codecs."""

import json

import numpy as np
import pytest
import zarr_core
from registered_codecs import made
from zarr_codecs.conditional import ConditionalCodec, compress_if_smaller
from zarr_codecs.crc32c import Crc32cCodec
from zarr_codecs.gzip import GzipCodec
from zarr_codecs.shuffle import ShuffleCodec
from zarr_core.errors import UnknownExtensionError
from zarr_core.extension import (
    ChunkDecodeError,
    ExtensionDefinition,
    StoreReadOnlyError,
    create_extension,
)

SMOOTH = bytes(1000)
NOISE = np.random.default_rng(1).bytes(1000)
SHUFFLE = {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}
GZIP = {"name": "gzip", "configuration": {"level": 5}}


def with_mask(codecs, mask, **more):
    """Return a codec that applies the codecs of a mask."""
    return ConditionalCodec.deciding(lambda place, *_: bool(mask >> place & 1))(codecs, **more)


def test_applies_no_codec_by_default():
    codec = made("conditional", codecs=[SHUFFLE, GZIP])
    assert codec.encode(SMOOTH, None) == b"\0" + SMOOTH
    assert codec.decode(b"\0" + NOISE, 1000) == NOISE


@pytest.mark.parametrize("mask", range(8))
def test_every_mask(mask):
    codecs = [ShuffleCodec(4), GzipCodec(1), Crc32cCodec()]
    codec = with_mask(codecs, mask)
    chunk = np.arange(250, dtype="<u4").tobytes()
    expected = chunk
    for place, inner in enumerate(codecs):
        if mask >> place & 1:
            expected = inner.encode(expected, None)
    encoded = codec.encode(memoryview(chunk), None)
    assert encoded == bytes([mask]) + bytes(expected)
    # Reading calls no decision.
    plain = ConditionalCodec(codecs)
    assert plain.decode(encoded, 1000) == chunk
    assert plain.decode(encoded, None) == chunk
    out = bytearray(1000)
    plain.decode_into(encoded, memoryview(out))
    assert out == chunk


def test_other_sizes_than_the_chunk_are_damage():
    for data in (b"\0ab", b"\0abcd"):
        with pytest.raises(ChunkDecodeError, match="bytes instead of 3"):
            ConditionalCodec([GzipCodec(1)]).decode(data, 3)


@pytest.mark.parametrize(
    ("count", "bits", "size"),
    [(0, None, 0), (1, None, 1), (8, None, 1), (9, None, 2), (1, 16, 2), (0, 8, 1), (17, 32, 4)],
)
def test_size_of_the_header(count, bits, size):
    codec = with_mask([Crc32cCodec()] * count, 1 << max(count - 1, 0), header_bits=bits)
    encoded = codec.encode(b"abc", None)
    header = (1 << (count - 1) if count else 0).to_bytes(size, "little")
    assert encoded == header + (Crc32cCodec().encode(b"abc", None) if count else b"abc")
    assert codec.decode(encoded, 3) == b"abc"


def test_compress_if_smaller():
    codec = ConditionalCodec.deciding("compress_if_smaller")([GzipCodec(5)])
    assert codec.encode(SMOOTH, None) == b"\1" + bytes(GzipCodec(5).encode(SMOOTH, None))
    assert codec.encode(NOISE, None) == b"\0" + NOISE
    # Each codec is tried alone, on the chunk as it is.
    codec = ConditionalCodec.deciding("compress_if_smaller")([ShuffleCodec(4), GzipCodec(5)])
    assert codec.encode(SMOOTH, None)[0] == 0b10


def test_named_decisions():
    assert ConditionalCodec.deciding("always_apply")([Crc32cCodec()]).encode(b"a", None)[0] == 1
    assert ConditionalCodec.deciding("never_apply")([Crc32cCodec()]).encode(b"a", None)[0] == 0
    with pytest.raises(
        ValueError, match="decision must be one of compress_if_smaller.*, not 'maybe'"
    ):
        ConditionalCodec.deciding("maybe")


def test_arguments_of_a_decision():
    calls = []

    def decide(place, codec, chunk, trial):
        calls.append((place, type(codec), bytes(chunk), trial and bytes(trial)))
        return False

    codecs = [GzipCodec(1), Crc32cCodec()]
    ConditionalCodec.deciding(decide)(codecs).encode(b"abc", None)
    assert calls == [(0, GzipCodec, b"abc", None), (1, Crc32cCodec, b"abc", None)]
    calls.clear()
    ConditionalCodec.deciding(decide, trial_encode=True)(codecs).encode(b"abc", None)
    assert [trial for *_, trial in calls] == [bytes(it.encode(b"abc", None)) for it in codecs]
    assert not compress_if_smaller(0, codecs[0], b"abc", None)


def test_codecs_in_any_form():
    forms = [GzipCodec(5), ExtensionDefinition("gzip", {"level": 5}), GZIP, "crc32c"]
    codec = ConditionalCodec(forms)
    assert codec.to_configuration() == {"codecs": [GZIP, GZIP, GZIP, {"name": "crc32c"}]}
    assert codec == ConditionalCodec(forms)
    assert hash(codec) == hash(ConditionalCodec(forms))
    with pytest.raises(ValueError, match="codecs must all be bytes -> bytes codecs"):
        ConditionalCodec(["packbits"])


def test_unknown_codecs():
    with pytest.raises(UnknownExtensionError, match="/configuration/codecs/1"):
        made("conditional", codecs=[GZIP, "acme.unknown"])
    optional = {"name": "acme.unknown", "must_understand": False}
    definition = ExtensionDefinition("conditional", {"codecs": [optional, GZIP]})
    codec = create_extension("codec", definition)
    assert [it.name for it in codec.ignored] == ["acme.unknown"]
    assert codec.decode(b"\2" + bytes(GzipCodec(1).encode(b"abc", None)), 3) == b"abc"
    with pytest.raises(
        ChunkDecodeError, match="'acme.unknown' was applied to the chunk, but it is unknown"
    ):
        codec.decode(b"\1abc", 3)


def test_arrays(tmp_path):
    chosen = {"codec": {"conditional": ConditionalCodec.deciding("compress_if_smaller")}}
    values = np.stack(
        [np.zeros(500, "i4"), np.random.default_rng(2).integers(-(2**31), 2**31, 500, "i4")]
    )
    with zarr_core.override_extensions(chosen):
        array = zarr_core.create_array(
            tmp_path / "a",
            shape=(2, 500),
            chunks=(1, 500),
            dtype="i4",
            fill_value=7,
            compressors=[{"name": "conditional", "configuration": {"codecs": ["zstd"]}}],
        )
    array[...] = values
    first, second = ((tmp_path / "a" / "c" / str(row) / "0").read_bytes() for row in (0, 1))
    assert (first[0], second[0]) == (1, 0)
    assert len(first) < 100
    assert len(second) == 2001
    # What the codec inside was left to choose is recorded.
    (_, definition) = array.metadata.codecs
    assert definition.configuration["codecs"][0]["configuration"] == {"level": 0, "checksum": False}
    # Without a decision chunks are read alike, and written plainly.
    plain = zarr_core.open_array(tmp_path / "a", mode="r+")
    assert (plain[...] == values).all()
    plain[0] = values[0]
    assert (tmp_path / "a" / "c" / "0" / "0").read_bytes()[0] == 0
    # "Write fast, compress later": passed again for rewritten chunks.
    later = zarr_core.open_array(tmp_path / "a", mode="r+", extensions=chosen)
    later[...] = later[...]
    assert (tmp_path / "a" / "c" / "0" / "0").read_bytes() == first


def test_array_with_ignored_codec_is_read_only(tmp_path):
    document = {
        "zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
        "chunk_key_encoding": "default", "fill_value": 0,
        "codecs": ["bytes", {"name": "conditional", "configuration": {"codecs": [
            {"name": "acme.unknown", "must_understand": False}]}}],
    }  # fmt: skip
    (tmp_path / "zarr.json").write_text(json.dumps(document))
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "0").write_bytes(b"\0abc")
    with pytest.warns(match="acme.unknown"):
        array = zarr_core.open_array(tmp_path, mode="r+")
    assert bytes(array[...]) == b"abc"
    with pytest.raises(StoreReadOnlyError):
        array[...] = 1
