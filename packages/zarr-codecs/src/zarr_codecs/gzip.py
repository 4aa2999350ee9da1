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

from zarr_core.extension import BytesToBytesCodec, ChecksumError, ChunkDecodeError

from zarr_codecs import _deflate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

_FEED = 1 << 16  # bytes given to zlib at once; what it leaves over is copied
_PIECE = 1 << 18  # bytes taken from zlib at once; still in the cache when copied
_MOST = 1032  # DEFLATE gives at most this many bytes for one


@dataclass(frozen=True, slots=True)
class GzipCodec(BytesToBytesCodec):
    """Compress with gzip.

    Parameters
    ----------
    level : int
        0 (not compressed) to 9 (smallest, slowest).
    """

    level: int = 5

    def __post_init__(self) -> None:
        if type(self.level) is not int or not 0 <= self.level <= 9:
            raise ValueError(f"level must be an integer from 0 to 9, not {self.level!r}")

    @property
    def detects_damage(self) -> bool:
        """Whether members carry a checksum: always."""
        return True

    def encode(self, data: Buffer) -> Buffer:
        """Compress to one member."""
        return _deflate.compress(data, self.level)

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress all members."""
        if decoded_size is None:
            return b"".join(_pieces(data))
        if decoded_size > _MOST * len(data):
            raise ChunkDecodeError(
                f"{len(data)} bytes of gzip cannot hold {decoded_size} bytes", "gzip"
            )
        whole = _deflate.decompress_whole(data, decoded_size)
        if whole is None:
            whole = bytearray(decoded_size)
            _decompress_into(data, memoryview(whole))
        return whole

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress all members into memory of exactly the decoded size."""
        whole = _deflate.decompress_whole(data, len(out))
        if whole is None:
            _decompress_into(data, out)
        else:
            out[:] = whole


def _decompress_into(data: Buffer, out: memoryview) -> None:
    start = 0
    for piece in _pieces(data):
        stop = start + len(piece)
        if stop > len(out):
            raise ChunkDecodeError(f"decodes to more than {len(out)} bytes", "gzip")
        out[start:stop] = piece
        start = stop
    if start != len(out):
        raise ChunkDecodeError(f"decodes to {start} bytes instead of {len(out)}", "gzip")


def _pieces(data: Buffer) -> Iterator[bytes]:
    """Give what the members hold, one after the other (RFC 1952, section 2.2)."""
    view = memoryview(data)
    position = 0
    while position < len(view) or not position:
        member = _deflate.decompressor()
        begin = position
        while not member.eof:
            feed: Buffer = view[position : position + _FEED]
            if not feed:
                raise ChunkDecodeError(f"cut short after {len(view)} bytes", "gzip")
            position += len(feed)
            try:
                while True:
                    piece = member.decompress(feed, _PIECE)
                    yield piece
                    if member.eof or len(piece) < _PIECE:
                        break
                    feed = member.unconsumed_tail
            except zlib.error as error:
                raise _damage(str(error), begin) from error
        position -= len(member.unused_data)


def _damage(message: str, begin: int) -> ChunkDecodeError:
    if "incorrect data check" in message or "incorrect length check" in message:
        return ChecksumError(
            "the CRC-32 or length of a gzip member is not that of its content", "gzip"
        )
    if begin and "header" in message:
        return ChunkDecodeError(f"bytes that are no gzip member follow byte {begin}", "gzip")
    return ChunkDecodeError(message, "gzip")
