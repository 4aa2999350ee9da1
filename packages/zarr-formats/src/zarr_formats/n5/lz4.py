"""n5.lz4 codec (bytes -> bytes): LZ4 as the writers of N5 have it, of which there are two.

Name:           n5.lz4
Specification:  none; LZ4BlockOutputStream of lz4-java, or the codec "lz4" of numcodecs
Configuration:  {"blockSize": 65536} (Java) or {"acceleration": 1} (zarr-python 2)
Schema:         schemas/codec/n5.lz4.json
Partial decode: no
Compatible:     N5 (Java) or zarr-python 2 (N5Store); neither reads the other

Both are read, whatever the configuration says: the Java library begins each piece with
``LZ4Block``, which as the size that numcodecs begins with would be over a gigabyte.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xxhash import xxh32_intdigest
from zarr_core.extension import (
    BytesToBytesCodec,
    ChecksumError,
    ChunkDecodeError,
    ExtensionDefinition,
    create_extension,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

SMALLEST_PIECE, LARGEST_PIECE = 64, 1 << 25  # bytes, as lz4-java has it

_MAGIC = b"LZ4Block"
_PIECE = struct.Struct("<8sBIII")  # magic, token, encoded size, decoded size, hash
_STORED, _COMPRESSED = 0x10, 0x20  # upper half of the token
_LEVEL_BASE = 10  # the lower half says how large pieces may be: 2 ** (10 + level)
_SEED = 0x9747_B28C
_HASH_BITS = 0x0FFF_FFFF
_SIZE = struct.Struct("<I")  # what numcodecs puts before a block of LZ4


@dataclass(frozen=True)
class N5Lz4Codec(BytesToBytesCodec):
    """Compress with LZ4.

    Parameters
    ----------
    blockSize : int, optional
        Bytes that are compressed at once, as the Java library does it.  65536 by default.
    acceleration : int, optional
        Compress everything at once, as zarr-python 2 does it; larger is faster.
    """

    blockSize: int | None = None  # noqa: N815 - the name of the member in N5
    acceleration: int | None = None

    def __post_init__(self) -> None:
        if self.acceleration is None and self.blockSize is None:
            object.__setattr__(self, "blockSize", 1 << 16)
        if self.acceleration is not None and self.blockSize is not None:
            raise ValueError("either blockSize or acceleration, not both")
        size = self.blockSize
        if size is not None and not SMALLEST_PIECE <= size <= LARGEST_PIECE:
            raise ValueError(
                f"blockSize must be from {SMALLEST_PIECE} to {LARGEST_PIECE}, not {size!r}"
            )

    @property
    def detects_damage(self) -> bool:
        """Whether a hash is stored: by the Java library, not by zarr-python."""
        return self.blockSize is not None

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to pieces that a hash protects, or to one without."""
        if self.blockSize is None:
            encoded: Buffer = self._blocks.encode(data, decoded_size)
            return encoded
        return b"".join(self._pieces(memoryview(data), self.blockSize))

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress what either writer gives."""
        if bytes(data[:8]) == _MAGIC:
            whole = self._decode_pieces(memoryview(data), decoded_size)
            if isinstance(whole, int):
                raise _damage(f"decodes to more than {decoded_size} bytes")
            return whole
        decoded: Buffer = self._blocks.decode(data, decoded_size)
        return decoded

    def decode_limited(self, data: Buffer, limit: int) -> Buffer | int:
        """Decompress what either writer gives, up to a limit."""
        if bytes(data[:8]) != _MAGIC:
            decoded: Buffer | int = self._blocks.decode_limited(data, limit)
            return decoded
        return self._decode_pieces(memoryview(data), limit)

    @cached_property
    def _blocks(self) -> Any:
        """The codec of numcodecs: a block of LZ4 after its size."""
        acceleration = 1 if self.acceleration is None else self.acceleration
        definition = ExtensionDefinition("numcodecs.lz4", {"acceleration": acceleration})
        return create_extension("codec", definition)

    def _pieces(self, data: memoryview, size: int) -> Iterator[Buffer]:
        level = max(0, (size - 1).bit_length() - _LEVEL_BASE)
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            content: Buffer = memoryview(self._blocks.encode(piece, len(piece)))[_SIZE.size :]
            method = _COMPRESSED
            if len(content) >= len(piece):
                method, content = _STORED, piece
            hashed = _hash(piece)
            yield _PIECE.pack(_MAGIC, method | level, len(content), len(piece), hashed)
            yield content
        yield _PIECE.pack(_MAGIC, _STORED | level, 0, 0, 0)

    def _decode_pieces(self, data: memoryview, limit: int | None) -> Buffer | int:
        pieces: list[Buffer] = []
        start = 0
        size: int = 0
        while True:
            if len(data) - start < _PIECE.size:
                raise _damage(f"cut short after {len(data)} bytes")
            magic, token, stored, length, hashed = _PIECE.unpack_from(data, start)
            start += _PIECE.size
            method, level = token & 0xF0, token & 0x0F
            if magic != _MAGIC or method not in (_STORED, _COMPRESSED):
                raise _damage(f"no LZ4 data begins at byte {start - _PIECE.size}")
            if not length:
                break
            content = data[start : start + stored]
            start += stored
            size += length
            if len(content) != stored:
                raise _damage(f"cut short after {len(data)} bytes")
            if length > 1 << _LEVEL_BASE + level or (method == _STORED and stored != length):
                raise _damage(f"a piece of {stored} bytes declares {length} decoded ones")
            if limit is not None and size > limit:
                return size
            pieces.append(self._piece(method, content, length, hashed))
        if stored or hashed or start != len(data):
            raise _damage(f"bytes that are not LZ4 data follow byte {start}")
        return b"".join(pieces)

    def _piece(self, method: int, content: memoryview, length: int, hashed: int) -> Buffer:
        piece: Buffer = content
        if method == _COMPRESSED:
            piece = self._blocks.decode(_SIZE.pack(length) + bytes(content), length)
        if _hash(piece) != hashed:
            raise ChecksumError("the hash of a piece is not that of its content", "n5.lz4")
        return piece


def _hash(data: Buffer) -> int:
    """The hash of a piece: all but four bits of its XXH32, as lz4-java has it."""
    return xxh32_intdigest(data, _SEED) & _HASH_BITS


def _damage(reason: str) -> ChunkDecodeError:
    return ChunkDecodeError(reason, "n5.lz4")
