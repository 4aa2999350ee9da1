"""Decoding the chunks of an array, to encode them as those of another."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import array_from_metadata
from zarr_core.extension import ArrayMetadata, make_extension

from zarr_formats.conversion.chunk_keys import ChunkKeys
from zarr_formats.conversion.laying_out import same_fill_value
from zarr_formats.conversion.regions import all_boxes, boxes_of, cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core import Array
    from zarr_core.extension import ChunkAxis, ProgressReporter

    from zarr_formats.conversion.regions import Box
    from zarr_formats.conversion.steps import Side, Step

BUFFER = 1 << 26
"""Bytes of elements that are held at a time, unless a stored object has more."""

_VARIABLE = 256  # bytes that an element of variable size is taken to need


def recode(source: Side, dest: Side, step: Step, reporter: ProgressReporter) -> None:
    """Write the chunks of an array anew.

    Parameters
    ----------
    source, dest, step
        What is converted.
    reporter : ProgressReporter
        Is told how many elements are done.

    Notes
    -----
    Chunks that lie at the target and have no document are left from a conversion that
    was interrupted; they are removed first, as some may belong to another layout.
    """
    assert isinstance(step.source_metadata, ArrayMetadata)
    assert isinstance(step.metadata, ArrayMetadata)
    old = _opened(source, step.path, step.source_metadata, read_only=True)
    new = _opened(dest, step.path, step.metadata, read_only=False)
    keys = ChunkKeys.of(dest, step.path, step.metadata)
    dest.store.erase_values(list(keys.others()))
    reporter.begin(step.path, old.size, "elements")
    if old.size:
        boxes = _boxes(source, step.path, old, new)
        _transfer(old, new, boxes, reporter)
    reporter.end()


def _opened(side: Side, path: str, metadata: ArrayMetadata, *, read_only: bool) -> Array:
    return array_from_metadata(
        side.store,
        metadata,
        path=side.at(path),
        zarr_format=side.format_.name,
        read_only=read_only,
    )


def _boxes(source: Side, path: str, old: Array, new: Array) -> Iterable[Box]:
    """Where there is something to be read; everywhere if missing chunks change their meaning."""
    item_size = old.itemsize if old.dtype.kind not in "OT" else _VARIABLE
    target, stored = _axes(new.metadata), _axes(old.metadata)
    # Where lengths differ there are all of them; the longest is decoded at once.
    chunk = [max(n, default=1) if isinstance(n, tuple) else n for n in old.chunks]
    intervals = cut(target, chunk, BUFFER // max(1, item_size))
    keys = ChunkKeys.of(source, path, old.metadata)
    if keys.verbatim or not source.store.supports_listing:
        return all_boxes(intervals)
    undefined = new.metadata.fill_value_undefined
    if undefined or not same_fill_value(old, new, undefined=True):
        return all_boxes(intervals)
    return boxes_of((chunk for chunk, _ in keys.stored()), stored, intervals)


def _axes(metadata: ArrayMetadata) -> Sequence[ChunkAxis]:
    grid = make_extension("chunk_grid", metadata.chunk_grid)
    assert grid is not None, "a grid is never left out"
    axes: Sequence[ChunkAxis] = grid.axes(metadata.shape)
    return axes


def _transfer(old: Array, new: Array, boxes: Iterable[Box], reporter: ProgressReporter) -> None:
    """Read and write box by box, in one piece of memory if elements have one size."""
    fixed = old.dtype.kind not in "OT"
    memory = np.empty(0, old.dtype)
    for box in boxes:
        shape = tuple(part.stop - part.start for part in box)
        count = prod(shape)
        if not fixed or count > memory.size:
            memory = np.empty(count, old.dtype)
        values: np.ndarray[Any, Any] = memory[:count].reshape(shape)
        old.get_basic_selection(box, out=values)
        new.set_basic_selection(box, values)
        reporter.advance(count)
