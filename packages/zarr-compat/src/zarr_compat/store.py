"""The store interface of zarr-python, and conversions of its values."""

from __future__ import annotations

from inspect import iscoroutine
from typing import TYPE_CHECKING, Any

from zarr.abc.store import (
    ByteRequest,
    OffsetByteRequest,
    RangeByteRequest,
    Store,
    SuffixByteRequest,
)
from zarr.core.buffer import default_buffer_prototype

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = [
    "ByteRequest",
    "OffsetByteRequest",
    "RangeByteRequest",
    "Store",
    "SuffixByteRequest",
]


async def listed(names: Any) -> AsyncIterator[str]:
    """Yield the names of a listing, which is a coroutine in stores that cannot list."""
    if iscoroutine(names):
        names = await names
    async for name in names:
        yield name


def to_bytes(value: Any) -> bytes:
    """Return the bytes of a buffer of zarr-python, or of a bytes-like object; ``bytes(5)`` has zeros."""
    if hasattr(value, "as_buffer_like"):
        data: bytes = value.to_bytes()
        return data
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise TypeError(f"a value must be a buffer, not {type(value).__name__}") from None


def buffer_of(value: Any, prototype: Any = None) -> Any:
    """Return a value as a buffer of a prototype."""
    classes = prototype or default_buffer_prototype()
    return classes.buffer.from_bytes(memoryview(value))
