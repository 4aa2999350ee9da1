"""The blocks of two arrays that can differ: those with stored chunks."""

from __future__ import annotations

from itertools import accumulate, islice, product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import strictjson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array

    from zarr_cli.cat.selection import Part

    Block = tuple[Part, ...]
    Integers = np.ndarray[Any, np.dtype[np.int64]]

_SPARSE = 0.5  # arrays with a larger fraction of stored chunks are read completely


def stored_blocks(a: Array, b: Array, budget: int) -> Iterator[Block] | None:
    """Return the blocks outside which both arrays have the same fill value, in C order.

    None if the fill values differ, if most chunks are stored, or if a store cannot list its keys.

    The number of blocks depends on the number of stored chunks, not on the shape.  A block
    lies within the grid of the larger chunks.
    """
    if (
        not a.ndim
        or a.dtype != b.dtype
        or not strictjson.identical(a.metadata.fill_value, b.metadata.fill_value)
    ):
        return None
    bounds = [bound for array in (a, b) if (bound := _bounds(array)) is not None]
    if len(bounds) < 2:
        return None
    return _cells(np.concatenate(bounds, axis=1), _cell_shape(a, b, budget))


def _cells(bounds: Integers, shape: tuple[int, ...]) -> Iterator[Block]:
    """Yield the cells of a regular grid that contain regions, reduced to these."""
    starts, stops = bounds
    first, last = starts // shape, (stops - 1) // shape
    # Most regions are in one cell: sorted by cells, those of a cell are next to each other.
    single = (first == last).all(axis=1)
    spans: dict[tuple[int, ...], tuple[Integers, Integers]] = {}
    if single.any():
        cells, number = np.unique(first[single], axis=0, return_inverse=True)
        order = np.argsort(number.reshape(-1), kind="stable")
        edges = np.searchsorted(number.reshape(-1)[order], np.arange(len(cells)))
        low = np.minimum.reduceat(starts[single][order], edges)
        high = np.maximum.reduceat(stops[single][order], edges)
        spans = {
            tuple(cell): (start, stop)
            for cell, start, stop in zip(cells.tolist(), low, high, strict=True)
        }
    for at in np.flatnonzero(~single):
        ranges = (range(one, other + 1) for one, other in zip(first[at], last[at], strict=True))
        for cell in product(*ranges):
            begin = np.array(cell, np.int64) * shape
            start = np.maximum(starts[at], begin)
            stop = np.minimum(stops[at], begin + shape)
            if cell in spans:
                start, stop = np.minimum(start, spans[cell][0]), np.maximum(stop, spans[cell][1])
            spans[tuple(map(int, cell))] = start, stop
    for cell in sorted(spans):
        start, stop = spans[cell]
        yield tuple(map(range, start.tolist(), stop.tolist()))


def _cell_shape(a: Array, b: Array, budget: int) -> tuple[int, ...]:
    shape = []
    for sizes in zip(a.shape, a.shards or a.chunks, b.shards or b.chunks, strict=True):
        size, *lengths = (max(n, default=1) if isinstance(n, tuple) else n for n in sizes)
        shape.append(max(1, min(size, max(lengths))))
    most = budget // max(1, a.dtype.itemsize)
    for number, length in enumerate(shape):
        others = prod(shape) // length
        shape[number] = max(1, min(length, most // others))
    return tuple(shape)


def _bounds(array: Array) -> Integers | None:
    """Return starts and stops of the stored chunks; None if they are many or not listable."""
    if not array.store.supports_listing:
        return None
    most = int(prod(array.cdata_shape) * _SPARSE)
    stored = islice((at for at, _ in array.stored.stored_chunks()), most + 1)
    chunks: Integers = np.fromiter(stored, np.dtype((np.int64, array.ndim)))
    if len(chunks) > most:
        return None
    starts, sizes = np.empty_like(chunks), np.empty_like(chunks)
    for number, length in enumerate(array.shards or array.chunks):
        at = chunks[:, number]
        if isinstance(length, int):
            starts[:, number], sizes[:, number] = at * length, length
        else:
            edges = np.array([*accumulate(length, initial=0)], np.int64)
            starts[:, number], sizes[:, number] = edges[at], edges[at + 1] - edges[at]
    return np.stack([starts, starts + np.minimum(sizes, np.array(array.shape) - starts)])
