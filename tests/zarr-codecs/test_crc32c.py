import pytest
from zarr_codecs.crc32c import Crc32cCodec
from zarr_core.extension import ChecksumError, ChunkDecodeError

CODEC = Crc32cCodec()


# RFC 3720, section B.4 "CRC Examples"
@pytest.mark.parametrize(
    ("content", "checksum"),
    [
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (b"", 0),
    ],
)
def test_examples_of_the_rfc(content, checksum):
    assert CODEC.encode(content, None) == content + checksum.to_bytes(4, "little")


@pytest.mark.parametrize("name", ["crc32c-zarr-python", "crc32c-tensorstore"])
def test_the_bytes_that_others_write(golden, content, name):
    assert CODEC.encode(content, None) == golden(name)
    assert CODEC.decode(golden(name), len(content)) == content


def test_every_bit_flip_is_detected():
    encoded = CODEC.encode(bytes(20), None)
    for position in range(len(encoded)):
        damaged = bytearray(encoded)
        damaged[position] ^= 64
        with pytest.raises(ChecksumError, match="the stored checksum is 0x") as caught:
            CODEC.decode_into(damaged, memoryview(bytearray(20)))
        assert caught.value.codec == "crc32c"


@pytest.mark.parametrize("size", range(4))
def test_shorter_than_a_checksum(size):
    with pytest.raises(ChunkDecodeError, match=f"{size} bytes are too few for a checksum of 4"):
        CODEC.decode(bytes(size), None)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_decodes_without_a_copy(at_most, kind):
    encoded = kind(CODEC.encode(bytes(1 << 20), None))
    out = memoryview(bytearray(1 << 20))
    with at_most(10_000):
        view = CODEC.decode(encoded, 1 << 20)
        CODEC.decode_into(encoded, out)
    assert len(view) == 1 << 20


def test_length_is_compared_before_the_checksum():
    with pytest.raises(ChunkDecodeError, match="decodes to 10 bytes instead of 11"):
        CODEC.decode(bytes(14), 11)


def test_encoded_size():
    assert CODEC.encoded_size(0) == 4
    assert CODEC.encoded_size(10) == len(CODEC.encode(bytes(10), None))


def test_nothing_to_configure():
    assert CODEC.to_configuration() == {}
