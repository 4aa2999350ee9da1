"""Blosc frames that are compressed with Snappy, for builds of c-blosc without Snappy.

The streams of a frame are decoded with pyarrow and stored uncompressed in another frame, whose
blocks c-blosc then joins and unshuffles.

Specification: c-blosc, "Blosc Chunk Format" (README_CHUNK_FORMAT); Snappy, "format_description".
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ChunkDecodeError

from zarr_codecs import _blosc_header
from zarr_codecs._optional import import_optional

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_NOT_SPLIT = 0x10  # flag: a block is one stream
_MAX_SPLITS = 16  # streams of a block, one for each byte of an element
_MIN_STREAM = 128  # bytes of a stream of a divided block
_LZ4 = 1 << 5  # number of a compressor that every build contains; its streams can be uncompressed


def uncompressed_frame(data: Buffer) -> bytes:
    """Return a frame with the same content and uncompressed streams.

    ``data`` has a validated header and is compressed with Snappy.
    """
    snappy = import_optional("pyarrow", "snappy", "blosc with snappy").Codec("snappy")
    frame = memoryview(data)
    flags, typesize, nbytes, blocksize = struct.unpack_from("<BBII", frame, 2)
    count = -(-nbytes // blocksize)
    first = _blosc_header.SIZE + 4 * count
    starts: list[int] = []
    parts: list[bytes] = []
    position = first
    for block, start in enumerate(struct.unpack_from(f"<{count}I", frame, _blosc_header.SIZE)):
        starts.append(position)
        length = min(blocksize, nbytes - block * blocksize)
        is_split = (
            length == blocksize
            and not flags & _NOT_SPLIT
            and typesize <= _MAX_SPLITS
            and blocksize >= _MIN_STREAM * typesize
        )
        streams = typesize if is_split else 1
        if length % streams or start < first:
            raise _damaged()
        for _ in range(streams):
            stream = _stream(frame, start)
            start += 4 + len(stream)
            parts += (
                (length // streams).to_bytes(4, "little"),
                _decode(snappy, stream, length // streams),
            )
        position += length + 4 * streams
    header = struct.pack(
        "<BBBBIII", 2, 1, flags & 0x1F | _LZ4, typesize, nbytes, blocksize, position
    )
    return b"".join((header, struct.pack(f"<{count}I", *starts), *parts))


def _stream(frame: memoryview, start: int) -> memoryview:
    """Return the stream at a position, which follows its size."""
    size = int.from_bytes(frame[start : start + 4], "little")
    stream = frame[start + 4 : start + 4 + size]
    if not size or len(stream) != size:
        raise _damaged()
    return stream


def _decode(snappy: Any, stream: memoryview, size: int) -> bytes:
    """Decode a stream; one of the decoded size is not compressed."""
    if len(stream) == size:
        return bytes(stream)
    # pyarrow does not clear the memory beyond a shorter result.
    if _declared_size(stream) != size:
        raise _damaged()
    try:
        decoded: bytes = snappy.decompress(stream, decompressed_size=size, asbytes=True)
    except (OSError, ValueError) as error:
        raise _damaged() from error
    return decoded


def _declared_size(stream: memoryview) -> int:
    """Return the decoded size at the beginning of a stream: seven bits of each byte, lowest first."""
    size = 0
    for index, byte in enumerate(stream[:5]):
        size |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return size
    return -1


def _damaged() -> ChunkDecodeError:
    return ChunkDecodeError("a stream of the frame is damaged", "blosc")
