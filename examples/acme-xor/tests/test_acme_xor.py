"""The conformance tests; fixed bytes."""

from acme_xor import Xor
from zarr_conformance.kit import BytesToBytesCodecTests


class TestXor(BytesToBytesCodecTests):
    name = "acme.xor"
    configurations = [{}, {"key": 7}]
    bad_configurations = [{"key": 256}, {"key": 1.5}]


def test_encoded_bytes_never_change():
    assert Xor(0x0F).decode(b"\x0f\xf0\x00", 3) == b"\x00\xff\x0f"
