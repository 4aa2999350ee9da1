"""Checksum codecs of numcodecs (bytes -> bytes): a checksum before or after the bytes.

Name:           numcodecs.crc32, numcodecs.crc32c, numcodecs.adler32,
                numcodecs.fletcher32, numcodecs.jenkins_lookup3
Specification:  numcodecs, "Checksum codecs"; RFC 1950, RFC 3720, HDF5 (the last two)
Configuration:  {"location": "start"}, {"location": "end"}, {"location": "start"},
                none, {"initval": 0}
Schema:         schemas/codec/numcodecs.<name>.json
Partial decode: no
Compatible:     zarr-python, zarrs (crc32c, adler32, fletcher32)
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from zarr_codecs import _numcodecs
from zarr_codecs._checksum import ChecksumCodec
from zarr_codecs.crc32c import checksum_function

if TYPE_CHECKING:
    from zarr_core.extension import Buffer


@dataclass(frozen=True, slots=True)
class PlacedChecksumCodec(ChecksumCodec):
    """Store the checksum before or after the bytes.

    Parameters
    ----------
    location : {"start", "end"}
        Position of the checksum.
    """

    location: Literal["start", "end"] = "start"

    def __post_init__(self) -> None:
        if self.location not in ("start", "end"):
            raise ValueError(f'location must be "start" or "end", not {self.location!r}')

    @property
    def at_start(self) -> bool:
        """Whether the checksum precedes the bytes."""
        return self.location == "start"


class Crc32Codec(PlacedChecksumCodec):
    """Add a CRC-32, as in gzip."""

    __slots__ = ()

    name = "numcodecs.crc32"

    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""
        return zlib.crc32(data)


@dataclass(frozen=True, slots=True)
class NumcodecsCrc32cCodec(PlacedChecksumCodec):
    """Add a CRC-32C, as in ``crc32c``; after the bytes by default."""

    location: Literal["start", "end"] = "end"
    name = "numcodecs.crc32c"

    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""
        return checksum_function()(data)


class Adler32Codec(PlacedChecksumCodec):
    """Add an Adler-32, as in zlib."""

    __slots__ = ()

    name = "numcodecs.adler32"

    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""
        return zlib.adler32(data)


@dataclass(frozen=True, slots=True)
class Fletcher32Codec(ChecksumCodec):
    """Append the Fletcher checksum of HDF5, of words of 16 bits."""

    name = "numcodecs.fletcher32"

    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""
        return _numcodecs.fletcher32(data)


@dataclass(frozen=True, slots=True)
class JenkinsLookup3Codec(ChecksumCodec):
    """Append the "lookup3" hash of Bob Jenkins, which HDF5 uses for its metadata.

    Parameters
    ----------
    initval : int
        Initial value of the hash, from 0 to 2**32 - 1.
    prefix : None
        Bytes that numcodecs hashes before the chunk; not supported, because JSON has no bytes.
    """

    initval: int = 0
    prefix: None = None
    name = "numcodecs.jenkins_lookup3"

    def __post_init__(self) -> None:
        if type(self.initval) is not int or not 0 <= self.initval < 2**32:
            raise ValueError(
                f"initval must be an integer from 0 to 2**32 - 1, not {self.initval!r}"
            )
        if self.prefix is not None:
            raise ValueError("prefix must be null; JSON cannot represent bytes")

    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""
        return _numcodecs.jenkins_lookup3(data, self.initval)
