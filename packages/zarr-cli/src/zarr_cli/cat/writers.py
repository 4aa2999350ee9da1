"""Streaming output as text, CSV or JSON."""

from __future__ import annotations

import csv
import io
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_cli.cat.elements import as_json, as_lines, as_text, columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np

    Blocks = Iterable[np.ndarray[Any, Any]]

_BATCH = 1 << 16  # elements


def text_lines(blocks: Blocks, shape: Sequence[int]) -> Iterator[str]:
    """Yield text: one line per row of the last dimension, an empty line between planes."""
    row = shape[-1] if len(shape) > 1 else 1
    plane = shape[-2] if len(shape) > 2 else 0
    column = rows = 0
    for batch in _batches(blocks):
        values = as_lines(batch)
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
    blocks: Blocks, shape: Sequence[int], names: Sequence[str], fields: Sequence[str] | None
) -> Iterator[str]:
    """Yield CSV: a matrix as it is, other shapes with the indices before each element."""
    if len(shape) < 3 and fields is None:
        row = shape[-1] if len(shape) == 2 else 1
        yield from _matrix(blocks, row)
        return
    yield _csv_row([*names, *(fields or ("value",))])
    indices = product(*map(range, shape))
    for batch in _batches(blocks):
        for values, index in zip(zip(*columns(batch), strict=True), indices, strict=False):
            yield _csv_row([*map(str, index), *values])


def _matrix(blocks: Blocks, row: int) -> Iterator[str]:
    left: list[str] = []
    for batch in _batches(blocks):
        values = left + as_text(batch)
        whole = len(values) - len(values) % row
        for start in range(0, whole, row):
            yield _csv_row(values[start : start + row])
        left = values[whole:]


def _batches(blocks: Blocks) -> Blocks:
    """Yield the elements in smaller batches, because text needs ten times as much memory."""
    for block in blocks:
        flat = block.reshape(-1)
        for start in range(0, flat.size, _BATCH):
            yield flat[start : start + _BATCH]


def _csv_row(values: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def json_lines(blocks: Blocks, shape: Sequence[int]) -> Iterator[str]:
    """Yield JSON: nested lists, one line per row of the last dimension."""
    if not prod(shape):
        yield _empty(shape) + "\n"
        return
    # The number of elements per list of each level, innermost first.
    sizes = [prod(shape[axis:]) for axis in range(len(shape) - 1, -1, -1)]
    total = prod(shape)
    row = shape[-1] if shape else 1
    done = 0
    for batch in _batches(blocks):
        values = as_json(batch)
        start = 0
        while start < len(values):
            some = values[start : start + row - done % row]
            yield "[" * sum(done % size == 0 for size in sizes) + ", ".join(some)
            done += len(some)
            start += len(some)
            closing = sum(done % size == 0 for size in sizes)
            yield "]" * closing + ("\n" if done == total else ",\n" if closing else ", ")


def _empty(shape: Sequence[int]) -> str:
    if not shape[0]:
        return "[]"
    return f"[{', '.join([_empty(shape[1:])] * shape[0])}]"
