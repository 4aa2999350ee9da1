"""Sampling of the chunks of an array."""

from __future__ import annotations

from math import prod
from statistics import median_high
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_cli.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array

    NDArray = np.ndarray[Any, Any]

_TRIES = 200  # maximum number of chunks to read, including empty ones
_SHUFFLED = 1 << 16  # grids up to this size are shuffled completely


def sample(array: Array, most: int, most_bytes: int, seconds: float) -> list[NDArray]:
    """Return chunks from all parts of an array, without empty chunks."""
    shape = chunk_shape(array)
    parts: list[NDArray] = []
    until = monotonic() + seconds
    for tried, chunk in enumerate(_coordinates(array.shape, shape)):
        enough = len(parts) >= most or sum(each.nbytes for each in parts) >= most_bytes
        if enough or tried >= _TRIES or (monotonic() > until and parts):
            break
        if (values := _chunk(array, shape, chunk)) is not None:
            parts.append(values)
    if not parts:
        raise Failure(
            f"{array.store} {array.name!r} has no data to measure: all chunks contain only "
            "the fill value"
        )
    return parts


def chunk_shape(array: Array) -> tuple[int, ...]:
    """Return the shape of a chunk; the median length where lengths differ."""
    return tuple(
        median_high(length) if isinstance(length, tuple) and length else (length or 1)
        for length in array.chunks
    )


def _coordinates(shape: tuple[int, ...], chunk: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield chunk coordinates in a reproducible random order, complete chunks first."""
    counts = [-(-size // length) for size, length in zip(shape, chunk, strict=True)]
    if 0 in counts:
        return
    random = np.random.default_rng(0)
    whole = [max(1, size // length) for size, length in zip(shape, chunk, strict=True)]
    if prod(whole) <= _SHUFFLED:
        for number in random.permutation(prod(whole)).tolist():
            yield tuple(map(int, np.unravel_index(number, whole))) if whole else ()
        return
    while True:
        yield tuple(int(random.integers(count)) for count in whole)


def _chunk(array: Array, shape: tuple[int, ...], chunk: tuple[int, ...]) -> NDArray | None:
    """Return the elements of one chunk; None if they are all the fill value."""
    starts = [number * length for number, length in zip(chunk, shape, strict=True)]
    parts = tuple(
        slice(start, min(start + length, size))
        for start, length, size in zip(starts, shape, array.shape, strict=True)
    )
    values = np.asarray(array[parts])
    fill = array.metadata.fill_value_undefined
    if not fill and _is_fill(values, array.fill_value):
        return None
    if values.shape == shape:
        return np.ascontiguousarray(values)
    padded = np.full(
        shape, array.fill_value if not fill else np.zeros((), array.dtype)[()], array.dtype
    )
    padded[tuple(slice(length) for length in values.shape)] = values
    return padded


def _is_fill(values: NDArray, fill: Any) -> bool:
    if values.dtype.kind in "fc" and np.isnan(fill):
        return bool(np.isnan(values).all())
    return bool(np.all(values == fill))
