"""Update of chunks in a stored shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from zarr_core.extension import ByteReader, ChunkDecodeError

from zarr_sharding.inner_chunks import subrange
from zarr_sharding.transformer.list_keys import with_shard
from zarr_sharding.writer import EncodedChunks, assemble

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import Buffer, Buffers, Change, Store

    from zarr_sharding.transformer.layout import Layout
    from zarr_sharding.writer import Encoded


def change_chunks(
    store: Store,
    layout: Layout,
    shard: str,
    replaced: Mapping[int, Encoded],
    changed: Mapping[int, Change],
) -> None:
    """Rewrite a shard, excluding concurrent changes.

    "Based on the existing chunks and value ranges that need to be updated new shards are
    constructed."  Bytes that no chunk refers to are dropped; a shard without chunks is removed.

    Parameters
    ----------
    replaced : mapping of int to (list of Buffer or None)
        New values of chunks; None removes a chunk.
    changed : mapping of int to callable
        Functions that compute the new value from the old one, as in ``Store.update``.

    Raises
    ------
    ChunkDecodeError
        If the index, or the entry of a chunk that is kept, is damaged; contains the key of the shard.
    """

    def change(reader: ByteReader | None) -> Buffers | ByteReader | None:
        new = dict(replaced)
        try:
            index = None if reader is None else layout.index.read(reader)
            extents = {n: None if index is None else index.locate_one(n) for n in changed}
        except ChunkDecodeError as error:
            raise with_shard(error, store, shard) from error
        for number, function in changed.items():
            extent = extents[number]
            old = None if reader is None or extent is None else subrange(reader, *extent)
            value = function(old)
            if not isinstance(value, ByteReader):  # a reader means no change
                new[number] = value
        parts = [EncodedChunks.of(new, new.values())]
        if reader is not None and index is not None:
            if all(value is None for value in new.values()) and not index.has_any(new):
                return reader
            untouched = np.ones(layout.index.count, np.bool_)
            untouched[list(new)] = False
            try:
                parts.insert(0, EncodedChunks.read(reader, index, np.flatnonzero(untouched)))
            except ChunkDecodeError as error:
                raise with_shard(error, store, shard) from error
        return assemble(layout.index, parts)

    store.update(shard, change)


def patch(parts: Sequence[tuple[int, Buffer]]) -> Change:
    """Return a change that writes byte ranges, each ``(start, value)``; gaps are zeros."""

    def change(reader: ByteReader | None) -> bytearray:
        new = bytearray() if reader is None else bytearray(reader.read(0, reader.size))
        for start, value in parts:
            new.extend(bytes(max(0, start + len(value) - len(new))))
            new[start : start + len(value)] = value
        return new

    return change
