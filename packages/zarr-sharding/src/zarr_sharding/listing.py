"""The keys that an array with shards sees."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from zarr_core.extension import ByteRange, ChunkDecodeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.extension import Store

    from zarr_sharding.index import ShardIndex
    from zarr_sharding.layout import Layout

_WINDOW_BYTES = 1 << 22  # of indices that are in memory at once


def read_indices(
    store: Store, layout: Layout, shards: Sequence[str]
) -> Iterator[tuple[str, ShardIndex]]:
    """Read the indices of several shards, a few at a time; those that are not there are left out.

    Raises
    ------
    ChunkDecodeError
        If an index is damaged; names the shard.
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
                yield shard, layout.index.of_unknown_shard(value)
            except ChunkDecodeError as error:
                raise located(error, store, shard) from error


def located(error: ChunkDecodeError, store: Store, shard: str) -> ChunkDecodeError:
    """Make an error say of which shard it is."""
    return error.located(f"{store} {shard!r}")


def list_prefix(store: Store, layout: Layout, prefix: str) -> Iterator[str]:
    """List the keys below a prefix, each chunk of a shard under its own.

    Parameters
    ----------
    store : Store
        Where the shards are.
    layout : Layout
        Which chunk lies in which shard.
    prefix : str
        Empty or ending in ``/``.
    """
    corner = layout.corner(prefix)
    if corner is None:
        yield from _expanded(store, layout, store.list_prefix(prefix), True, ())
        return
    same = corner.shards == prefix
    yield from _expanded(store, layout, store.list_prefix(corner.shards), same, corner.numbers)
    if not same:
        # What is no chunk's is where it says.
        yield from (key for key in store.list_prefix(prefix) if layout.name_of(key) is None)


def _expanded(
    store: Store, layout: Layout, keys: Iterable[str], others: bool, first: Sequence[int]
) -> Iterator[str]:
    """Put the keys of chunks in the place of those of shards."""
    keys = iter(keys)
    step = max(1, _WINDOW_BYTES // layout.index.size)
    while window := list(islice(keys, step)):
        shards = []
        for key in window:
            if layout.name_of(key) is not None:
                shards.append(key)
            elif others:
                yield key
        for shard, index in read_indices(store, layout, shards):
            yield from layout.keys(shard, index.present(), first)


def list_dir(store: Store, layout: Layout, prefix: str) -> tuple[list[str], list[str]]:
    """List keys and prefixes directly below a prefix.

    Notes
    -----
    "For all retrieved prefixes (not full keys) with partial shard keys, the
    corresponding original prefixes covering all possible chunks in the shard are
    listed."  So there may be prefixes without keys below them.
    """
    corner = layout.corner(prefix)
    where, first = (prefix, []) if corner is None else (corner.shards, corner.numbers)
    found, below = store.list_dir(where)
    keys: list[str] = []
    prefixes: list[str] = []
    others, besides = (found, below) if where == prefix else store.list_dir(prefix)
    keys += [key for key in others if layout.name_of(key) is None]
    prefixes += [it for it in besides if layout.corner(it) is None]
    shards = [key for key in found if layout.name_of(key) is not None]
    for shard, index in read_indices(store, layout, shards):
        keys += layout.keys(shard, index.present(), first)
    for it in below:
        prefixes += layout.prefixes(it, first) or ()
    return keys, prefixes
