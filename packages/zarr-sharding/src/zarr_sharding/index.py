"""Index of a shard: offsets and lengths of the inner chunks.

Specification: sharding codec 1.0, "Binary shard format".  Stored data is validated: an entry
beyond the shard makes its inner chunk unreadable; an index that cannot be decoded, the shard.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import Buffer, ChunkDecodeError

if TYPE_CHECKING:
    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.extension import ByteReader

    Entries = np.ndarray[Any, np.dtype[np.uint64]]
    Numbers = np.ndarray[Any, np.dtype[np.intp]]

# "Empty inner chunks are denoted by setting both offset and nbytes to 2^64 - 1."
EMPTY = 2**64 - 1

MAX_INNER_CHUNKS = 1 << 26
"""Largest number of inner chunks of a shard; their index takes 1 GiB."""


_LITTLE = struct.Struct("<QQ").unpack_from
_BIG = struct.Struct(">QQ").unpack_from


@dataclass(frozen=True, slots=True)
class IndexFormat:
    """Format of the index of all shards of one shape.

    Parameters
    ----------
    chain : PreparedCodecChain
        Index codecs, prepared for an array of uint64 and shape ``(*grid, 2)``.
    size : int
        Size of the encoded index, in bytes.
    at_start : bool
        Whether the index is before the inner chunks rather than after them.
    grid : tuple of int
        Number of inner chunks per shard, in each dimension.
    """

    chain: PreparedCodecChain
    size: int
    at_start: bool
    grid: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of inner chunks per shard."""
        return prod(self.grid)

    def read(self, reader: ByteReader) -> ShardIndex:
        """Read the index of a stored shard, with one read.

        Raises ChunkDecodeError if the shard is too short for an index, or the index is damaged.
        """
        low, high = self._bounds(reader.size)
        return self._decode(self._stored(reader), low, high)

    def read_one(self, reader: ByteReader, number: int) -> tuple[int, int] | None:
        """Return offset and length of one inner chunk; None if it is empty.

        The whole index is read if it has a checksum.  Only one entry is decoded if the index codecs
        do not change the entries.  Raises ChunkDecodeError like :meth:`read`, and if the entry
        points beyond the shard or into its index.
        """
        if not self.chain.has_memory_layout:
            return self.read(reader).locate_one(number)
        low, high = self._bounds(reader.size)
        unpack = _LITTLE if self.chain.memory_dtype == "<u8" else _BIG
        if self.chain.bytes_to_bytes:
            try:
                entries = self.chain.decode_bytes(self._stored(reader))
            except ChunkDecodeError as error:
                raise _index_error(error) from error
            offset, nbytes = unpack(entries, 16 * number)
        else:
            start = 0 if self.at_start else high
            offset, nbytes = unpack(reader.read(start + 16 * number, 16))
        if low <= offset and offset + nbytes <= high:
            return offset, nbytes
        if offset == nbytes == EMPTY:
            return None
        return self.read(reader).locate_one(number)  # raises the error

    def read_several(
        self, data: memoryview, starts: Numbers, stops: Numbers
    ) -> tuple[Numbers, Numbers, np.ndarray[Any, np.dtype[np.bool_]]]:
        """Read the indices of several shards, which begin and end at these bytes of memory.

        Returns offsets and sizes of the inner chunks that are not empty, shard by shard, and which are
        not empty, with the shape (shards, inner chunks).
        """
        if (stops - starts < self.size).any():
            raise ChunkDecodeError("a shard is shorter than its index")
        first = (starts if self.at_start else stops - self.size).tolist()
        indices = [data[at : at + self.size] for at in first]
        entries: Entries
        if self.chain.has_memory_layout:
            decode = self.chain.decode_bytes
            joined = b"".join([decode(index) for index in indices])
            entries = np.frombuffer(joined, self.chain.memory_dtype or np.uint64)
        else:
            entries = np.concatenate([self.chain.decode(index) for index in indices])
        offsets, sizes = np.moveaxis(entries.astype(np.uint64).reshape(len(first), -1, 2), 2, 0)
        stored = (offsets != EMPTY) | (sizes != EMPTY)
        low, high = self.size if self.at_start else 0, stops - starts
        if not self.at_start:
            high = high - self.size
        limit = np.broadcast_to(high.astype(np.uint64)[:, None], stored.shape)[stored]
        shards = np.broadcast_to(starts[:, None], stored.shape)[stored]
        offsets, sizes = offsets[stored], sizes[stored]
        # The sum of offset and length could overflow.
        if (
            (offsets < low) | (offsets > limit) | (sizes > limit - np.minimum(offsets, limit))
        ).any():
            raise ChunkDecodeError("an entry points beyond its shard or into its index")
        return shards + offsets.astype(np.int64), sizes.astype(np.int64), stored

    def _bounds(self, size: int) -> tuple[int, int]:
        """Return the byte range for inner chunks in a shard of this size."""
        if size < self.size:
            raise ChunkDecodeError(
                f"the shard has {size} bytes, but its index requires {self.size}"
            )
        return (self.size, size) if self.at_start else (0, size - self.size)

    def _stored(self, reader: ByteReader) -> Buffer:
        return reader.read(0 if self.at_start else reader.size - self.size, self.size)

    def _decode(self, stored: Buffer, low: int, high: int) -> ShardIndex:
        try:
            entries = self.chain.decode(stored)
        except ChunkDecodeError as error:
            raise _index_error(error) from error
        return ShardIndex(np.asarray(entries, np.uint64).reshape(-1, 2), low, high, self.grid)

    def encode(self, entries: Entries) -> list[Buffer]:
        """Encode an index of shape ``(inner chunks, 2)``."""
        encoded = self.chain.encode(entries.reshape(*self.grid, 2))
        if isinstance(encoded, bytes | bytearray | memoryview):
            return [encoded]
        return list(encoded or ())


