"""Listing of chunk keys in shards."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from zarr_core.extension import ByteRange, ChunkDecodeError, Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.extension import Store

    from zarr_sharding.index import ShardIndex
    from zarr_sharding.transformer.layout import Layout

_WINDOW_BYTES = 1 << 22  # size of the indices in memory at once


def read_indices(
    store: Store, layout: Layout, shards: Sequence[str]
) -> Iterator[tuple[str, ShardIndex]]:
    """Read the indices of several shards, some at a time; omit missing shards.

    Raises ChunkDecodeError with the key of the shard if an index is damaged.
    """
    size = layout.index.size
    step = max(1, _WINDOW_BYTES // size)
    for first in range(0, len(shards), step):
        window = shards[first : first + step]
        values = store.get_partial_values([(shard, ByteRange(-size)) for shard in window])
        for shard, value in zip(window, values, strict=True):
            if value is None:
                continue
            try:
                yield shard, layout.index.decode(value)
            except ChunkDecodeError as error:
                raise with_shard(error, store, shard) from error


def with_shard(error: ChunkDecodeError, store: Store, shard: str) -> ChunkDecodeError:
    """Return the error with the store and the key of the shard."""
    return error.located(Location(store, key=shard))


def list_prefix(store: Store, layout: Layout, prefix: str) -> Iterator[str]:
    """List the keys below a prefix, with chunk keys instead of shard keys."""
    corner = layout.partial_prefix(prefix)
    if corner is None:
        yield from _expanded(store, layout, store.list_prefix(prefix), True, ())
        return
    same = corner.shards == prefix
    yield from _expanded(store, layout, store.list_prefix(corner.shards), same, corner.numbers)
    if not same:
        # Other keys are not mapped to shards.
        yield from (key for key in store.list_prefix(prefix) if layout.parse_key(key) is None)


def _expanded(
    store: Store, layout: Layout, keys: Iterable[str], others: bool, first: Sequence[int]
) -> Iterator[str]:
    """Replace shard keys by the keys of their chunks."""
    keys = iter(keys)
    step = max(1, _WINDOW_BYTES // layout.index.size)
    while window := list(islice(keys, step)):
        shards = []
        for key in window:
            if layout.parse_key(key) is not None:
                shards.append(key)
            elif others:
                yield key
        for shard, index in read_indices(store, layout, shards):
            yield from layout.keys(shard, index.present(), first)


def list_dir(store: Store, layout: Layout, prefix: str) -> tuple[list[str], list[str]]:
    """List keys and prefixes directly below a prefix.

    "For all retrieved prefixes (not full keys) with partial shard keys, the corresponding
    original prefixes covering all possible chunks in the shard are listed."  Some of these
    prefixes have no keys.
    """
    corner = layout.partial_prefix(prefix)
    where, first = (prefix, []) if corner is None else (corner.shards, corner.numbers)
    stored, below = store.list_dir(where)
    keys: list[str] = []
    prefixes: list[str] = []
    others, besides = (stored, below) if where == prefix else store.list_dir(prefix)
    keys += [key for key in others if layout.parse_key(key) is None]
    prefixes += [other for other in besides if layout.partial_prefix(other) is None]
    shards = [key for key in stored if layout.parse_key(key) is not None]
    for shard, index in read_indices(store, layout, shards):
        keys += layout.keys(shard, index.present(), first)
    for name in below:
        prefixes += layout.prefixes(name, first) or ()
    return keys, prefixes
