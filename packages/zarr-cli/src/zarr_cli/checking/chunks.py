"""Reading every stored chunk of an array, to see whether it can be read."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

import zarr_core
from zarr_core.extension import (
    ChecksumError,
    ChunkDecodeError,
    ZarrError,
    run_in_threads,
)

from zarr_cli.checking.result import ArrayCheck, Damage
from zarr_cli.slicing.pieces import pieces
from zarr_cli.slicing.regions import regions
from zarr_cli.slicing.selection import Part, as_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core import Array
    from zarr_core.extension import ProgressReporter

    Place = tuple[tuple[int, ...], str]


def check_chunks(array: Array, result: ArrayCheck, reporter: ProgressReporter) -> set[str]:
    """Read what is stored of an array, in as many threads as its store is read by.

    Parameters
    ----------
    array : Array
        The array.
    result : ArrayCheck
        Receives what is found.
    reporter : Reporter
        Is told of each chunk.

    Returns
    -------
    set of str
        The keys that were read.
    """
    region = regions(array)
    keys: set[str] = set()

    def work(place: Place) -> None:
        at, key = place
        found = _damages(array, at, key, region(at))
        if found is not None:
            keys.add(key)
            result.damages += found
        reporter.advance(1)

    reporter.begin(array.path, result.total, f"{result.unit}s")
    run_in_threads(_places(array), work, True, array.store.requests)
    reporter.end()
    result.stored = len(keys)
    result.damages.sort(key=lambda damage: (damage.chunk, damage.reason))
    return keys


def without_fill(array: Array) -> Array:
    """The same array, which does not take missing chunks for the fill value.

    Of a store that cannot list its keys, missing ones are found out by reading.
    """
    return zarr_core.open_array(
        array.store, "r", path=array.path, config={"missing_chunks": "error"}
    )


def _places(array: Array) -> Iterable[Place]:
    """Grid coordinates and keys of what is stored, or may be."""
    if array.store.supports_listing:
        return array.stored_chunks()
    return ((at, f"chunk {at}") for at in product(*map(range, array.cdata_shape)))


def _damages(
    array: Array, at: tuple[int, ...], key: str, region: Sequence[Part]
) -> list[Damage] | None:
    """What cannot be read of a stored object, which has a region; None if it is not there."""
    # Shards are read in parts: they may be larger than memory.
    sharded = array.shards is not None
    found: dict[str, Damage] = {}
    for piece in pieces(region, array.chunks, array.dtype.itemsize) if sharded else (region,):
        if _error(array, piece) is None:
            continue
        for box in _inner_chunks(array, piece) if sharded else (region,):
            error = _error(array, box)
            if isinstance(error, LookupError):
                return None  # a store that cannot list is asked for what may not be there
            if error is not None:
                damage = _damage(key, at, error)
                if damage.reason in found:
                    return [damage]  # of the whole shard, as it is its index that is damaged
                found[damage.reason] = damage
    return [*found.values()]


def _inner_chunks(array: Array, piece: Sequence[Part]) -> Iterator[tuple[Part, ...]]:
    """Each inner chunk that a piece touches, as far as it lies in the piece."""
    cut = []
    for part, length in zip(piece, array.chunks, strict=True):
        assert isinstance(part, range), "regions are ranges"
        edges = [part.start, *range(part.start - part.start % length + length, part.stop, length)]
        cut.append([range(*pair) for pair in pairwise([*edges, part.stop])])
    return product(*cut)


def _error(array: Array, region: Sequence[Part]) -> Exception | None:
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
