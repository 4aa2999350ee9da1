"""crc32c codec (bytes -> bytes): CRC-32C checksum after the bytes.

Name:           crc32c
Specification:  v3 codecs, "CRC32C checksum codec", version 1.0; RFC 3720
Configuration:  none
Schema:         schemas/codec/crc32c.json
Partial decode: no
Compatible:     zarr-python, TensorStore, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from zarr_codecs._checksum import ChecksumCodec

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import Buffer


@dataclass(frozen=True, slots=True)
class Crc32cCodec(ChecksumCodec):
    """Append a CRC-32C of the bytes, little-endian."""

    name = "crc32c"

    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""
        return checksum_function()(data)


@cache
def checksum_function() -> Callable[[Buffer], int]:
    """Return the function that computes the checksum of any buffer."""
    import google_crc32c
    import numpy as np  # metadata does not need NumPy

    value: Any = google_crc32c.value
    if google_crc32c.implementation != "c":  # the Python implementation requires bytes
        return lambda data: value(bytes(data))

    # The C implementation does not accept a memoryview, but an array, without a copy.
    return lambda data: value(data if type(data) is bytes else np.frombuffer(data, np.uint8))
