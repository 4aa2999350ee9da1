"""Putting a shard together from its inner chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from zarr_core.extension import BufferReader

from zarr_sharding.index import EMPTY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.extension import Buffer, Pieces, ValueReader

    from zarr_sharding.index import IndexFormat, Numbers, ShardIndex

    Encoded: TypeAlias = list[Buffer] | None


@dataclass(frozen=True, slots=True)
class Kept:
    """Inner chunks that go from the old shard into the new one as they are.

    Parameters
    ----------
    pieces : list of Buffer
        Their bytes; what overlapped in the old shard still does.
    nbytes : int
        Length of all pieces.
    numbers : list of int
        The inner chunks.
    entries : list of (int, int)
        Offset within the pieces, and length, of each.
    """

    pieces: list[Buffer]
    nbytes: int
    numbers: list[int]
    entries: list[tuple[int, int]]

    @classmethod
    def nothing(cls) -> Kept:
        """No inner chunk."""
        return cls([], 0, [], [])

    @classmethod
    def read(cls, reader: ValueReader, index: ShardIndex, numbers: Numbers) -> Kept:
        """Read inner chunks, each byte once."""
        found, _ = index.locate(numbers)
        extents: list[list[int]] = []
        entries = []
        total = 0  # length of all extents, the present one included
        for offset, nbytes, _ in found:
            stop = offset + nbytes
            if not extents or offset > extents[-1][1]:
                extents.append([offset, offset])
            extent = extents[-1]
            entries.append((total - (extent[1] - offset), nbytes))
            if stop > extent[1]:
                total += stop - extent[1]
                extent[1] = stop
        pieces: list[Buffer]
        if isinstance(reader, BufferReader):
            pieces = [reader.read(start, stop - start) for start, stop in extents]
        else:
            memory = np.empty(total, np.uint8).data
            parts = []
            position = 0
            for start, stop in extents:
                parts.append((start, memory[position : position + stop - start]))
                position += stop - start
            if parts:
                reader.read_into(parts)
            pieces = [memory]
        return cls(pieces, total, [int(numbers[place]) for _, _, place in found], entries)


def assemble(
    index: IndexFormat, kept: Kept, numbers: Iterable[int], encoded: Iterable[Encoded]
) -> list[Buffer] | None:
    """Put together the index and everything that it points to.

    Parameters
    ----------
    index : IndexFormat
        How the index is stored.
    kept : Kept
        What comes out of an older shard.
    numbers : iterable of int
        Inner chunks that are new.
    encoded : iterable of (list of Buffer or None)
        Their bytes; None for one that is empty.

    Returns
    -------
    list of Buffer or None
        None if there is no inner chunk.
    """
    pieces = list(kept.pieces)
    start = index.size if index.at_start else 0
    stored = list(kept.numbers)
    places = [(start + offset, nbytes) for offset, nbytes in kept.entries]
    offset = start + kept.nbytes
    for number, data in zip(numbers, encoded, strict=True):
        if data is None:
            continue
        nbytes = len(data[0]) if len(data) == 1 else sum(map(len, data))
        stored.append(int(number))
        places.append((offset, nbytes))
        pieces += data
        offset += nbytes
    if not stored:
        return None
    entries = np.full((index.count, 2), EMPTY, np.uint64)
    entries[stored] = places
    last = index.encode(entries)
    return last + pieces if index.at_start else pieces + last


def as_list(encoded: Pieces | None) -> Encoded:
    """Make a value a list of buffers."""
    if encoded is None:
        return None
    return [encoded] if isinstance(encoded, bytes | bytearray | memoryview) else list(encoded)
