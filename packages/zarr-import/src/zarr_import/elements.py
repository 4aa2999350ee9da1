"""Copy elements of a source into an array, region by region, in bounded memory."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from zarr_core.threads import parallel_for, thread_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array
    from zarr_core.optional import Reporter

    from zarr_import.variable import Variable

    Box = tuple[slice, ...]

_ITEM_BYTES = 64  # assumed for variable-length elements
_COPIES = 3  # the source's buffer, the elements, their encoded form


def copy_elements(variable: Variable, array: Array, max_memory: int, reporter: Reporter) -> None:
    """Write all elements of a source into an array.

    Each region consists of whole stored objects (chunks or shards), so that none is written
    twice.  Several regions are copied concurrently if they fit in memory.  One stored object
    always fits.
    """
    stored = array.shards or array.chunks
    size = _ITEM_BYTES if array.dtype.kind in "OT" else array.dtype.itemsize
    one = max(1, prod(stored) * size * _COPIES)
    workers = max(1, min(thread_count(), max_memory // one))
    limit = max_memory // (workers * _COPIES * size)
    boxes = parts(array.shape, stored, limit)

    def work(box: Box) -> None:
        values = variable.read(box)
        array[box] = values
        reporter.advance(values.size)

    if workers == 1:  # the array uses threads for the chunks of a region
        for box in boxes:
            work(box)
    else:
        parallel_for(boxes, work, True, workers)


def parts(shape: tuple[int, ...], stored: tuple[int, ...], limit: int) -> Iterator[Box]:
    """Split an array into regions of whole stored objects.

    ``stored`` is the shape of a stored object, ``limit`` the maximum number of elements of a region
    of more than one.

    Examples
    --------
    >>> [[(s.start, s.stop) for s in box] for box in parts((5, 4), (2, 2), 8)]
    [[(0, 2), (0, 4)], [(2, 4), (0, 4)], [(4, 5), (0, 4)]]
    """
    lengths = list(stored)
    for axis in reversed(range(len(shape))):
        available = limit // max(1, prod(lengths))
        whole = -(-shape[axis] // lengths[axis])
        lengths[axis] *= max(1, min(available, whole))
        if lengths[axis] < shape[axis]:
            break
    starts = [range(0, size, length) for size, length in zip(shape, lengths, strict=True)]
    for corner in product(*starts):
        yield tuple(
            slice(start, min(start + length, size))
            for start, length, size in zip(corner, lengths, shape, strict=True)
        )
