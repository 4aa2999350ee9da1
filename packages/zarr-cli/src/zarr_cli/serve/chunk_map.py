"""Which chunks are stored, how large each is: a grid of cells, each of one chunk or many."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice, product
from math import ceil, prod
from time import monotonic
from typing import TYPE_CHECKING, Any

from zarr_core.extension import make_extension, read_node, run_in_threads

from zarr_cli.serve.answers import Answer, RefusedError, json_answer
from zarr_cli.serve.asked import array_asked, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core import Array
    from zarr_core.extension import Store

    Coordinates = tuple[int, ...]

_MOST_CELLS = 96  # along either side
_MOST_SECONDS = 60
_BATCH = 512  # keys between two looks at the clock


@dataclass(slots=True)
class Cell:
    """What is stored in a part of the grid."""

    stored: int = 0
    nbytes: int = 0
    elements: int = 0


def chunk_map(store: Store, root: str, asked: Mapping[str, str]) -> Answer:
    """The stored objects of an array over two dimensions of its grid, added up over the others.

    Parameters
    ----------
    store, root
        What is served.
    asked : mapping
        ``path``; ``rows`` and ``columns``, the two dimensions, by default the last two;
        ``seconds`` after which what has been found must do.

    Notes
    -----
    Memory does not depend on the number of chunks, and time is bounded.
    """
    array = array_asked(store, root, asked)
    grid = array.cdata_shape
    rows, columns = _sides(array.ndim, asked)
    seconds = number(asked, "seconds", 5, _MOST_SECONDS)
    high, wide = (1 if side is None else ceil(grid[side] / _MOST_CELLS) for side in (rows, columns))
    high, wide = max(1, high), max(1, wide)
    lengths = _lengths(array)
    cells: dict[tuple[int, int], Cell] = {}
    looked, complete = 0, True
    deadline = monotonic() + seconds
    chunks = _chunks(store, array)
    while batch := list(islice(chunks, _BATCH)):
        looked += len(batch)
        for (chunk, _), size in zip(batch, _sizes(store, batch), strict=True):
            if size is None:
                continue
            at = (
                0 if rows is None else chunk[rows] // high,
                0 if columns is None else chunk[columns] // wide,
            )
            cell = cells.setdefault(at, Cell())
            cell.stored += 1
            cell.nbytes += size
            cell.elements += prod(
                of_axis(place) for of_axis, place in zip(lengths, chunk, strict=True)
            )
        if monotonic() > deadline:
            complete = next(chunks, None) is None
            break
    return json_answer(
        {
            "grid": grid,
            "rows": rows,
            "columns": columns,
            "chunks_per_cell": [high, wide],
            "cells": [
                [*at, cell.stored, cell.nbytes, cell.elements * array.itemsize]
                for at, cell in sorted(cells.items())
            ],
            "complete": complete,
            "looked": looked,
        }
    )


def _sides(ndim: int, asked: Mapping[str, str]) -> tuple[int | None, int | None]:
    """The dimensions that go down and to the right; None where there are too few."""
    if ndim == 0:
        return None, None
    columns = number(asked, "columns", ndim - 1, ndim - 1)
    if ndim == 1:
        return None, columns
    rows = number(asked, "rows", ndim - 2, ndim - 1)
    if rows == columns:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "rows and columns are two dimensions")
    return rows, columns


def _chunks(store: Store, array: Array) -> Iterator[tuple[Coordinates, str]]:
    """Grid coordinates and keys of stored objects; of all that may be, if none can be listed."""
    format_, metadata = read_node(store, array.path)
    prefix = format_.chunk_prefix(array.path)
    encoding: Any = make_extension("chunk_key_encoding", metadata.chunk_key_encoding, array.name)  # type: ignore[union-attr]  # an array has one
    grid = array.cdata_shape
    if not store.supports_listing:
        for chunk in product(*map(range, grid)):
            yield chunk, prefix + encoding.encode(chunk)
        return
    for key in store.list_prefix(prefix):
        found = encoding.decode(key[len(prefix) :], len(grid))
        if found is not None and all(
            place < count for place, count in zip(found, grid, strict=True)
        ):
            yield found, key


def _sizes(store: Store, batch: list[tuple[Coordinates, str]]) -> list[int | None]:
    sizes: list[int | None] = [None] * len(batch)

    def measure(at: int) -> None:
        sizes[at] = store.getsize(batch[at][1])

    run_in_threads(range(len(batch)), measure, store.requests is not None, store.requests)
    return sizes


def _lengths(array: Array) -> list[Any]:
    """For each dimension, a function from the number of a chunk to its length in the array."""
    shape: tuple[Any, ...] = array.shards or array.chunks

    def of_axis(length: Any, size: int) -> Any:
        if isinstance(length, int):
            return lambda place: min(length, size - place * length)
        return length.__getitem__

    return [of_axis(length, size) for length, size in zip(shape, array.shape, strict=True)]
