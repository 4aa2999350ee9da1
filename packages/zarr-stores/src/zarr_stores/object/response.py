"""Responses of services: generations, and values in compressed form.

Specification: RFC 9110, section 8.4 (``Content-Encoding``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_stores.content_encoding import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer


def generation_of(meta: Any) -> str:
    """Return the generation of an object with the properties ``meta``."""
    tag: str | None = meta.get("e_tag")
    if tag:
        return tag.removeprefix("W/").strip('"')
    return str(meta.get("version") or f"{meta['last_modified']:%Y%m%dT%H%M%S.%f}-{meta['size']}")


class EmptyResponse:
    """Response for a range beyond the end of an object."""

    range = (0, 0)

    def __init__(self, meta: Any) -> None:
        self.meta = meta

    def bytes(self) -> bytes:
        """Return no bytes."""
        return b""


class DecodedResponse:
    """Response with a value that was compressed; without its body if that exceeds the limit."""

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
    return "" if coding in PLAIN else coding
