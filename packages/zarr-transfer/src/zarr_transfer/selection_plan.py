"""The chunks that reading a selection of an array decodes, and their bytes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from zarr_core.chunk_grids import RegularAxis
from zarr_core.extension import BasicIndexer, OrthogonalIndexer, escape_controls
from zarr_core.messages import format_bytes
from zarr_core.selection import parse
from zarr_core.selection.projection import project, project_dimension

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from zarr_core import Array
    from zarr_core.extension import ChunkAxis
    from zarr_core.selection.parse import ParsedSelection

    NDArray = np.ndarray[Any, Any]


_INDEXING = ("fancy", "basic", "orthogonal", "coordinate", "mask", "block")


@dataclass(frozen=True, slots=True)
class Plan:
    """The chunks that a read decodes; prints as a table.

    Parameters
    ----------
    location : str
        The array.
    shape : tuple of int
        Shape of the result.
    chunks, all_chunks : int
        Number of stored objects, chunks or shards, with selected elements, and of all.
    inner_chunks : int or None
        Number of inner chunks with selected elements; None without shards.
    decoded_nbytes : int
        Bytes of all chunks, or inner chunks, that are decoded: the bytes to fetch, if all are stored
        and not compressed.
    nbytes : int
        Bytes of the selected elements in memory.
    """

    location: str
    shape: tuple[int, ...]
    chunks: int
    all_chunks: int
    inner_chunks: int | None
    decoded_nbytes: int
    nbytes: int

    @property
    def amplification(self) -> float | None:
        """Decoded bytes for each selected byte; None if nothing is selected."""
        return self.decoded_nbytes / self.nbytes if self.nbytes else None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return asdict(self) | {"shape": [*self.shape]}

    def __str__(self) -> str:
        unit = "chunks" if self.inner_chunks is None else "shards"
        rows = {
            "selection": " x ".join(map(str, self.shape)) or "one element",
            unit: f"{self.chunks:,} of {self.all_chunks:,}",
        }
        if self.inner_chunks is not None:
            rows["inner chunks"] = f"{self.inner_chunks:,}"
        rows |= {
            "bytes to decode": format_bytes(self.decoded_nbytes),
            "bytes selected": format_bytes(self.nbytes),
        }
        width = max(map(len, rows))
        lines = [f"  {name.ljust(width)}  {value}" for name, value in rows.items()]
        return "\n".join([f"read of {escape_controls(self.location)}", *lines])


def plan_selection(
    array: Array,
    selection: Any = ...,
    *,
    indexing: Literal["fancy", "basic", "orthogonal", "coordinate", "mask", "block"] = "fancy",
) -> Plan:
    """Return the numbers and bytes of the chunks of a selection; nothing is requested.

    Parameters
    ----------
    array : Array
        The array.
    selection : index
        As in ``array[selection]``; all elements by default.
    indexing : {"fancy", "basic", "orthogonal", "coordinate", "mask", "block"}
        The meaning of the selection: that of ``array[...]``, ``get_basic_selection``, ``oindex``,
        ``vindex``, ``get_mask_selection`` or ``blocks``.

    Returns
    -------
    Plan
        Has the numbers as attributes; prints as a table.

    Raises
    ------
    SelectionError
        If the selection does not fit the array.
    ValueError
        If ``indexing`` is not one of the listed values.

    Notes
    -----
    A plan of slices takes as long for billions of chunks as for a few.
    """
    parsed, stored = parse_selection(array, selection, indexing), array.stored
    count = prod(parsed.shape)
    chunks = decoded = _chunks(parsed.selection, stored.axes) if count else _Chunks(0, 0)
    inner = None
    if stored.is_sharded:
        sizes = zip(array.shape, stored.inner_codecs.decoded.shape, strict=True)
        axes = [RegularAxis(size, -(-size // length), length) for size, length in sizes]
        inner = _chunks(parsed.selection, axes) if count else _Chunks(0, 0)
    if stored.codecs.prefers_partial_decode:  # inner chunks, or single elements
        decoded = inner or _Chunks(count, count)
    itemsize = stored.resolved.dtype.itemsize
    return Plan(
        location=str(stored.location),
        shape=parsed.shape,
        chunks=chunks.number,
        all_chunks=prod(axis.count for axis in stored.axes),
        inner_chunks=None if inner is None else inner.number,
        decoded_nbytes=decoded.size * itemsize,
        nbytes=count * itemsize,
    )


def parse_selection(array: Array, selection: Any, indexing: str) -> ParsedSelection:
    """Parse a selection of an array for one of the ways of indexing."""
    if indexing not in _INDEXING:
        raise ValueError(f"indexing must be one of {', '.join(_INDEXING)}, not {indexing!r}")
    grid = array.stored.axes if indexing == "block" else array.shape
    parsed: ParsedSelection = getattr(parse, indexing)(selection, grid)
    return parsed


class _Chunks(NamedTuple):
    """The chunks, or inner chunks, with selected elements."""

    number: int
    size: int  # elements of all of them


def _chunks(selection: Any, axes: Sequence[ChunkAxis]) -> _Chunks:
    """Return the chunks with selected elements; of slices, without enumerating them."""
    if isinstance(selection, BasicIndexer | OrthogonalIndexer):
        along = [_along(item, axis) for item, axis in zip(selection.index, axes, strict=True)]
        return _Chunks(prod(part.number for part in along), prod(part.size for part in along))
    shapes = [
        [axis.length(number) for axis, number in zip(axes, part.chunk_coords, strict=True)]
        for part in project(selection, axes)
    ]
    return _Chunks(len(shapes), sum(map(prod, shapes)))


def _along(item: slice | NDArray, axis: ChunkAxis) -> _Chunks:
    """Return the chunks along one dimension."""
    length = axis.uniform
    if not isinstance(item, slice) or length is None:
        numbers = {part[0] for part in project_dimension(item, axis)}
        return _Chunks(len(numbers), sum(map(axis.length, numbers)))
    elements = range(item.start, item.stop, item.step)
    count = min(len(elements), elements[-1] // length - elements[0] // length + 1)
    return _Chunks(count, count * length)
