"""Damaged bytes and invalid configurations."""

from __future__ import annotations

import tracemalloc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core.extension import JSON

JUNK: tuple[JSON, ...] = (
    {"no such thing": None}, ["junk", [None]], "\0 no such thing", -(2**70), 1.5, True, None,
)  # fmt: skip
"""Invalid JSON values of every type."""


def damaged(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Bytes with one thing wrong each, after what is wrong.

    Parameters
    ----------
    data : bytes
        What a codec wrote.
    """
    size = len(data)
    if size:
        yield "nothing", b""
    for end in sorted({1, 2, 4, 8, 16, size // 2, size - 2, size - 1}):
        if 0 < end < size:
            yield f"the first {end} of {size} bytes", data[:end]
    yield "more bytes at the end", data + b"\xa5\x5a\0"
    # Headers are at either end, so every byte there.
    for position in sorted({*range(min(size, 40)), *range(max(0, size - 24), size)}):
        for bits in (0xFF, 0x01, 0x80):
            changed = bytearray(data)
            changed[position] ^= bits
            yield f"byte {position} with {bits:#x} flipped", bytes(changed)
    yield "only ones", b"\xff" * max(size, 16)
    yield "only zeros", bytes(max(size, 16))


def junk_configurations(configuration: Mapping[str, JSON]) -> Iterator[dict[str, JSON]]:
    """A configuration with one member of the wrong type each."""
    for member, value in configuration.items():
        for junk in JUNK:
            if type(junk) is not type(value):
                yield {**configuration, member: junk}


@contextmanager
def at_most(nbytes: int, what: str) -> Iterator[None]:
    """Fail if a block allocates more memory than that at a time.

    Only what Python's allocator hands out is counted, NumPy's arrays included.
    """
    tracemalloc.start()
    try:
        yield
        peak: Any = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= nbytes, f"{what}: {peak} bytes allocated, where {nbytes} would do"
