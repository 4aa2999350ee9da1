"""Values that a service stores in compressed form (``Content-Encoding``, RFC 9110, 8.4)."""

from __future__ import annotations

import zlib
from typing import Any

PLAIN = ("", "identity", "aws-chunked")
MOST_DECODED = 1 << 28  # bytes of a value without a limit of its own
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_OVERHEAD = 1 << 10  # bytes by which a compressed value may be longer than the value, and 1/64


def decompress(data: memoryview, coding: str, limit: int) -> bytes | None:
    """Return a value; None if it has more than ``limit`` bytes."""
    if coding not in _WINDOWS:
        raise ValueError("only gzip and deflate are supported")
    if coding != "deflate" and data[:2].tobytes() != b"\x1f\x8b":  # the field is wrong
        return bytes(data) if len(data) <= limit else None
    made = bytearray()
    rest: Any = data
    while rest:
        decompressor = zlib.decompressobj(_WINDOWS[coding])
        try:
            # One byte more shows whether the value is longer.
            made += decompressor.decompress(rest, limit + 1 - len(made))
        except zlib.error as error:
            raise ValueError(str(error)) from None
        if len(made) > limit:
            return None
        if not decompressor.eof:
            raise ValueError("the data is truncated")
        rest = decompressor.unused_data if coding != "deflate" else b""
    return bytes(made)


def is_longer(size: int, limit: int) -> bool:
    """Return whether a value of ``size`` compressed bytes certainly exceeds the limit."""
    return size > limit + limit // 64 + _OVERHEAD
