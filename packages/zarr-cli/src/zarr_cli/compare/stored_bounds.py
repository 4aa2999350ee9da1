"""The regions of two arrays that can differ: those with stored chunks."""

from __future__ import annotations

from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.tools import strictjson

from zarr_cli.cat.regions import regions

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Array

    from zarr_cli.cat.selection import Part

    Block = tuple[Part, ...]

_SPARSE = 0.5  # arrays with a larger fraction of stored chunks are read completely


def clip_to_stored(a: Array, b: Array) -> Callable[[Block], Block | None]:
    """Return a function that clips a block to the stored chunks of both arrays.

    Outside of the clipped block, both arrays have the same fill value.

    Parameters
    ----------
    a, b : Array
        Arrays of the same shape.

    Returns
    -------
    callable
        Takes one range per dimension and returns ranges, or None if no chunk is stored in
        the block.  It returns the block unchanged if the fill values differ, if most chunks
        are stored, or if a store cannot list its keys.
    """
    if (
        not a.ndim
        or a.dtype != b.dtype
        or not strictjson.identical(a.metadata.fill_value, b.metadata.fill_value)
    ):
        return lambda block: block
    bounds = [found for array in (a, b) if (found := _bounds(array)) is not None]
    if len(bounds) < 2:
        return lambda block: block
    starts, stops = np.concatenate(bounds, axis=1)

    def clip(block: Block) -> Block | None:
        first = np.array([part.start for part in block if isinstance(part, range)])
        last = np.array([part.stop for part in block if isinstance(part, range)])
        touched = ((starts < last) & (stops > first)).all(axis=1)
        if not touched.any():
            return None
        first = np.maximum(first, starts[touched].min(axis=0))
        last = np.minimum(last, stops[touched].max(axis=0))
        return tuple(map(range, first.tolist(), last.tolist()))

    return clip


def _bounds(array: Array) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """Return starts and stops of the stored chunks; None if they are many or not listable."""
    if not array.store.supports_listing:
        return None
    most = int(prod(array.cdata_shape) * _SPARSE)
    region = regions(array)
    found = [region(at) for at, _ in islice(array.stored_chunks(), most + 1)]
    if len(found) > most:
        return None
    return np.array(
        [
            [[part.start for part in parts] for parts in found],
            [[part.stop for part in parts] for parts in found],
        ],
        np.int64,
    ).reshape(2, len(found), array.ndim)
