"""What the codec promises."""

import pytest
from acme_xor import Xor


@pytest.mark.parametrize("data", [b"", b"\x00\xff", bytes(range(256))])
@pytest.mark.parametrize("key", [0, 7, 255])
def test_decoding_gives_back_what_was_encoded(data, key):
    codec = Xor(key)
    encoded = codec.encode(memoryview(data))
    assert codec.decode(encoded, len(data)) == data
    assert len(encoded) == codec.encoded_size(len(data))


def test_known_bytes():
    assert Xor(0x0F).encode(b"\x00\xff\x0f") == b"\x0f\xf0\x00"
