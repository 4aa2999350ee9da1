"""gzip, numcodecs.gzip, numcodecs.zlib, numcodecs.adler32 by isal, Intel's ISA-L (bytes -> bytes).

Name:           gzip, numcodecs.gzip, numcodecs.zlib, numcodecs.adler32
Specification:  v3 codecs, "Gzip codec", version 1.0; RFC 1950, RFC 1951, RFC 1952
Configuration:  {"level": 5}, {"level": 1}, {"level": 1}, {"location": "start"}
Schema:         schemas/codec/<name>.json
Partial decode: no
Compatible:     zarr-python, TensorStore, zarrs, every gzip tool

ISA-L has levels 0 to 3.  Its 0 compresses as slowly as its 1, to more bytes, and none
stores bytes as they are, as level 0 of the specification does: that is done by zlib.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from isal import isal_zlib
from isal.igzip_lib import IsalError

from zarr_codecs import _streams, checksums
from zarr_codecs._deflate import GZIP, ZLIB, DeflateCodec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

_ERRORS: Any = IsalError  # its stub takes the class for an instance

# Levels -1 (the library's default) to 9; see the table in the README.
LEVELS = {-1: 2, 1: 1, 2: 1, 3: 2, 4: 2, 5: 2, 6: 3, 7: 3, 8: 3, 9: 3}
"""The level of ISA-L for each level of zlib but 0."""


class IsalCodec(DeflateCodec):
    """Compress with ISA-L, many times as fast as zlib, to somewhat more bytes."""

    __slots__ = ()

    def encode(self, data: Buffer) -> Buffer:
        """Compress to one stream."""
        wbits = self.container.wbits
        if self.level == 0:
            return zlib.compress(data, 0, wbits)
        encoded: bytes = isal_zlib.compress(data, LEVELS[self.level], wbits)
        return encoded

    def decode_whole(self, data: Buffer, size: int) -> Buffer | None:
        """Decompress data that is exactly one sound stream of known size."""
        stream = isal_zlib.decompressobj(self.container.wbits)
        try:
            whole: bytes = stream.decompress(data, size)
        except _ERRORS:
            return None  # those who look at it piece by piece say what is wrong
        return whole if stream.eof and len(whole) == size and not stream.unused_data else None

    def pieces(self, data: Buffer) -> Iterator[bytes]:
        """Decompress any streams piece by piece."""
        name, wbits, _, several = self.container
        new = partial(isal_zlib.decompressobj, wbits)
        return _streams.inflated(data, new, _ERRORS, several, name)


@dataclass(frozen=True, slots=True)
class GzipCodec(IsalCodec):
    """Compress with gzip.

    Parameters
    ----------
    level : int
        0 (not compressed) to 9 (smallest); 1 and 2, 3 to 5, 6 to 9 are alike.
    """

    level: int = 5
    container = GZIP


@dataclass(frozen=True, slots=True)
class NumcodecsGzipCodec(GzipCodec):
    """Compress with gzip.

    Parameters
    ----------
    level : int
        As for :class:`GzipCodec`.
    """

    level: int = 1


@dataclass(frozen=True, slots=True)
class NumcodecsZlibCodec(IsalCodec):
    """Compress with zlib.

    Parameters
    ----------
    level : int
        As for :class:`GzipCodec`; -1 is the library's default.
    """

    level: int = 1
    container = ZLIB


class NumcodecsAdler32Codec(checksums.Adler32Codec):
    """Add an Adler-32, that of zlib."""

    __slots__ = ()

    def checksum(self, data: Buffer) -> int:
        """The checksum of bytes."""
        checksum: int = isal_zlib.adler32(data)
        return checksum
