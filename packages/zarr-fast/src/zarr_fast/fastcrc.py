"""crc32c, numcodecs.crc32c, numcodecs.crc32 by fastcrc (bytes -> bytes): checksums.

Name:           crc32c, numcodecs.crc32c, numcodecs.crc32
Specification:  v3 codecs, "CRC32C checksum codec", version 1.0; RFC 3720, RFC 1952
Configuration:  none, {"location": "end"}, {"location": "start"}
Schema:         schemas/codec/<name>.json
Partial decode: no
Compatible:     zarr-python, TensorStore, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fastcrc import crc32

from zarr_fast._checksummed import ChecksumCodec, PlacedChecksumCodec

if TYPE_CHECKING:
    from zarr_core.extension import Buffer


@dataclass(frozen=True, slots=True)
class Crc32cCodec(ChecksumCodec):
    """Append a CRC-32C of the bytes."""

    name = "crc32c"

    def checksum(self, data: Buffer) -> int:
        """The checksum of bytes."""
        return crc32.iscsi(data)


@dataclass(frozen=True, slots=True)
class NumcodecsCrc32cCodec(PlacedChecksumCodec):
    """Add a CRC-32C; at the end unless told otherwise."""

    location: Literal["start", "end"] = "end"
    name = "numcodecs.crc32c"

    def checksum(self, data: Buffer) -> int:
        """The checksum of bytes."""
        return crc32.iscsi(data)


class NumcodecsCrc32Codec(PlacedChecksumCodec):
    """Add a CRC-32, that of gzip."""

    __slots__ = ()

    name = "numcodecs.crc32"

    def checksum(self, data: Buffer) -> int:
        """The checksum of bytes."""
        return crc32.iso_hdlc(data)
