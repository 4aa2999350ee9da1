"""The blocks of two arrays that can differ: those with stored chunks."""

from __future__ import annotations

from itertools import chain, islice, product
from math import prod
from typing import TYPE_CHECKING

from zarr_core.extension import strictjson

from zarr_cli.cat.blocks import blocks
from zarr_cli.check.check_chunks import chunk_region

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array

    from zarr_cli.cat.selection import Part

    Block = tuple[Part, ...]

_SPARSE = 0.5  # arrays with a larger fraction of stored chunks are read completely


def stored_blocks(a: Array, b: Array, budget: int) -> Iterator[Block] | None:
    """Return the blocks outside which both arrays have the same fill value, in C order.

    None if the fill values differ, if most chunks are stored, or if a store cannot list its keys.

    The number of blocks depends on the number of stored chunks, not on the shape.  They are the
    cells of a grid with the lengths of the larger chunks, or parts of them with at most ``budget``
    bytes.
    """
    if (
        not a.ndim
        or a.dtype != b.dtype
        or not strictjson.identical(a.metadata.fill_value, b.metadata.fill_value)
    ):
        return None
    shape = _cell_shape(a, b)
    cells: set[tuple[int, ...]] = set()
    for array in (a, b):
        if not array.store.supports_listing:
            return None
        most = int(prod(array.cdata_shape) * _SPARSE)
        stored = [at for at, _ in islice(array.stored.stored_chunks(), most + 1)]
        if len(stored) > most:
            return None
        if (array.shards or array.chunks) == shape:
            cells.update(stored)
            continue
        for at in stored:
            parts = zip(chunk_region(array, at), shape, strict=True)
            cells.update(product(*(_cells(part, length) for part, length in parts)))
    regions = (_region(cell, shape, a.shape) for cell in sorted(cells))
    if prod(shape) * a.dtype.itemsize <= budget:
        return regions
    chunks, itemsize = a.chunks, a.dtype.itemsize
    return chain.from_iterable(blocks(region, chunks, itemsize, budget) for region in regions)


def _cell_shape(a: Array, b: Array) -> tuple[int, ...]:
    lengths = (
        max(max(n, default=1) if isinstance(n, tuple) else n for n in pair)
        for pair in zip(a.shards or a.chunks, b.shards or b.chunks, strict=True)
    )
    return tuple(max(1, min(pair)) for pair in zip(a.shape, lengths, strict=True))


def _cells(part: range, length: int) -> range:
    """The numbers of the cells along one dimension that a part overlaps."""
    return range(part.start // length, (part.stop - 1) // length + 1)


def _region(
    cell: tuple[int, ...], lengths: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[range, ...]:
    return tuple(
        range(number * length, min((number + 1) * length, size))
        for number, length, size in zip(cell, lengths, shape, strict=True)
    )
