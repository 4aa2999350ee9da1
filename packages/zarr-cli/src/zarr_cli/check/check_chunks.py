"""Check of every stored chunk of an array by reading it."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

import zarr_core
from zarr_core.errors import MissingChunkError
from zarr_core.extension import ChecksumError, ChunkDecodeError, ZarrError
from zarr_core.threads import parallel_for

from zarr_cli.cat.blocks import blocks
from zarr_cli.cat.selection import Part, as_index
from zarr_cli.check.array_check import ArrayCheck, Damage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core import Array
    from zarr_core.optional import Reporter

    StoredChunk = tuple[tuple[int, ...], str]


def check_chunks(array: Array, result: ArrayCheck, reporter: Reporter) -> set[str]:
    """Read all stored chunks of an array, with the concurrency of its store."""
    keys: set[str] = set()

    def work(stored: StoredChunk) -> None:
        at, key = stored
        damages = _damages(array, at, key, chunk_region(array, at))
        if damages is not None:
            keys.add(key)
            result.damages += damages
        reporter.advance(1)

    reporter.begin(array.path, result.total, f"{result.unit}s")
    parallel_for(_stored_chunks(array), work, True, array.store.max_concurrency)
    reporter.end()
    result.stored = len(keys)
    result.damages.sort(key=lambda damage: (damage.chunk, damage.reason))
    return keys


def chunk_region(array: Array, at: tuple[int, ...]) -> tuple[range, ...]:
    """Return the region of a stored chunk or shard, within the array."""
    return tuple(
        range(axis.start(number), min(axis.start(number) + axis.length(number), axis.size))
        for axis, number in zip(array.stored.axes, at, strict=True)
    )


def require_chunks(array: Array) -> Array:
    """Return the array with an error for missing chunks instead of the fill value.

    In a store that cannot list its keys, missing chunks are found by reading.
    """
    return zarr_core.open_array(
        array.store, "r", path=array.path, config={"missing_chunks": "error"}
    )


def _stored_chunks(array: Array) -> Iterable[StoredChunk]:
    """Return coordinates and keys of all chunks that are or may be stored."""
    if array.store.supports_listing:
        return array.stored.stored_chunks()
    return ((at, f"chunk {at}") for at in product(*map(range, array.cdata_shape)))


def _damages(
    array: Array, at: tuple[int, ...], key: str, region: Sequence[Part]
) -> list[Damage] | None:
    """Return the damages of a stored chunk or shard; None if it is not stored."""
    # Shards may be larger than memory, so they are read in blocks.
    sharded = array.shards is not None
    damages: dict[str, Damage] = {}
    for block in blocks(region, array.chunks, array.dtype.itemsize) if sharded else (region,):
        if _read_error(array, block) is None:
            continue
        for part in _inner_chunks(array, block) if sharded else (region,):
            error = _read_error(array, part)
            if isinstance(error, MissingChunkError):
                if not error.chunk:
                    return None  # the store cannot list its keys, and the chunk is not stored
            elif error is not None:
                damage = _damage(key, at, error)
                if damage.reason in damages:
                    return [damage]  # the index is damaged, so all inner chunks have this error
                damages[damage.reason] = damage
    return [*damages.values()]


def _inner_chunks(array: Array, block: Sequence[Part]) -> Iterator[tuple[Part, ...]]:
    """Return the regions of the inner chunks that intersect a block, clipped to the block."""
    cut = []
    for part, length in zip(block, array.chunks, strict=True):
        assert isinstance(part, range), "regions are ranges"
        edges = [part.start, *range(part.start - part.start % length + length, part.stop, length)]
        cut.append([range(*pair) for pair in pairwise([*edges, part.stop])])
    return product(*cut)


def _read_error(array: Array, region: Sequence[Part]) -> Exception | None:
    try:
        array[as_index(region)]
    except ZarrError as error:
        return error
    return None


def _damage(key: str, at: tuple[int, ...], error: Exception) -> Damage:
    if isinstance(error, ChunkDecodeError):
        codec = f"{error.codec}: " if error.codec else ""
        checksum = isinstance(error, ChecksumError)
        return Damage(key, at, "checksum" if checksum else "damaged", codec + error.reason)
    return Damage(key, at, "unreadable", str(error))
