"""Responses of services: generations, and values in compressed form.

Specification: RFC 9110, section 8.4 (``Content-Encoding``).
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer


_PLAIN = ("", "identity", "aws-chunked")
MOST_DECODED = 1 << 28  # bytes of a value without a limit of its own
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_OVERHEAD = 1 << 10  # bytes by which a compressed value may be longer than the value, and 1/64
_NBYTES = 1 << 10  # memory of a response beside its body


def generation_of(meta: Any) -> str:
    """Return the generation of an object with the properties ``meta``."""
    tag: str | None = meta.get("e_tag")
    if tag:
        return tag.removeprefix("W/").strip('"')
    return str(meta.get("version") or f"{meta['last_modified']:%Y%m%dT%H%M%S.%f}-{meta['size']}")


class FirstResponse:
    """Response to a first request: obstore does not request the rest if its body breaks off."""

    def __init__(self, result: Any) -> None:
        self.meta, self.range, self.attributes = result.meta, result.range, result.attributes
        self.bytes, self.stream = result.bytes, result.stream


class HeldResponse:
    """Response of which the body is in memory: the bytes of an object from ``start``."""

    def __init__(self, meta: Any, start: int = 0, body: Buffer = b"") -> None:
        self.meta = meta
        self.range = start, start + len(body)
        self.nbytes = len(body) + _NBYTES
        """Memory of the response."""
        self._body = memoryview(body)

    def bytes(self) -> memoryview:
        """Return the body."""
        return self._body

    def stream(self, **_: int) -> Iterator[Buffer]:
        """Return the body in one piece."""
        return iter((self._body,))


class DecodedResponse(HeldResponse):
    """Response with a value that was compressed; without its body if that exceeds the limit."""

    def __init__(self, result: Any, size: int, body: Buffer = b"") -> None:
        super().__init__({**result.meta, "size": size}, 0, body)
        self.range = 0, size
        self.attributes = result.attributes


def coding_of(result: Any) -> str:
    """Return how the body of a response is compressed; empty if it is not."""
    attributes = getattr(result, "attributes", None)
    coding = str(attributes.get("Content-Encoding", "")).strip().lower() if attributes else ""
    return "" if coding in _PLAIN else coding


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
