"""Where elements of two arrays can differ: where at least one of them has stored something."""

from __future__ import annotations

from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import strictjson

from zarr_cli.slicing.regions import regions

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Array

    from zarr_cli.slicing.selection import Part

    Piece = tuple[Part, ...]

_SPARSE = 0.5  # what more than this part is stored of is read from end to end


def narrowed(a: Array, b: Array) -> Callable[[Piece], Piece | None]:
    """Gives the part of a piece outside of which both arrays hold the same fill value.

    Parameters
    ----------
    a, b : Array
        Arrays of one shape.

    Returns
    -------
    callable
        Takes ranges, one a dimension, and gives ranges, or None if nothing is stored
        there.  What it is given comes back if the fill values differ, most is stored, or
        a store cannot list its keys.
    """
    if (
        not a.ndim
        or a.dtype != b.dtype
        or not strictjson.identical(a.metadata.fill_value, b.metadata.fill_value)
    ):
        return lambda piece: piece
    bounds = [found for array in (a, b) if (found := _bounds(array)) is not None]
    if len(bounds) < 2:
        return lambda piece: piece
    starts, stops = np.concatenate(bounds, axis=1)

    def narrow(piece: Piece) -> Piece | None:
        first = np.array([part.start for part in piece if isinstance(part, range)])
        last = np.array([part.stop for part in piece if isinstance(part, range)])
        touched = ((starts < last) & (stops > first)).all(axis=1)
        if not touched.any():
            return None
        first = np.maximum(first, starts[touched].min(axis=0))
        last = np.minimum(last, stops[touched].max(axis=0))
        return tuple(map(range, first.tolist(), last.tolist()))

    return narrow


def _bounds(array: Array) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """Starts and stops of what is stored; None if that is much, or cannot be listed."""
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
