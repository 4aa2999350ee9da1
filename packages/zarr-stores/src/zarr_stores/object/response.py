"""Values that a service stores in compressed form (``Content-Encoding``, RFC 9110, 8.4)."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

_PLAIN = ("", "identity", "aws-chunked")
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_OVERHEAD = 1 << 10  # bytes by which a compressed value may be longer than the value, and 1/64


class DecodedResponse:
    """Response with a value that was compressed; without its body if that exceeds the limit.

    Attributes
    ----------
    meta : mapping
        Properties of the object, and ``size`` of the value.
    range : (int, int)
        Start and stop of the value.
    attributes : mapping
        Attributes of the object.
    """

    def __init__(self, result: Any, size: int, body: Buffer = b"") -> None:
        self.meta = {**result.meta, "size": size}
        self.range = 0, size
        self.attributes = result.attributes
        self._body = body

    def bytes(self) -> Buffer:
        """Return the body."""
        return self._body

    def stream(self, **_: int) -> Iterator[Buffer]:
        """Return the body in one piece."""
        return iter((self._body,))


def coding_of(result: Any) -> str:
    """Return how the body of a response is compressed; empty if it is not."""
    attributes = getattr(result, "attributes", None)
    coding = str(attributes.get("Content-Encoding", "")).strip().lower() if attributes else ""
    return "" if coding in _PLAIN else coding


def decompress(data: memoryview, coding: str, limit: int) -> bytes | None:
    """Return a value; None if it has more than ``limit`` bytes.

    Raises
    ------
    ValueError
        If the coding is not supported or the data is damaged.
    """
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
