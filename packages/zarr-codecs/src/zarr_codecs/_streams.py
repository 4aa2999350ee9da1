"""Compressed streams, decompressed piece by piece into memory of a promised size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import ChecksumError, ChunkDecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.extension import Buffer

_FEED = 1 << 16  # bytes given to a decompressor at once; what it leaves over is copied
_PIECE = 1 << 18  # bytes taken from it at once; still in the cache when copied


def fill(out: memoryview, pieces: Iterable[bytes], name: str) -> None:
    """Copy pieces into memory that they must fill exactly.

    Parameters
    ----------
    out : memoryview
        Receives them.
    pieces : iterable of bytes
        No more of them is asked for once they are too many.
    name : str
        The codec; for messages.

    Raises
    ------
    ChunkDecodeError
        If they are too many or too few.
    """
    start = 0
    for piece in pieces:
        stop = start + len(piece)
        if stop > len(out):
            raise ChunkDecodeError(f"decodes to more than {len(out)} bytes", name)
        out[start:stop] = piece
        start = stop
    if start != len(out):
        raise ChunkDecodeError(f"decodes to {start} bytes instead of {len(out)}", name)


def gather(pieces: Iterator[bytes], decoded_size: int | None, name: str) -> Buffer:
    """Join pieces; those of a promised size, if it is known."""
    if decoded_size is None:
        return b"".join(pieces)
    out: Any = b""  # grows, so that no more is taken than there is, whatever was promised
    for piece in pieces:
        if not out:
            out = piece  # most often the only one
        elif type(out) is bytes:
            out = bytearray(out) + piece
        else:
            out += piece
        if len(out) > decoded_size:
            raise ChunkDecodeError(f"decodes to more than {decoded_size} bytes", name)
    if len(out) != decoded_size:
        raise ChunkDecodeError(f"decodes to {len(out)} bytes instead of {decoded_size}", name)
    whole: Buffer = out
    return whole


def inflated(
    data: Buffer, new: Callable[[], Any], errors: type[Exception], several: bool, name: str
) -> Iterator[bytes]:
    """Give what DEFLATE streams in a container of zlib or gzip hold.

    Parameters
    ----------
    data : Buffer
        The encoded bytes.
    new : callable
        Makes what decompresses one stream, with the methods of that of ``zlib``.
    errors : type
        What it raises about damaged bytes.
    several : bool
        Whether another stream may follow the first (RFC 1952, section 2.2).
    name : str
        The codec; for messages.

    Raises
    ------
    ChunkDecodeError
        If a stream is damaged or cut short, or something else follows it.
    """
    view = memoryview(data)
    position = 0
    while position < len(view) or not position:
        stream = new()
        begin = position
        while not stream.eof:
            feed: Buffer = view[position : position + _FEED]
            if not feed:
                raise _cut(view, name)
            position += len(feed)
            try:
                while True:
                    piece = stream.decompress(feed, _PIECE)
                    yield piece
                    if stream.eof or len(piece) < _PIECE:
                        break
                    feed = stream.unconsumed_tail
            except errors as error:
                raise _damage(str(error), begin, name) from error
        position -= len(stream.unused_data)
        if not several and position < len(view):
            raise _following(position, name)


def decompressed(
    data: Buffer, new: Callable[[], Any], errors: type[Exception], several: bool, name: str
) -> Iterator[bytes]:
    """Give what the streams of a decompressor like those of ``bz2`` and ``lzma`` hold.

    Parameters
    ----------
    data : Buffer
        The encoded bytes.
    new : callable
        Makes what decompresses one stream.
    errors : type
        What it raises about damaged bytes, besides ``EOFError`` and ``ValueError``.
    several : bool
        Whether another stream may follow the first.
    name : str
        The codec; for messages.

    Raises
    ------
    ChunkDecodeError
        If a stream is damaged or cut short, or something else follows it.
    """
    view = memoryview(data)
    position = 0
    while position < len(view) or not position:
        stream = new()
        begin = position
        while not stream.eof:
            feed: Buffer = b""
            if stream.needs_input:
                feed = view[position : position + _FEED]
                if not feed:
                    raise _cut(view, name)
                position += len(feed)
            try:
                piece = stream.decompress(feed, _PIECE)
            except (errors, EOFError, ValueError) as error:
                if begin:
                    raise _following(begin, name) from error
                raise ChunkDecodeError(str(error), name) from error
            yield piece
        position -= len(stream.unused_data)
        if not several and position < len(view):
            raise _following(position, name)


def _cut(view: memoryview, name: str) -> ChunkDecodeError:
    return ChunkDecodeError(f"cut short after {len(view)} bytes", name)


def _following(position: int, name: str) -> ChunkDecodeError:
    unit = "gzip member" if name == "gzip" else f"{name} stream"
    return ChunkDecodeError(f"bytes that are no {unit} follow byte {position}", name)


def _damage(message: str, begin: int, name: str) -> ChunkDecodeError:
    # zlib speaks of an incorrect data or length check, isal of an incorrect checksum.
    if "check" in message and "header" not in message:
        what = "CRC-32 or length of a gzip member" if name == "gzip" else "Adler-32 of the stream"
        return ChecksumError(f"the {what} is not that of its content", name)
    if begin and ("header" in message or "wrapper" in message):
        return _following(begin, name)
    return ChunkDecodeError(message, name)
