"""gzip codec (bytes -> bytes): DEFLATE in a gzip container.

Name:           gzip
Specification:  v3 codecs, "Gzip codec", version 1.0; RFC 1951, RFC 1952
Configuration:  {"level": 5}
Schema:         schemas/codec/gzip.json
Partial decode: no
Compatible:     zarr-python, TensorStore, zarrs, every gzip tool
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_codecs._deflate import GZIP, DeflateCodec, libdeflate

if TYPE_CHECKING:
    from zarr_core.extension import Buffer


@dataclass(frozen=True, slots=True)
class GzipCodec(DeflateCodec):
    """Compress with gzip.

    Parameters
    ----------
    level : int
        Compression level from 0 (uncompressed) to 9 (smallest, slowest).
    """

    level: int = 5
    container = GZIP

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to one gzip member."""
        library = libdeflate()
        if library is None:
            return zlib.compress(data, self.level, GZIP.wbits)
        return library.compress_gzip(data, self.level)  # type: ignore[no-any-return]  # Buffer
