"""The parts of a selection in single chunks, grouped by what they have in common."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.extension import BasicIndexer, OrthogonalIndexer
from zarr_core.tools import MaskIndexer, project, project_dimension

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from zarr_core.extension import ChunkAxis

    Index = slice | np.ndarray[Any, Any]
    # Number of chunks; of one of them: number, selected elements, their place, whether all are.
    _Group = tuple[int, int, Index, slice, bool]


class ChunkPart(NamedTuple):
    """The part of a selection in one chunk, or in each of several similar chunks.

    Parameters
    ----------
    chunks : int
        Number of chunks.
    chunk_coords : tuple of int
        Coordinates of one of them.
    inside : BasicIndexer, OrthogonalIndexer, CoordinateIndexer or MaskIndexer
        Its selected elements, relative to the chunk.
    out_selection : tuple
        Their place in the result, as a NumPy index.
    is_complete : bool
        Whether all elements of the chunk inside the array are selected.
    """

    chunks: int
    chunk_coords: tuple[int, ...]
    inside: Any
    out_selection: tuple[Any, ...]
    is_complete: bool

    def selection(self, axes: Sequence[ChunkAxis]) -> Any:
        """Return the selected elements, relative to the array."""
        inside = self.inside
        if isinstance(inside, MaskIndexer):
            inside = inside.to_coordinates()
        starts = [axis.start(at) for axis, at in zip(axes, self.chunk_coords, strict=True)]
        index = tuple(
            slice(item.start + start, item.stop + start, item.step)
            if isinstance(item, slice)
            else item + start
            for item, start in zip(inside.index, starts, strict=True)
        )
        return type(inside)(index)


def chunk_parts(selection: Any, axes: Sequence[ChunkAxis]) -> Iterator[ChunkPart]:
    """Divide a selection into the parts in single chunks."""
    for at, inside, out, is_complete, _ in project(selection, axes):
        yield ChunkPart(1, at, inside, out, is_complete)


def similar_parts(selection: Any, axes: Sequence[ChunkAxis]) -> Iterator[ChunkPart]:
    """Group chunks of the same shape with the same selected elements, as far as that is cheap.

    Slices form a few groups, however many chunks they contain.
    """
    if not isinstance(selection, BasicIndexer | OrthogonalIndexer) or not axes:
        yield from chunk_parts(selection, axes)
        return
    groups = [
        _groups(item, axis).values() for item, axis in zip(selection.index, axes, strict=True)
    ]
    for combination in product(*groups):
        counts, coords, items, out, complete = zip(*combination, strict=True)
        only_slices = all(isinstance(item, slice) for item in items)
        inside = BasicIndexer(items) if only_slices else OrthogonalIndexer(items)
        yield ChunkPart(prod(counts), coords, inside, out, all(complete))


def _groups(item: Index, axis: ChunkAxis) -> dict[Any, _Group]:
    groups: dict[Any, _Group] = {}
    start = 0
    for at, inside, out, complete, _ in project_dimension(item, axis):
        if isinstance(inside, slice):
            key: Any = (axis.length(at), inside.start, inside.stop, inside.step, complete)
            count = len(range(inside.start, inside.stop, inside.step))
        else:
            key = (axis.length(at), inside.tobytes(), complete)
            count = len(inside)
        group = groups.get(key)
        if group is None:
            out_index = out if isinstance(out, slice) else slice(start, start + count)
            groups[key] = (1, at, inside, out_index, complete)
        else:
            groups[key] = (group[0] + 1, *group[1:])
        start += count
    return groups
