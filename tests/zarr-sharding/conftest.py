"""Fixtures of the sharding tests: representations, counting readers, shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from zarr_core.extension import (
    ArrayRepresentation,
    BufferByteReader,
    ByteReader,
    ExtensionDefinition,
    create_extension,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_sharding.codec import ShardingCodec

EMPTY = 2**64 - 1


def represent(
    shape: Sequence[int], dtype: str = "int32", fill: Any = 0, write_empty_chunks: bool = False
) -> ArrayRepresentation:
    data_type = create_extension("data_type", ExtensionDefinition(dtype))
    fill_value = fill if isinstance(fill, np.ndarray) else np.asarray(fill, dtype)
    return ArrayRepresentation(tuple(shape), data_type, fill_value, write_empty_chunks)


class CountingReader(ByteReader):
    """A reader that records reads, and is not a BufferByteReader."""

    def __init__(self, data: bytes) -> None:
        self.data = BufferByteReader(data)
        self.reads: list[list[tuple[int, int]]] = []

    @property
    def size(self) -> int:
        return self.data.size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        self.reads.append([(start, len(buffer)) for start, buffer in parts])
        self.data.read_into(parts)

    @property
    def nbytes(self) -> int:
        return sum(length for parts in self.reads for _, length in parts)


def entries_of(codec: ShardingCodec, decoded: ArrayRepresentation, data: bytes) -> np.ndarray:
    """The index of a shard, shape (inner chunks, 2)."""
    shard = codec._shard(decoded)
    return shard.index.read(BufferByteReader(data)).entries.copy()


def with_entries(
    codec: ShardingCodec, decoded: ArrayRepresentation, data: bytes, entries: np.ndarray
) -> bytes:
    """The same shard with another index; its checksum is right."""
    shard = codec._shard(decoded)
    index = b"".join(shard.index.encode(entries.astype(np.uint64)))
    if shard.index.at_start:
        return index + data[len(index) :]
    return data[: -len(index)] + index


@pytest.fixture(scope="session")
def rep() -> Callable[..., ArrayRepresentation]:
    return represent


@pytest.fixture(scope="session")
def counting() -> type[CountingReader]:
    return CountingReader


@pytest.fixture(scope="session")
def index_of() -> Callable[..., np.ndarray]:
    return entries_of


@pytest.fixture(scope="session")
def reindexed() -> Callable[..., bytes]:
    return with_entries
