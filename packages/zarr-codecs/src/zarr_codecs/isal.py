"""gzip, numcodecs.gzip, numcodecs.zlib and numcodecs.adler32 codecs with isal (bytes -> bytes).

Name:           gzip, numcodecs.gzip, numcodecs.zlib, numcodecs.adler32
Specification:  v3 codecs, "Gzip codec", version 1.0; RFC 1950, RFC 1951, RFC 1952
Configuration:  {"level": 5}, {"level": 1}, {"level": 1}, {"location": "start"}
Schema:         schemas/codec/<name>.json
Partial decode: no
Compatible:     zarr-python, TensorStore, zarrs, every gzip tool

isal is Intel's ISA-L.  It has the levels 0 to 3.  Level 0 compresses as slowly as level 1,
to more bytes.  No level stores uncompressed bytes, as level 0 of the specification does;
level 0 therefore uses zlib.
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

_ERRORS: Any = IsalError  # the stub declares an instance

# Levels -1 (the library's default) to 9; see the table in the README.
LEVELS = {-1: 2, 1: 1, 2: 1, 3: 2, 4: 2, 5: 2, 6: 3, 7: 3, 8: 3, 9: 3}
"""Levels of ISA-L by level of zlib, except 0."""


class IsalCodec(DeflateCodec):
    """Compress with ISA-L, several times as fast as zlib, to more bytes."""

    __slots__ = ()

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to one stream."""
        wbits = self.container.wbits
        if self.level == 0:
            return zlib.compress(data, 0, wbits)
        encoded: bytes = isal_zlib.compress(data, LEVELS[self.level], wbits)
        return encoded

    def decode_single_stream(self, data: Buffer, size: int) -> Buffer | None:
        """Decompress data that is exactly one valid stream of known size."""
        stream = isal_zlib.decompressobj(self.container.wbits)
        try:
            whole: bytes = stream.decompress(data, size)
        except _ERRORS:
            return None  # incremental decoding reports the error
        return whole if stream.eof and len(whole) == size and not stream.unused_data else None

    def iter_decoded(self, data: Buffer) -> Iterator[bytes]:
        """Decompress all streams incrementally."""
        name, wbits, _, multiple = self.container
        new = partial(isal_zlib.decompressobj, wbits)
        return _streams.inflate(data, new, _ERRORS, multiple, name)


@dataclass(frozen=True, slots=True)
class GzipCodec(IsalCodec):
    """Compress with gzip.

    Parameters
    ----------
    level : int
        Compression level from 0 (uncompressed) to 9 (smallest); 1 and 2, 3 to 5, and 6 to 9 are equal.
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
    """Add an Adler-32, as in zlib."""

    __slots__ = ()

    def checksum(self, data: Buffer) -> int:
        """Return the checksum of the bytes."""
        checksum: int = isal_zlib.adler32(data)
        return checksum
