"""Elements of a selection written as text, CSV or JSON while they are read."""

from __future__ import annotations

import csv
import io
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_cli.slicing.elements import as_json, as_text, columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np

    Pieces = Iterable[np.ndarray[Any, Any]]

_BATCH = 1 << 16  # elements


def text_lines(pieces: Pieces, shape: Sequence[int]) -> Iterator[str]:
    """Text: a line for each row of the last dimension, an empty one between planes.

    Parameters
    ----------
    pieces : iterable of ndarray
        The elements in C order.
    shape : sequence of int
        Of all of them together.  With one dimension each element has a line of its own.
    """
    row = shape[-1] if len(shape) > 1 else 1
    plane = shape[-2] if len(shape) > 2 else 0
    column = rows = 0
    for batch in _batches(pieces):
        values = as_text(batch)
        start = 0
        while start < len(values):
            if column == 0 and plane and rows and rows % plane == 0:
                yield "\n"
            some = values[start : start + row - column]
            yield (" " if column else "") + " ".join(some)
            column += len(some)
            start += len(some)
            if column == row:
                yield "\n"
                column, rows = 0, rows + 1


def csv_lines(
    pieces: Pieces, shape: Sequence[int], names: Sequence[str], fields: Sequence[str] | None
) -> Iterator[str]:
    """CSV: a matrix as it is, anything else with the indices of an element before it.

    Parameters
    ----------
    pieces, shape
        As for :func:`text_lines`.
    names : sequence of str
        Names of the dimensions, for the heading.
    fields : sequence of str or None
        Those of a structured data type, each a column.
    """
    if len(shape) < 3 and fields is None:
        row = shape[-1] if len(shape) == 2 else 1
        yield from _matrix(pieces, row)
        return
    yield _csv_row([*names, *(fields or ("value",))])
    indices = product(*map(range, shape))
    for batch in _batches(pieces):
        for values, index in zip(zip(*columns(batch), strict=True), indices, strict=False):
            yield _csv_row([*map(str, index), *values])


def _matrix(pieces: Pieces, row: int) -> Iterator[str]:
    left: list[str] = []
    for batch in _batches(pieces):
        values = left + as_text(batch)
        whole = len(values) - len(values) % row
        for start in range(0, whole, row):
            yield _csv_row(values[start : start + row])
        left = values[whole:]


def _batches(pieces: Pieces) -> Pieces:
    """The same elements, fewer at a time: as words they take ten times as much memory."""
    for piece in pieces:
        flat = piece.reshape(-1)
        for start in range(0, flat.size, _BATCH):
            yield flat[start : start + _BATCH]


def _csv_row(values: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def json_lines(pieces: Pieces, shape: Sequence[int]) -> Iterator[str]:
    """JSON: lists within lists, a line for each row of the last dimension.

    Parameters
    ----------
    pieces, shape
        As for :func:`text_lines`.
    """
    if not prod(shape):
        yield _empty(shape) + "\n"
        return
    # How many elements a list of each level holds, the innermost first.
    blocks = [prod(shape[axis:]) for axis in range(len(shape) - 1, -1, -1)]
    total = prod(shape)
    row = shape[-1] if shape else 1
    done = 0
    for batch in _batches(pieces):
        values = as_json(batch)
        start = 0
        while start < len(values):
            some = values[start : start + row - done % row]
            yield "[" * sum(done % block == 0 for block in blocks) + ", ".join(some)
            done += len(some)
            start += len(some)
            closing = sum(done % block == 0 for block in blocks)
            yield "]" * closing + ("\n" if done == total else ",\n" if closing else ", ")


def _empty(shape: Sequence[int]) -> str:
    if not shape[0]:
        return "[]"
    return f"[{', '.join([_empty(shape[1:])] * shape[0])}]"
