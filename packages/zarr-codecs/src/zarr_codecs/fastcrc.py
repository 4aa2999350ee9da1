"""crc32c, numcodecs.crc32c and numcodecs.crc32 codecs with fastcrc (bytes -> bytes).

Name:           crc32c, numcodecs.crc32c, numcodecs.crc32
Specification:  v3 codecs, "CRC32C checksum codec", version 1.0; RFC 3720, RFC 1952
Configuration:  none, {"location": "end"}, {"location": "start"}
Schema:         schemas/codec/<name>.json
Partial decode: no
Compatible:     zarr-python, TensorStore, zarrs
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastcrc import crc32

from zarr_codecs import checksums, crc32c

if TYPE_CHECKING:
    from zarr_core.extension import Buffer


class Crc32cCodec(crc32c.Crc32cCodec):
    """Append a CRC-32C of the bytes."""

    __slots__ = ()

    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""
        return crc32.iscsi(data)


class NumcodecsCrc32cCodec(checksums.NumcodecsCrc32cCodec):
    """Add a CRC-32C; after the bytes by default."""

    __slots__ = ()

    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""
        return crc32.iscsi(data)


class NumcodecsCrc32Codec(checksums.Crc32Codec):
    """Add a CRC-32, as in gzip."""

    __slots__ = ()

    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""
        return crc32.iso_hdlc(data)
