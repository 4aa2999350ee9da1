"""The first difference between two values, for messages."""

from __future__ import annotations


def difference(expected: bytes, got: bytes) -> str:
    """Return the first difference between two values."""
    if len(expected) != len(got):
        return f"{len(got)} bytes instead of {len(expected)}"
    first = next(n for n, pair in enumerate(zip(expected, got, strict=True)) if pair[0] != pair[1])
    part = slice(first - first % 8, first - first % 8 + 8)
    return f"{got[part].hex()} instead of {expected[part].hex()} from byte {part.start}"
