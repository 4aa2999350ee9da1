"""numcodecs.zlib codec with libdeflate, from the package deflate (bytes -> bytes).

Name:           numcodecs.zlib
Specification:  numcodecs, "Zlib"; RFC 1950, RFC 1951
Configuration:  {"level": 1}
Schema:         schemas/codec/numcodecs.zlib.json
Partial decode: no
Compatible:     zarr-python, TensorStore (version 2), zarrs

The gzip codecs, and the zlib codec when decoding, use this library automatically if it is
installed.  Its levels 0 to 9 correspond to those of zlib, with about the same size or smaller,
except that level 1 may take a fifth more bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_codecs import _libdeflate
from zarr_codecs.zlib import ZlibCodec

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_DEFAULT = 6  # default level of libdeflate


class NumcodecsZlibCodec(ZlibCodec):
    """Compress with zlib; the bytes differ from those of the standard library."""

    __slots__ = ()

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to one stream."""
        return _libdeflate.compress_zlib(data, _DEFAULT if self.level == -1 else self.level)
