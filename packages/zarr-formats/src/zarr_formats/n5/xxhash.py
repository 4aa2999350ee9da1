"""The hash XXH32, with which the Java library marks pieces of LZ4.

Specification: xxHash fast digest algorithm, "XXH32".  About 10 MB/s here, and only data
that the Java library compressed with LZ4 needs it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_PRIME1 = 0x9E3779B1
_PRIME2 = 0x85EBCA77
_PRIME3 = 0xC2B2AE3D
_PRIME4 = 0x27D4EB2F
_PRIME5 = 0x165667B1
_MASK = 0xFFFF_FFFF

_STRIPE = 16  # bytes that the four lanes take at once


def xxh32(data: Buffer, seed: int = 0) -> int:
    """The hash of some bytes, of 32 bits."""
    size = len(data)
    striped = size // _STRIPE * _STRIPE
    if striped:
        words = struct.unpack_from(f"<{striped // 4}I", data)
        starts = (seed + _PRIME1 + _PRIME2, seed + _PRIME2, seed, seed - _PRIME1)
        lanes = [_lane(start & _MASK, words[number::4]) for number, start in enumerate(starts)]
        value = sum(map(_rotated, lanes, (1, 7, 12, 18)))
    else:
        value = seed + _PRIME5
    value += size
    whole = size // 4 * 4
    for (word,) in struct.iter_unpack("<I", memoryview(data)[striped:whole]):
        value = _rotated((value + word * _PRIME3) & _MASK, 17) * _PRIME4
    for octet in memoryview(data)[whole:]:
        value = _rotated((value + octet * _PRIME5) & _MASK, 11) * _PRIME1
    value &= _MASK
    value = (value ^ value >> 15) * _PRIME2 & _MASK
    value = (value ^ value >> 13) * _PRIME3 & _MASK
    return value ^ value >> 16


def _lane(value: int, words: tuple[int, ...]) -> int:
    for word in words:
        value = value + word * _PRIME2 & _MASK
        value = (value << 13 | value >> 19) * _PRIME1 & _MASK
    return value


def _rotated(value: int, count: int) -> int:
    return (value << count | value >> 32 - count) & _MASK
