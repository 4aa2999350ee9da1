"""Selections cut at the edges of chunks."""

from __future__ import annotations

from itertools import islice, product, repeat
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.selection.along_axis import AxisPart, axis_count, axis_parts, slice_parts
from zarr_core.selection.elements import open_mesh, put, take
from zarr_core.selection.normalised import Box, Outer, Points

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.selection.normalised import Selection

__all__ = [
    "AxisPart",
    "Part",
    "axis_parts",
    "chunk_count",
    "project",
    "put",
    "single_chunk",
    "tables_of",
    "take",
]

# Parts of the first dimension that are made at a time, lest selections of
# millions of chunks fill the memory with plans.
_BATCH = 1024


class Part(NamedTuple):
    """What is selected of one chunk.

    Parameters
    ----------
    chunk : tuple of int
        Grid coordinates.
    within : Box, Outer or Points
        The elements, inside the chunk.
    target : tuple
        Where they belong: an index for an array of the selection's shape, to
        NumPy's rules.  It gives a view if ``within`` is a Box.
    whole : bool
        ``within`` is the whole chunk as it is encoded, in order; it may be decoded
        straight into the target.
    covers : bool
        ``within`` is all of the chunk that lies inside the array; a write need not
        read what is stored.
    """

    chunk: tuple[int, ...]
    within: Selection
    target: tuple[Any, ...]
    whole: bool
    covers: bool


def project(selection: Selection, axes: Sequence[ChunkAxis]) -> Iterator[Part]:
    """Cut a selection into parts of chunks, each chunk once.

    Parameters
    ----------
    selection : Box, Outer or Points
        Within the bounds of the array.
    axes : sequence of ChunkAxis
        The chunks along each dimension.

    Yields
    ------
    Part
        In C order of the chunks.
    """
    if isinstance(selection, Box):
        return _project_box(selection, axes)
    if isinstance(selection, Outer):
        return _project_outer(selection, axes)
    return _project_points(selection, axes)


def _project_box(selection: Box, axes: Sequence[ChunkAxis]) -> Iterator[Part]:
    if not axes:
        # An empty index would take a scalar out of an array instead of a view.
        yield Part((), selection, (Ellipsis,), True, True)
        return
    for tables in tables_of(selection, axes):
        yield from _combine(tables, Box)


def tables_of(selection: Box, axes: Sequence[ChunkAxis]) -> Iterator[list[list[AxisPart]]]:
    """Cut a box along each dimension by itself, some parts of the first one at a time.

    Parameters
    ----------
    selection : Box
        Within the bounds of the array, which has at least one dimension.
    axes : sequence of ChunkAxis
        The chunks along each dimension.

    Yields
    ------
    list of list of AxisPart
        The parts along each dimension; their combinations are those of the box.
    """
    rest = [
        axis_parts(part, axis) for part, axis in zip(selection.index[1:], axes[1:], strict=True)
    ]
    if not all(rest):
        return
    first = slice_parts(selection.index[0], axes[0])
    while batch := list(islice(first, _BATCH)):
        yield [batch, *rest]


def _project_outer(selection: Outer, axes: Sequence[ChunkAxis]) -> Iterator[Part]:
    tables = [axis_parts(item, axis) for item, axis in zip(selection.index, axes, strict=True)]
    return _combine(tables, _box_or_outer, open_mesh)


def _project_points(selection: Points, axes: Sequence[ChunkAxis]) -> Iterator[Part]:
    if not axes:
        yield Part((), selection, (slice(0, 1, 1),), False, True)
        return
    from zarr_core.selection import grouping  # noqa: PLC0415 - lazy: it imports NumPy

    for chunk, within, target, covers in grouping.point_groups(selection.index, axes):
        yield Part(chunk, Points(within), (target,), False, covers)


def _box_or_outer(index: tuple[Any, ...]) -> Box | Outer:
    return Box(index) if all(isinstance(item, slice) for item in index) else Outer(index)


def _combine(
    tables: Sequence[Sequence[AxisPart]],
    within: Callable[[tuple[Any, ...]], Selection],
    target: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None,
) -> Iterator[Part]:
    """Every combination of parts along the dimensions; the loops run inside itertools."""
    if not all(tables):
        return iter(())
    columns = [zip(*table, strict=True) for table in tables]
    chunks, withins, targets, wholes, coverings = zip(*columns, strict=True)
    return map(
        Part,
        product(*chunks),
        map(within, product(*withins)),
        map(target, product(*targets)) if target else product(*targets),
        _every(wholes),
        _every(coverings),
    )


def _every(flags: tuple[tuple[bool, ...], ...]) -> Iterator[bool]:
    if all(map(all, flags)):
        return repeat(True)
    return map(all, product(*flags))


def chunk_count(selection: Selection, axes: Sequence[ChunkAxis]) -> int:
    """Count the chunks that a selection touches: the parts that :func:`project` yields."""
    if not isinstance(selection, Points):
        pairs = zip(selection.index, axes, strict=True)
        return prod(axis_count(item, axis) for item, axis in pairs)
    if not axes:
        return 1
    from zarr_core.selection import grouping  # noqa: PLC0415 - lazy: it imports NumPy

    return grouping.point_count(selection.index, axes)


def single_chunk(
    box: Box, axes: Sequence[ChunkAxis]
) -> tuple[tuple[int, ...], Box, bool, bool] | None:
    """Find the only chunk that a box touches, without a plan.

    Parameters
    ----------
    box : Box
        Within the bounds of the array.
    axes : sequence of ChunkAxis
        The chunks along each dimension.

    Returns
    -------
    chunk, within, whole, covers : tuple or None
        As the members of :class:`Part`; None if the box is empty or reaches over the
        edge of a chunk.
    """
    chunks = []
    withins = []
    whole = covers = True
    for part, axis in zip(box.index, axes, strict=True):
        start, stop, step = part.start, part.stop, part.step
        if start >= stop:
            return None
        uniform = axis.uniform
        if uniform is not None:
            chunk = start // uniform
            origin, length = chunk * uniform, uniform
        else:
            chunk = axis.chunk_of(start)
            origin, length = axis.start(chunk), axis.length(chunk)
        if stop > origin + length:
            return None
        start -= origin
        stop -= origin
        chunks.append(chunk)
        withins.append(slice(start, stop, step))
        if start or (step != 1 and stop > 1):
            whole = covers = False
        elif stop != length:
            whole = False
            covers = covers and origin + stop == axis.size
    return tuple(chunks), Box(tuple(withins)), whole, covers
