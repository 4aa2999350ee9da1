"""The source of a codec for tests of distributions."""

import pytest

CODEC = """
from dataclasses import dataclass
from zarr_core.extension import BytesToBytesCodec

@dataclass(frozen=True, slots=True)
class Codec(BytesToBytesCodec):
    key: int = 0

    def encode(self, data, decoded_size):
        return bytes(byte ^ self.key for byte in data)

    def decode(self, data, decoded_size):
        return self.encode(data, decoded_size)
"""


@pytest.fixture
def codec_source() -> str:
    """A module with a working codec ``Codec`` with the configuration ``key``."""
    return CODEC
