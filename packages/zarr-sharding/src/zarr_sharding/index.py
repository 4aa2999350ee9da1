"""The index of a shard: where each of its inner chunks lies.

Specification: sharding codec 1.0, "Binary shard format".  Stored data is never
trusted: an entry that points out of the shard breaks its own inner chunk only,
an index that cannot be decoded breaks the shard.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import BoundChain, Buffer, ChunkDecodeError

if TYPE_CHECKING:
    from collections.abc import Collection

    from zarr_core.extension import ValueReader

    Entries = np.ndarray[Any, np.dtype[np.uint64]]
    Numbers = np.ndarray[Any, np.dtype[np.intp]]

# "Empty inner chunks are denoted by setting both offset and nbytes to 2^64 - 1."
EMPTY = 2**64 - 1

MOST_INNER_CHUNKS = 1 << 26
"""Inner chunks that a shard may have; their index takes 1 GiB."""


_FAR = 2**63 - 1  # no value is longer

_LITTLE = struct.Struct("<QQ").unpack_from
_BIG = struct.Struct(">QQ").unpack_from


@dataclass(frozen=True, slots=True)
class IndexFormat:
    """How the index of every shard of one shape is stored.

    Parameters
    ----------
    chain : BoundChain
        The index codecs, bound to the index as an array of ``(*grid, 2)`` uint64.
    size : int
        Bytes of the encoded index.
    at_start : bool
        Whether it lies before the inner chunks rather than behind them.
    grid : tuple of int
        Inner chunks per shard, in each dimension.
    """

    chain: BoundChain
    size: int
    at_start: bool
    grid: tuple[int, ...]

    @property
    def count(self) -> int:
        """Inner chunks per shard."""
        return prod(self.grid)

    def read(self, reader: ValueReader) -> ShardIndex:
        """Read the index out of a stored shard, with one read.

        Raises
        ------
        ChunkDecodeError
            If the shard is too short for an index, or the index is damaged.
        """
        low, high = self._bounds(reader.size)
        return self._decode(self._stored(reader), low, high)

    def of_unknown_shard(self, stored: Buffer) -> ShardIndex:
        """Decode an index that was read out of a shard of unknown length.

        Parameters
        ----------
        stored : Buffer
            As many bytes of the shard's beginning or end as an index has.

        Raises
        ------
        ChunkDecodeError
            As :meth:`read`.  That an entry points behind the shard is not noticed.
        """
        self._bounds(len(stored))
        return self._decode(stored, self.size if self.at_start else 0, _FAR)

    def read_one(self, reader: ValueReader, number: int) -> tuple[int, int] | None:
        """Offset and length of one inner chunk; None if it is empty.

        The whole index is read if it has a checksum, but only the one entry is looked
        at, where index codecs leave the entries as they are.

        Raises
        ------
        ChunkDecodeError
            As :meth:`read`, and if the entry points out of the shard or into its index.
        """
        if not self.chain.is_plain:
            return self.read(reader).locate_one(number)
        low, high = self._bounds(reader.size)
        unpack = _LITTLE if self.chain.memory_dtype == "<u8" else _BIG
        if self.chain.bytes_to_bytes:
            try:
                entries = self.chain.undo(self._stored(reader))
            except ChunkDecodeError as error:
                raise _of_the_index(error) from error
            offset, nbytes = unpack(entries, 16 * number)
        else:
            start = 0 if self.at_start else high
            offset, nbytes = unpack(reader.read(start + 16 * number, 16))
        if low <= offset and offset + nbytes <= high:
            return offset, nbytes
        if offset == nbytes == EMPTY:
            return None
        return self.read(reader).locate_one(number)  # which says what is wrong

    def _bounds(self, size: int) -> tuple[int, int]:
        """Where in a shard of this size inner chunks may lie."""
        if size < self.size:
            raise ChunkDecodeError(
                f"the shard has {size} bytes, fewer than the {self.size} of its index"
            )
        return (self.size, size) if self.at_start else (0, size - self.size)

    def _stored(self, reader: ValueReader) -> Buffer:
        return reader.read(0 if self.at_start else reader.size - self.size, self.size)

    def _decode(self, stored: Buffer, low: int, high: int) -> ShardIndex:
        try:
            entries = self.chain.decode(stored)
        except ChunkDecodeError as error:
            raise _of_the_index(error) from error
        return ShardIndex(np.asarray(entries, np.uint64).reshape(-1, 2), low, high, self.grid)

    def encode(self, entries: Entries) -> list[Buffer]:
        """Encode an index of shape ``(inner chunks, 2)``."""
        encoded = self.chain.encode(entries.reshape(*self.grid, 2))
        if isinstance(encoded, bytes | bytearray | memoryview):
            return [encoded]
        return list(encoded or ())


def _of_the_index(error: ChunkDecodeError) -> ChunkDecodeError:
    return type(error)(f"index of the shard: {error.reason}", error.codec)


@dataclass(frozen=True, slots=True)
class ShardIndex:
    """The decoded index of one stored shard.

    Parameters
    ----------
    entries : ndarray of uint64, shape (inner chunks, 2)
        Offset and length of each inner chunk, in C order of the grid.
    low, high : int
        The bytes of the shard that are not its index; inner chunks lie there.
        They may overlap, and there may be gaps.
    grid : tuple of int
        Inner chunks per shard, in each dimension.
    """

    entries: Entries
    low: int
    high: int
    grid: tuple[int, ...]

    def locate_one(self, number: int) -> tuple[int, int] | None:
        """Offset and length of one inner chunk; None if it is empty.

        Raises
        ------
        ChunkDecodeError
            If the entry points out of the shard or into its index.
        """
        offset, nbytes = self.entries[number].tolist()
        if offset == nbytes == EMPTY:
            return None
        if offset < self.low or offset + nbytes > self.high:
            raise self._broken(number)
        return offset, nbytes

    def locate(self, numbers: Numbers) -> tuple[list[tuple[int, int, int]], list[int]]:
        """Find several inner chunks.

        Parameters
        ----------
        numbers : ndarray of int
            The inner chunks, counted in C order of the grid.

        Returns
        -------
        found : list of (int, int, int)
            Offset, length and position in ``numbers``, in the order of the offsets.
        empty : list of int
            Positions in ``numbers`` of inner chunks that are empty.

        Raises
        ------
        ChunkDecodeError
            If one of the entries points out of the shard or into its index.
        """
        chosen = self.entries[numbers]
        offset, nbytes = chosen[:, 0], chosen[:, 1]
        empty = (offset == EMPTY) & (nbytes == EMPTY)
        # Without the sum of the two, which may wrap around.
        broken = (offset > self.high) | (nbytes > self.high - np.minimum(offset, self.high))
        if self.low:
            broken |= offset < self.low
        broken &= ~empty
        if broken.any():
            raise self._broken(int(numbers[broken.argmax()]))
        order = offset.argsort(kind="stable")
        if not empty.any():
            missing: list[int] = []
        else:
            missing = np.flatnonzero(empty).tolist()
            order = order[: len(order) - len(missing)]  # the empty ones have the largest offset
        found = zip(offset[order].tolist(), nbytes[order].tolist(), order.tolist(), strict=True)
        return list(found), missing

    def sizes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Stored bytes of the inner chunks in their grid; -1 for those that are empty."""
        nbytes = np.minimum(self.entries[:, 1], self.high)  # an entry may claim anything
        empty = (self.entries == EMPTY).all(axis=1)
        return np.where(empty, -1, nbytes.astype(np.int64)).reshape(self.grid)

    def present(self) -> Numbers:
        """Inner chunks that are not empty, whether or not they can be found."""
        return np.flatnonzero((self.entries != EMPTY).any(axis=1))

    def has_any(self, numbers: Collection[int]) -> bool:
        """Whether any of these inner chunks is not empty."""
        chosen = np.fromiter(numbers, np.intp, len(numbers))
        return bool((self.entries[chosen] != EMPTY).any())

    def coordinates(self, number: int) -> tuple[int, ...]:
        """Position of an inner chunk in the grid of the shard."""
        return coordinates(self.grid, number)

    def _broken(self, number: int) -> ChunkDecodeError:
        offset, nbytes = self.entries[number].tolist()
        if EMPTY in (offset, nbytes):
            what = f"is half empty (offset {offset}, length {nbytes})"
        else:
            what = (
                f"is at byte {offset} with length {nbytes}, but inner chunks of this shard "
                f"lie between bytes {self.low} and {self.high}"
            )
        return ChunkDecodeError(f"by its index, inner chunk {self.coordinates(number)} {what}")


def coordinates(grid: tuple[int, ...], number: int) -> tuple[int, ...]:
    """Position of an inner chunk in the grid of its shard."""
    return tuple(int(place) for place in np.unravel_index(number, grid))
