"""numcodecs.bz2 codec (bytes -> bytes): bzip2 streams.

Name:           numcodecs.bz2
Specification:  numcodecs, "BZ2"; bzip2 1.0
Configuration:  {"level": 1}
Schema:         schemas/codec/numcodecs.bz2.json
Partial decode: no
Compatible:     zarr-python, TensorStore (version 2), zarrs
"""

from __future__ import annotations

import bz2
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.extension import BytesToBytesCodec

from zarr_codecs import _streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

_NAME = "numcodecs.bz2"


@dataclass(frozen=True, slots=True)
class Bz2Codec(BytesToBytesCodec):
    """Compress with bzip2.

    Parameters
    ----------
    level : int
        Block size from 1 to 9, in units of 100 kB.
    """

    level: int = 1

    def __post_init__(self) -> None:
        if type(self.level) is not int or not 1 <= self.level <= 9:
            raise ValueError(f"level must be an integer from 1 to 9, not {self.level!r}")

    @property
    def detects_damage(self) -> bool:
        """Whether streams contain checksums: always True, a CRC-32 for each block."""
        return True

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to one stream."""
        return bz2.compress(data, self.level)

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress all streams."""
        return _streams.gather(_content(data), decoded_size, _NAME)

    def decode_limited(self, data: Buffer, limit: int) -> Buffer | int:
        """Decompress all streams, up to a limit."""
        return _streams.gather_limited(_content(data), limit)

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress all streams into memory of exactly the decoded size."""
        _streams.fill(out, _content(data), _NAME)


def _content(data: Buffer) -> Iterator[bytes]:
    return _streams.decompress(data, bz2.BZ2Decompressor, OSError, multiple=True, name=_NAME)