def _index_error(error: ChunkDecodeError) -> ChunkDecodeError:
    return type(error)(f"shard index: {error.reason}", error.codec)


@dataclass(frozen=True, slots=True)
class ShardIndex:
    """Decoded index of one stored shard.

    Parameters
    ----------
    entries : ndarray of uint64, shape (inner chunks, 2)
        Offset and length of each inner chunk, in C order of the grid.
    low, high : int
        Byte range of the shard without its index, where the inner chunks are.  They may
        overlap, and gaps are possible.
    grid : tuple of int
        Number of inner chunks per shard, in each dimension.
    """

    entries: Entries
    low: int
    high: int
    grid: tuple[int, ...]

    def locate_one(self, number: int) -> tuple[int, int] | None:
        """Return offset and length of one inner chunk; None if it is empty.

        Raises ChunkDecodeError if the entry points beyond the shard or into its index.
        """
        offset, nbytes = self.entries[number].tolist()
        if offset == nbytes == EMPTY:
            return None
        if offset < self.low or offset + nbytes > self.high:
            raise self._entry_error(number)
        return offset, nbytes

    def locate(self, numbers: Numbers) -> tuple[list[tuple[int, int, int]], list[int]]:
        """Return offsets and lengths of inner chunks by their linear indices in C order.

        Returns
        -------
        ranges : list of (int, int, int)
            Offset, length and position in ``numbers``, sorted by offset.
        empty : list of int
            Positions in ``numbers`` of empty inner chunks.

        Raises
        ------
        ChunkDecodeError
            If an entry points beyond the shard or into its index.
        """
        order, missing = self.order(numbers)
        offset, nbytes = self.entries[numbers[order]].T.tolist()
        return list(zip(offset, nbytes, order.tolist(), strict=True)), missing.tolist()

    def order(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Return positions in ``numbers`` of stored chunks, sorted by offset, and of empty ones.

        Like :meth:`locate`, without Python objects.
        """
        chosen = self.entries[numbers]
        offset, nbytes = chosen[:, 0], chosen[:, 1]
        empty = (offset == EMPTY) & (nbytes == EMPTY)
        # The sum of offset and length could overflow.
        broken = (offset > self.high) | (nbytes > self.high - np.minimum(offset, self.high))
        if self.low:
            broken |= offset < self.low
        broken &= ~empty
        if broken.any():
            raise self._entry_error(int(numbers[broken.argmax()]))
        if (offset[1:] >= offset[:-1]).all():  # as most writers store them
            order = np.arange(len(numbers))
        else:
            order = offset.argsort(kind="stable")
        missing = np.flatnonzero(empty)
        # Empty ones have the largest offset.
        return order[: len(order) - len(missing)], missing

    def sizes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the stored sizes of the inner chunks in their grid; -1 for empty ones."""
        nbytes = np.minimum(self.entries[:, 1], self.high)  # entries can be damaged
        empty = (self.entries == EMPTY).all(axis=1)
        return np.where(empty, -1, nbytes.astype(np.int64)).reshape(self.grid)

    def coordinates(self, number: int) -> tuple[int, ...]:
        """Return the coordinates of an inner chunk in the grid of the shard."""
        return coordinates(self.grid, number)

    def _entry_error(self, number: int) -> ChunkDecodeError:
        offset, nbytes = self.entries[number].tolist()
        if EMPTY in (offset, nbytes):
            what = f"has an invalid entry (offset {offset}, length {nbytes})"
        else:
            what = (
                f"is at byte {offset} with length {nbytes}, but the inner chunks of this shard "
                f"are between bytes {self.low} and {self.high}"
            )
        return ChunkDecodeError(f"shard index: inner chunk {self.coordinates(number)} {what}")


def coordinates(grid: tuple[int, ...], number: int) -> tuple[int, ...]:
    """Return the coordinates of an inner chunk in the grid of its shard."""
    return tuple(int(index) for index in np.unravel_index(number, grid))
