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

from zarr_core.extension import BytesToBytesCodec, ChunkDecodeError

from zarr_codecs import _deflate, _streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

_NAME = "numcodecs.zlib"


@dataclass(frozen=True, slots=True)
class ZlibCodec(BytesToBytesCodec):
    """Compress with zlib.

    Parameters
    ----------
    level : int
        0 (not compressed) to 9 (smallest, slowest); -1 is the library's default, 6.
    """

    level: int = 1

    def __post_init__(self) -> None:
        if type(self.level) is not int or not -1 <= self.level <= 9:
            raise ValueError(f"level must be an integer from -1 to 9, not {self.level!r}")

    @property
    def detects_damage(self) -> bool:
        """Whether the stream carries a checksum: always, an Adler-32."""
        return True

    def encode(self, data: Buffer) -> Buffer:
        """Compress to one stream."""
        return zlib.compress(data, self.level)

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress the stream."""
        if decoded_size is not None:
            if decoded_size > _deflate.MOST * len(data):
                raise ChunkDecodeError(
                    f"{len(data)} bytes of zlib cannot hold {decoded_size} bytes", _NAME
                )
            whole = _deflate.decompress_zlib(data, decoded_size)
            if whole is not None:
                return whole
        return _streams.gather(_stream(data), decoded_size, _NAME)

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress the stream into memory of exactly the decoded size."""
        whole = _deflate.decompress_zlib(data, len(out))
        if whole is None:
            _streams.fill(out, _stream(data), _NAME)
        else:
            out[:] = whole


def _stream(data: Buffer) -> Iterator[bytes]:
    return _streams.inflated(data, zlib.decompressobj, several=False, name=_NAME)
