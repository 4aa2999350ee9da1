"""Incremental decompression of streams, with a limit on the decoded size."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ChecksumError, ChunkDecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.extension import Buffer

_FEED = 1 << 16  # bytes passed to a decompressor at once; it copies unused input
_BLOCK = 1 << 18  # bytes of output at once; still in the cache when copied


def fill(out: memoryview, blocks: Iterable[bytes], name: str) -> None:
    """Copy blocks into memory that they must fill exactly; stop as soon as they do not fit."""
    start = 0
    for block in blocks:
        stop = start + len(block)
        if stop > len(out):
            raise ChunkDecodeError(f"decodes to more than {len(out)} bytes", name)
        out[start:stop] = block
        start = stop
    if start != len(out):
        raise ChunkDecodeError(f"decodes to {start} bytes instead of {len(out)}", name)


def gather(blocks: Iterator[bytes], decoded_size: int | None, name: str) -> Buffer:
    """Join blocks, and check their total size if it is known."""
    if decoded_size is None:
        return b"".join(blocks)
    whole = gather_limited(blocks, decoded_size)
    if isinstance(whole, int):
        raise ChunkDecodeError(f"decodes to more than {decoded_size} bytes", name)
    if len(whole) != decoded_size:
        raise ChunkDecodeError(f"decodes to {len(whole)} bytes instead of {decoded_size}", name)
    return whole


def gather_limited(blocks: Iterator[bytes], limit: int) -> Buffer | int:
    """Join blocks; if they have more bytes than the limit, return how many were decoded."""
    out: Any = b""  # grows, so a limit that is too large does not allocate memory
    for block in blocks:
        if not out:
            out = block  # usually the only one
        elif type(out) is bytes:
            out = bytearray(out) + block
        else:
            out += block
        if len(out) > limit:
            return len(out)
    whole: Buffer = out
    return whole


def inflate(data: Buffer, wbits: int, multiple: bool, name: str) -> Iterator[bytes]:
    """Yield the content of DEFLATE streams in a container, which ``wbits`` of zlib says.

    ``multiple``: another stream may follow the first (RFC 1952, section 2.2).
    """
    view = memoryview(data)
    position = 0
    while position < len(view) or not position:
        stream = zlib.decompressobj(wbits)
        begin = position
        while not stream.eof:
            feed: Buffer = view[position : position + _FEED]
            if not feed:
                raise _truncated(view, name)
            position += len(feed)
            try:
                while True:
                    block = stream.decompress(feed, _BLOCK)
                    yield block
                    if stream.eof or len(block) < _BLOCK:
                        break
                    feed = stream.unconsumed_tail
            except zlib.error as error:
                raise _damage_error(str(error), begin, name) from error
        position -= len(stream.unused_data)
        if not multiple and position < len(view):
            raise _trailing_bytes(position, name)


def decompress(
    data: Buffer, new: Callable[[], Any], errors: type[Exception], multiple: bool, name: str
) -> Iterator[bytes]:
    """Yield the content of streams, with a decompressor as in ``bz2`` and ``lzma`` from ``new``.

    ``errors`` are those other than ``EOFError`` and ``ValueError`` that it raises for damaged data;
    ``multiple``: another stream may follow the first.
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
                    raise _truncated(view, name)
                position += len(feed)
            try:
                block = stream.decompress(feed, _BLOCK)
            except (errors, EOFError, ValueError) as error:
                if begin:
                    raise _trailing_bytes(begin, name) from error
                raise ChunkDecodeError(str(error), name) from error
            yield block
        position -= len(stream.unused_data)
        if not multiple and position < len(view):
            raise _trailing_bytes(position, name)


def _truncated(view: memoryview, name: str) -> ChunkDecodeError:
    return ChunkDecodeError(f"truncated after {len(view)} bytes", name)


def _trailing_bytes(position: int, name: str) -> ChunkDecodeError:
    unit = "gzip member" if name == "gzip" else f"{name} stream"
    return ChunkDecodeError(f"the bytes from byte {position} on are not a {unit}", name)


def _damage_error(message: str, begin: int, name: str) -> ChunkDecodeError:
    # "incorrect data check" or "incorrect length check"
    if "check" in message and "header" not in message:
        what = "CRC-32 or length of a gzip member" if name == "gzip" else "Adler-32 of the stream"
        return ChecksumError(f"the {what} does not match its content", name)
    if begin and ("header" in message or "wrapper" in message):
        return _trailing_bytes(begin, name)
    return ChunkDecodeError(message, name)
