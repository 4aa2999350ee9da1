"""numcodecs.zlib codec (bytes -> bytes): one DEFLATE stream in a zlib container.

Name:           numcodecs.zlib
Specification:  numcodecs, "Zlib"; RFC 1950, RFC 1951
Configuration:  {"level": 1}
Schema:         schemas/codec/numcodecs.zlib.json
Partial decode: no
Compatible:     zarr-python, TensorStore (version 2), zarrs
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_codecs._deflate import ZLIB, DeflateCodec

if TYPE_CHECKING:
    from zarr_core.extension import Buffer


@dataclass(frozen=True, slots=True)
class ZlibCodec(DeflateCodec):
    """Compress with zlib.

    Parameters
    ----------
    level : int
        Compression level from 0 (uncompressed) to 9 (smallest, slowest); -1 is the default of zlib, 6.
    """

    level: int = 1
    container = ZLIB

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to one stream."""
        return zlib.compress(data, self.level)
