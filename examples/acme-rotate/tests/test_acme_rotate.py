"""The conformance tests, also of the native form; fixed bytes."""

from acme_rotate import Rotate
from zarr_conformance.kit import NativeCodecTests


class TestRotate(NativeCodecTests):
    name = "acme.rotate"
    configurations = [{}, {"bits": 0}, {"bits": 7}]
    bad_configurations = [{"bits": 8}, {"bits": -1}]


def test_encoded_bytes_never_change():
    assert Rotate(1).encode(b"\x0f\x80\x00", 3) == b"\x1e\x01\x00"
