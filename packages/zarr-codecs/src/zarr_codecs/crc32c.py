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

from zarr_core.extension import BytesToBytesCodec, ChecksumError, ChunkDecodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import Buffer

_SIZE = 4


@dataclass(frozen=True, slots=True)
class Crc32cCodec(BytesToBytesCodec):
    """Append a CRC-32C of the bytes, 32 bits in little endian."""

    @property
    def detects_damage(self) -> bool:
        """Whether there is a checksum: always."""
        return True

    def encoded_size(self, decoded_size: int) -> int:
        """Four bytes more."""
        return decoded_size + _SIZE

    def encode(self, data: Buffer) -> Buffer:
        """Append the checksum."""
        return b"".join((data, checksum_function()(data).to_bytes(_SIZE, "little")))

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Verify the checksum; gives a view of ``data`` without it."""
        size = len(data) - _SIZE
        if size < 0:
            raise ChunkDecodeError(f"{len(data)} bytes; the checksum alone takes {_SIZE}", "crc32c")
        if decoded_size is not None and size != decoded_size:
            raise ChunkDecodeError(f"decodes to {size} bytes instead of {decoded_size}", "crc32c")
        view = memoryview(data)
        content = view[:size]
        stored, found = int.from_bytes(view[size:], "little"), checksum_function()(content)
        if stored != found:
            raise ChecksumError(
                f"the stored checksum is {stored:#010x}, that of the bytes {found:#010x}", "crc32c"
            )
        return content

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Verify the checksum, and copy the bytes before it."""
        out[:] = self.decode(data, len(out))


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
