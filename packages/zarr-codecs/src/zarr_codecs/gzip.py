"""gzip codec (bytes -> bytes): DEFLATE in a gzip container.

Name:           gzip
Specification:  v3 codecs, "Gzip codec", version 1.0; RFC 1951, RFC 1952
Configuration:  {"level": 5}
Schema:         schemas/codec/gzip.json
Partial decode: no
Compatible:     zarr-python, TensorStore, zarrs, every gzip tool
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.extension import BytesToBytesCodec, ChunkDecodeError

from zarr_codecs import _deflate, _streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer


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
            return b"".join(_members(data))
        if decoded_size > _deflate.MOST * len(data):
            raise ChunkDecodeError(
                f"{len(data)} bytes of gzip cannot hold {decoded_size} bytes", "gzip"
            )
        whole = _deflate.decompress_whole(data, decoded_size)
        if whole is None:
            whole = bytearray(decoded_size)
            _streams.fill(memoryview(whole), _members(data), "gzip")
        return whole

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress all members into memory of exactly the decoded size."""
        whole = _deflate.decompress_whole(data, len(out))
        if whole is None:
            _streams.fill(out, _members(data), "gzip")
        else:
            out[:] = whole


def _members(data: Buffer) -> Iterator[bytes]:
    return _streams.inflated(data, _deflate.decompressor, several=True, name="gzip")
