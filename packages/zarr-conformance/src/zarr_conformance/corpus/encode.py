"""Bytes of chunks by the texts of their codecs, without the library that is judged.

NumPy lays out the elements, the standard library and numcodecs compress.  What is not said
here is not needed for the corpus; a codec with a text of its own stands in a file of its own.
"""

from __future__ import annotations

import gzip as _gzip
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Array = np.ndarray[Any, Any]

EMPTY = 2**64 - 1
"""Offset and length of an inner chunk that is not stored."""


def document(value: Any) -> bytes:
    """A JSON document."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


def raw(array: Array, endian: str = "little") -> bytes:
    """The ``bytes`` codec: elements in C order, in one byte order."""
    return array.astype(array.dtype.newbyteorder("<" if endian == "little" else ">")).tobytes()


def gzip(data: bytes, level: int = 5, seconds: int = 0) -> bytes:
    """The ``gzip`` codec, the same bytes on every day, by every version of Python."""
    member = bytearray(_gzip.compress(data, level, mtime=seconds))
    member[9] = 255  # the operating system, which versions of Python give differently: unknown
    return bytes(member)


def crc32c(data: bytes) -> bytes:
    """The ``crc32c`` codec: the data with its checksum behind it."""
    return data + struct.pack("<I", checksum(data))


def checksum(data: bytes) -> int:
    """CRC-32C (RFC 3720, appendix B.4), bit by bit from a table."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def _table() -> list[int]:
    entries = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        entries.append(number)
    return entries


_TABLE = _table()


def shard(
    inner: Mapping[int, bytes],
    count: int,
    *,
    index_location: str = "end",
    order: Sequence[int] | None = None,
    gap: bytes = b"",
    checked: bool = True,
    endian: str = "little",
) -> bytes:
    """A shard of the ``sharding_indexed`` codec.

    Parameters
    ----------
    inner : mapping of int to bytes
        Encoded inner chunks by their numbers in C order; those left out are empty.
    count : int
        Inner chunks of a whole shard.
    index_location : {"end", "start"}
        Where the index lies.
    order : sequence of int, optional
        In which order the inner chunks are stored; by their numbers if not given.
    gap : bytes
        What lies between any two of them.
    checked : bool
        Whether a CRC-32C follows the index.
    endian : {"little", "big"}
        Of the index.
    """
    index_size = 16 * count + (4 if checked else 0)
    offset = index_size if index_location == "start" else 0
    entries = [(EMPTY, EMPTY)] * count
    body = b""
    for number in order if order is not None else sorted(inner):
        body += gap
        entries[number] = (offset + len(body), len(inner[number]))
        body += inner[number]
    index = b"".join(struct.pack("<QQ" if endian == "little" else ">QQ", *it) for it in entries)
    if checked:
        index = crc32c(index)
    return index + body if index_location == "start" else body + index


def blocks(array: Array, lengths: Sequence[int], fill: Any = 0) -> dict[tuple[int, ...], Array]:
    """The chunks of a regular grid by their coordinates, whole ones also at the edges."""
    counts = [-(-size // length) for size, length in zip(array.shape, lengths, strict=True)]
    padded = np.full([n * length for n, length in zip(counts, lengths, strict=True)], fill)
    padded = padded.astype(array.dtype)
    padded[tuple(slice(0, size) for size in array.shape)] = array
    return {
        place: np.ascontiguousarray(
            padded[
                tuple(
                    slice(n * length, (n + 1) * length)
                    for n, length in zip(place, lengths, strict=True)
                )
            ]
        )
        for place in np.ndindex(*counts)
    }
