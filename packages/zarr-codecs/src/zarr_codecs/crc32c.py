"""crc32c codec (bytes -> bytes): a checksum after the bytes.

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
    """Append a CRC-32C of the bytes, 32 bits in little endian."""

    name = "crc32c"

    def checksum(self, data: Buffer) -> int:
        """The checksum of bytes."""
        return checksum_function()(data)


@cache
def checksum_function() -> Callable[[Buffer], int]:
    """Get the function that computes the checksum of any buffer."""
    import google_crc32c  # noqa: PLC0415 - lazy: listing codecs does not need it
    import numpy as np  # noqa: PLC0415 - lazy: documents can be handled without NumPy

    value: Any = google_crc32c.value
    if google_crc32c.implementation != "c":  # the one in Python wants bytes
        return lambda data: value(bytes(data))

    # The one in C refuses a memoryview, but takes an array without copying.
    return lambda data: value(data if type(data) is bytes else np.frombuffer(data, np.uint8))
