"""numcodecs.lz4 codec (bytes -> bytes): the decoded size and one LZ4 block.

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
_MAX_RATIO = 255  # largest compression ratio
_EMPTY_BLOCK = b"\0"  # block without content, which the library does not read


@dataclass(frozen=True, slots=True)
class Lz4Codec(BytesToBytesCodec):
    """Compress with LZ4.

    Parameters
    ----------
    acceleration : int
        Trade-off between size and speed; 1 is the smallest, larger is faster.
    """

    acceleration: int = 1

    def __post_init__(self) -> None:
        if type(self.acceleration) is not int or not -(2**31) <= self.acceleration < 2**31:
            raise ValueError(
                f"acceleration must be an integer from -2**31 to 2**31 - 1, not {self.acceleration!r}"
            )

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to the size, followed by one block."""
        if len(data) > _LARGEST:
            raise CodecError(
                f"an LZ4 block contains at most {_LARGEST} bytes, "
                f"but the chunk has {len(data)}; choose smaller chunks"
            )
        return _numcodecs.lz4_compress(data, self.acceleration)

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress a block."""
        return _decompress(data, decoded_size) if _content_size(data, decoded_size) else b""

    def decode_limited(self, data: Buffer, limit: int) -> Buffer | int:
        """Decompress a block, up to a limit."""
        size = _content_size(data, None)
        return size if size > limit else self.decode(data, size)

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress a block into memory of exactly the decoded size."""
        if _content_size(data, len(out)):
            _decompress(data, len(out), out)


def _content_size(data: Buffer, expected: int | None) -> int:
    """Return the decoded size in the header, after validating it."""
    block = len(data) - _HEADER
    if block < 1:
        raise ChunkDecodeError(f"{len(data)} bytes are too few for the size and a block", _NAME)
    size = int.from_bytes(data[:_HEADER], "little")
    if expected is not None and size != expected:
        raise ChunkDecodeError(f"the header declares {size} bytes instead of {expected}", _NAME)
    if size > min(_MAX_RATIO * block, _LARGEST):
        raise ChunkDecodeError(f"a block of {block} bytes cannot decode to {size} bytes", _NAME)
    if not size and data[_HEADER:] != _EMPTY_BLOCK:
        raise ChunkDecodeError("the header declares 0 bytes, but the block is not empty", _NAME)
    return size


def _decompress(data: Buffer, size: int | None, out: memoryview | None = None) -> Buffer:
    try:
        return _numcodecs.lz4_decompress(data, out)
    except (RuntimeError, ValueError) as error:
        target = "" if size is None else f" to {size} bytes"
        raise ChunkDecodeError(f"the block cannot be decompressed{target}", _NAME) from error
