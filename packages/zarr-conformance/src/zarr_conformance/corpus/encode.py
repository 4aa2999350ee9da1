"""Encoders for the stored chunks of the test cases, written without the code of zarr-core.

They use NumPy, the standard library and numcodecs, and support only what the cases need.
Registered codecs are encoded in the modules of their cases.
"""

from __future__ import annotations

import gzip as _gzip
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.checksum import checksum

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Array = np.ndarray[Any, Any]

EMPTY = 2**64 - 1
"""Offset and length of an empty inner chunk."""


def document(value: Any) -> bytes:
    """Return a JSON document."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


def json_text(value: Any) -> str:
    """Return JSON in one line, for summaries of cases."""
    return json.dumps(value, ensure_ascii=False)


NUMBER = 424242
"""Placeholder for a number of :func:`document_with`."""


def document_with(value: Any, *numbers: str) -> bytes:
    """Return a JSON document with each :data:`NUMBER` replaced by the text of a number."""
    before, *after = document(value).decode().split(str(NUMBER))
    pairs = zip(numbers, after, strict=True)
    return (before + "".join(number + text for number, text in pairs)).encode()


def raw(array: Array, endian: str = "little") -> bytes:
    """Encode with the ``bytes`` codec: elements in C order, in one byte order."""
    return array.astype(array.dtype.newbyteorder("<" if endian == "little" else ">")).tobytes()


def gzip(data: bytes, level: int = 5, seconds: int = 0) -> bytes:
    """Encode with the ``gzip`` codec; the result does not depend on date and Python version."""
    member = bytearray(_gzip.compress(data, level, mtime=seconds))
    member[9] = 255  # operating system "unknown"; the default depends on the Python version
    return bytes(member)


def crc32c(data: bytes) -> bytes:
    """Encode with the ``crc32c`` codec: the data followed by their checksum."""
    return data + struct.pack("<I", checksum(data))


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
    """Return a shard of the ``sharding_indexed`` codec.

    Parameters
    ----------
    inner : mapping of int to bytes
        Encoded inner chunks by their index in C order; missing ones are empty.
    count : int
        The number of inner chunks in a full shard.
    index_location : {"end", "start"}
        The location of the index.
    order : sequence of int, optional
        The order in which the inner chunks are stored; by index if omitted.
    gap : bytes
        Bytes before each inner chunk.
    checked : bool
        Whether a CRC-32C follows the index.
    endian : {"little", "big"}
        The byte order of the index.
    """
    index_size = 16 * count + (4 if checked else 0)
    offset = index_size if index_location == "start" else 0
    entries = [(EMPTY, EMPTY)] * count
    body = b""
    for number in order if order is not None else sorted(inner):
        body += gap
        entries[number] = (offset + len(body), len(inner[number]))
        body += inner[number]
    index = b"".join(
        struct.pack("<QQ" if endian == "little" else ">QQ", *entry) for entry in entries
    )
    if checked:
        index = crc32c(index)
    return index + body if index_location == "start" else body + index


def blocks(array: Array, lengths: Sequence[int], fill: Any = 0) -> dict[tuple[int, ...], Array]:
    """Return the chunks of a regular grid by their coordinates, with full chunks at the edges."""
    counts = [-(-size // length) for size, length in zip(array.shape, lengths, strict=True)]
    padded = np.full([n * length for n, length in zip(counts, lengths, strict=True)], fill)
    padded = padded.astype(array.dtype)
    padded[tuple(slice(0, size) for size in array.shape)] = array
    return {
        coords: np.ascontiguousarray(
            padded[
                tuple(
                    slice(n * length, (n + 1) * length)
                    for n, length in zip(coords, lengths, strict=True)
                )
            ]
        )
        for coords in np.ndindex(*counts)
    }
