"""zstd codec (bytes -> bytes): Zstandard frames.

Name:           zstd
Specification:  zarr-extensions, codecs/zstd; RFC 8878
Configuration:  {"level": 3, "checksum": true}
Schema:         schemas/codec/zstd.json
Partial decode: no
Compatible:     zarr-python, TensorStore, zarrs
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from zarr_core.extension import BytesToBytesCodec, ChecksumError, ChunkDecodeError, CodecError

from zarr_codecs import _numcodecs, _zstandard, _zstd_frame

if TYPE_CHECKING:
    from zarr_core.extension import Buffer


@dataclass(frozen=True, slots=True)
class ZstdCodec(BytesToBytesCodec):
    """Compress with Zstandard.

    Parameters
    ----------
    level : int
        Compression level from -131072 (fastest) to 22 (smallest); 0 is the default of Zstandard, 3.
    checksum : bool
        Whether to store a checksum of the content, which is verified when the chunk is read.

    Notes
    -----
    The specification says that ``checksum`` "should be omitted if false".  It is always
    written, as in zarr-python, because zarrs cannot read arrays without it.
    """

    level: int = 0
    checksum: bool = False

    def __post_init__(self) -> None:
        if type(self.level) is not int or not -131072 <= self.level <= 22:
            raise ValueError(f"level must be an integer from -131072 to 22, not {self.level!r}")
        if type(self.checksum) is not bool:
            raise ValueError(f"checksum must be true or false, not {self.checksum!r}")

    @property
    def detects_damage(self) -> bool:
        """Whether frames contain a checksum."""
        return self.checksum

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to one frame."""
        encoded = None
        if len(data) <= _zstandard.SMALL:
            encoded = _zstandard.compress(data, self.level, self.checksum)
        if encoded is None:
            encoded = _numcodecs.zstd_compress(data, self.level, self.checksum)
        return encoded

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress all frames."""
        whole = None if decoded_size is None else _one_frame(data, decoded_size)
        if whole is not None:
            return whole
        declared = _declared(data, decoded_size)
        if declared == 0:
            return b""
        if declared is None:
            # The frames do not declare a size; the expected size limits the memory.
            size = decoded_size
            return _decompress(data, None if size is None else memoryview(bytearray(size)))
        whole = _zstandard.decompress_frame(data) if declared <= _zstandard.SMALL else None
        return _decompress(data) if whole is None else whole

    def decode_limited(self, data: Buffer, limit: int) -> Buffer | int:
        """Decompress all frames, up to a limit."""
        declared, max_size = _zstd_frame.content_size(data)
        if declared is not None:
            return declared if declared > limit else self.decode(data, declared)
        if max_size <= limit:
            return self.decode(data, None)
        return _decompress_limited(data, limit)

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress all frames into memory of exactly the decoded size."""
        whole = _one_frame(data, len(out))
        if whole is not None:
            out[:] = whole
        elif _declared(data, len(out)) != 0:
            _decompress(data, out)


def _decompress_limited(data: Buffer, limit: int) -> Buffer | int:
    """Decompress frames that do not declare their size, up to a limit."""
    out = np.empty(limit, np.uint8).data  # only what is written to takes memory
    try:
        return _numcodecs.zstd_decompress(data, out)
    except (RuntimeError, ValueError) as error:
        if shorter := re.search(r"expected to decompress \d+, got (\d+)", str(error)):
            return bytes(out[: int(shorter[1])])
        if "too small" in str(error):
            return limit + 1
    return _decompress(data, out)  # raises the error


def _one_frame(data: Buffer, size: int) -> Buffer | None:
    """Decompress data that is one small frame of known size; return None otherwise."""
    if size > _zstandard.SMALL or _zstd_frame.first_content_size(data) != size:
        return None
    whole = _zstandard.decompress_frame(data)
    return whole if whole is not None and len(whole) == size else None


def _declared(data: Buffer, expected: int | None) -> int | None:
    """Return the content size that the frames declare, after validating it."""
    declared, max_size = _zstd_frame.content_size(data)
    if declared == 0 and max_size:  # the blocks would never be decoded
        raise ChunkDecodeError("the frames declare 0 bytes, but their blocks are not empty", "zstd")
    if declared is not None:
        if expected is not None and declared != expected:
            raise ChunkDecodeError(
                f"the frames declare {declared} bytes instead of {expected}", "zstd"
            )
        expected = declared
    if expected is not None and expected > max_size:
        raise ChunkDecodeError(
            f"the blocks decode to at most {max_size} bytes, not {expected}", "zstd"
        )
    return declared


def _decompress(data: Buffer, out: memoryview | None = None) -> Buffer:
    try:
        return _numcodecs.zstd_decompress(data, out)
    except (RuntimeError, ValueError) as error:
        message = str(error).removeprefix("Zstd decompression error: ")
        if "checksum" in message:
            raise ChecksumError("the content differs from its checksum", "zstd") from error
        if _numcodecs.release() < (0, 16, 6):
            raise CodecError(
                f"{message}. Upgrade numcodecs: before 0.16.6 it cannot decode several frames, "
                "or frames without a content size"
            ) from error
        raise ChunkDecodeError(message, "zstd") from error
