"""numcodecs.lz4 codec (bytes -> bytes): one LZ4 block after its decoded size.

Name:           numcodecs.lz4
Specification:  numcodecs, "LZ4"; LZ4 block format
Configuration:  {"acceleration": 1}
Schema:         schemas/codec/numcodecs.lz4.json
Partial decode: no
Compatible:     zarr-python
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.extension import BytesToBytesCodec, ChunkDecodeError, CodecError

from zarr_codecs import _numcodecs

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_NAME = "numcodecs.lz4"
_HEADER = 4  # bytes: the decoded size, little endian
_LARGEST = 0x7E000000  # bytes; LZ4_MAX_INPUT_SIZE
_MOST = 255  # a byte of a block stands for at most so many
_NOTHING = b"\0"  # the block that holds no bytes, which the library does not read


@dataclass(frozen=True, slots=True)
class Lz4Codec(BytesToBytesCodec):
    """Compress with LZ4.

    Parameters
    ----------
    acceleration : int
        How much compression is given up for speed; 1 for as little as possible.
    """

    acceleration: int = 1

    def __post_init__(self) -> None:
        if type(self.acceleration) is not int or not -(2**31) <= self.acceleration < 2**31:
            raise ValueError(
                f"acceleration must be an integer of 32 bits, not {self.acceleration!r}"
            )

    def encode(self, data: Buffer) -> Buffer:
        """Compress to the size, then one block."""
        if len(data) > _LARGEST:
            raise CodecError(
                f"LZ4 compresses at most {_LARGEST} bytes at once, "
                f"the chunk has {len(data)}; choose smaller chunks"
            )
        return _numcodecs.lz4_compress(data, self.acceleration)

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress a block."""
        return _decompress(data, decoded_size) if _content_size(data, decoded_size) else b""

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress a block into memory of exactly the decoded size."""
        if _content_size(data, len(out)):
            _decompress(data, len(out), out)


def _content_size(data: Buffer, expected: int | None) -> int:
    """Bytes that the header declares, once they are what is expected and possible."""
    block = len(data) - _HEADER
    if block < 1:
        raise ChunkDecodeError(f"{len(data)} bytes; the size and a block take more", _NAME)
    size = int.from_bytes(data[:_HEADER], "little")
    if expected is not None and size != expected:
        raise ChunkDecodeError(f"declares {size} bytes instead of {expected}", _NAME)
    if size > min(_MOST * block, _LARGEST):
        raise ChunkDecodeError(f"{size} bytes cannot come out of a block of {block} bytes", _NAME)
    if not size and data[_HEADER:] != _NOTHING:
        raise ChunkDecodeError("declares no bytes, and has some", _NAME)
    return size


def _decompress(data: Buffer, size: int | None, out: memoryview | None = None) -> Buffer:
    try:
        return _numcodecs.lz4_decompress(data, out)
    except (RuntimeError, ValueError) as error:
        promised = "its content" if size is None else f"{size} bytes"
        raise ChunkDecodeError(f"the block is damaged: not {promised}", _NAME) from error
