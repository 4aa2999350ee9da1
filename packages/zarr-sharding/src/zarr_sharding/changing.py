"""Changing chunks of a shard that is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from zarr_core.extension import ChunkDecodeError, ValueReader

from zarr_sharding.assembly import Kept, as_list, assemble
from zarr_sharding.listing import located
from zarr_sharding.ranges import subrange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import Buffer, Change, Pieces, Store

    from zarr_sharding.assembly import Encoded
    from zarr_sharding.layout import Layout


def change_chunks(
    store: Store,
    layout: Layout,
    shard: str,
    replaced: Mapping[int, Encoded],
    changed: Mapping[int, Change],
) -> None:
    """Make a shard anew, while nobody else changes it.

    Parameters
    ----------
    store : Store
        Where the shards are.
    layout : Layout
        Which chunk lies in which shard.
    shard : str
        Key of the shard.
    replaced : mapping of int to (list of Buffer or None)
        Chunks that have a new value whatever they were; None for one that is removed.
    changed : mapping of int to callable
        Chunks that are made out of what they were, as by ``Store.update``.

    Raises
    ------
    ChunkDecodeError
        If the index is damaged, or the entry of a chunk that is kept; names the shard.

    Notes
    -----
    "Based on the existing chunks and value ranges that need to be updated new shards
    are constructed."  What no chunk refers to any more is left out; a shard without
    chunks is removed.
    """

    def change(reader: ValueReader | None) -> Pieces | ValueReader | None:
        new = dict(replaced)
        try:
            index = None if reader is None else layout.index.read(reader)
            found = {it: None if index is None else index.locate_one(it) for it in changed}
        except ChunkDecodeError as error:
            raise located(error, store, shard) from error
        for number, function in changed.items():
            place = found[number]
            old = None if reader is None or place is None else subrange(reader, *place)
            value = function(old)
            if not isinstance(value, ValueReader):  # which means: leave it as it is
                new[number] = as_list(value)
        kept = Kept.nothing()
        if reader is not None and index is not None:
            if all(value is None for value in new.values()) and not index.has_any(new):
                return reader
            untouched = np.ones(layout.index.count, np.bool_)
            untouched[list(new)] = False
            try:
                kept = Kept.read(reader, index, np.flatnonzero(untouched))
            except ChunkDecodeError as error:
                raise located(error, store, shard) from error
        return assemble(layout.index, kept, new, new.values())

    store.update(shard, change)


def patch(parts: Sequence[tuple[int, Buffer]]) -> Change:
    """Make a change that stores parts of a value, each ``(start, value)``, after gaps of zeros."""

    def change(reader: ValueReader | None) -> bytearray:
        new = bytearray() if reader is None else bytearray(reader.read(0, reader.size))
        for start, value in parts:
            new.extend(bytes(max(0, start + len(value) - len(new))))
            new[start : start + len(value)] = value
        return new

    return change
