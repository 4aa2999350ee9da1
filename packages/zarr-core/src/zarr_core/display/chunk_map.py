"""A map of the chunks of an array: which are stored, how large, where compression fails."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.display.survey import Survey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from zarr_core.hierarchy.described import DescribedArray

    Numbers = np.ndarray[Any, np.dtype[np.int64]]
    Ratios = np.ndarray[Any, np.dtype[np.float64]]

_MOST_PROBLEMS = 10
_MOST_CELLS = 1 << 22  # in all; a map is to be looked at


@dataclass(frozen=True, eq=False)
class ChunkMap:
    """Which chunks of an array are stored, and how large they are.

    Chunks are counted in cells: one chunk each, or several neighbours where the grid is
    large, and all that lie behind one another along dimensions that are not shown.
    It prints as a map of text, and is a picture in notebooks.

    Parameters
    ----------
    name : str
        Of the array.
    unit : {"chunk", "shard"}
        What is counted.
    dims : tuple of str
        The dimensions that are shown, at most two, rows before columns.
    others : str
        What became of the other dimensions; empty if there are none.
    shape : tuple of int
        Length of the grid along these dimensions, in chunks.
    per_cell : tuple of int
        How many chunks a cell has along them.
    chunks, stored : ndarray of int64
        How many chunks a cell has, how many of them are stored.
    nbytes : ndarray of int64 or None
        Bytes that the stored ones take; None if that was not asked for.
    nbytes_in_memory : ndarray of int64 or None
        Bytes that the same chunks take in memory; None if that depends on the elements.
    incompressible : ndarray of int64
        How many of them take no less in the store than in memory.  None does where the
        codecs do not compress.
    problems : tuple of str
        Shards that could not be looked into; the first ten.
    complete : bool
        Whether all stored chunks are in the map.
    """

    name: str
    unit: str
    dims: tuple[str, ...]
    others: str
    shape: tuple[int, ...]
    per_cell: tuple[int, ...]
    chunks: Numbers
    stored: Numbers
    nbytes: Numbers | None
    nbytes_in_memory: Numbers | None
    incompressible: Numbers
    problems: tuple[str, ...]
    complete: bool

    @property
    def missing(self) -> Numbers:
        """How many chunks of each cell are not stored."""
        return self.chunks - self.stored

    @property
    def mean_nbytes(self) -> Ratios:
        """Stored bytes of a chunk in each cell, on average; NaN where none is stored."""
        return _divided(self.nbytes, self.stored, self.stored.shape)

    @property
    def ratios(self) -> Ratios:
        """Bytes in memory by bytes stored; NaN where nothing is stored or that is not known."""
        return _divided(self.nbytes_in_memory, self.nbytes, self.stored.shape)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it: numbers, strings, nested lists, with totals."""
        stored, nbytes = int(self.stored.sum()), self.nbytes
        in_memory = self.nbytes_in_memory
        return {
            "name": self.name,
            "unit": self.unit,
            "dims": [*self.dims],
            "others": self.others,
            "shape": [*self.shape],
            "per_cell": [*self.per_cell],
            "total": int(self.chunks.sum()),
            "total_stored": stored,
            "total_nbytes": None if nbytes is None else int(nbytes.sum()),
            "total_nbytes_in_memory": None if in_memory is None else int(in_memory.sum()),
            "total_incompressible": int(self.incompressible.sum()),
            "chunks": self.chunks.tolist(),
            "stored": self.stored.tolist(),
            "nbytes": None if nbytes is None else nbytes.tolist(),
            "nbytes_in_memory": None if in_memory is None else in_memory.tolist(),
            "incompressible": self.incompressible.tolist(),
            "problems": [*self.problems],
            "complete": self.complete,
        }

    def to_svg(self) -> str:
        """The map as a picture, complete as a file of its own."""
        from zarr_core.display.map_picture import picture  # noqa: PLC0415 - only if looked at

        return picture(self, alone=True)

    def _repr_html_(self) -> str:
        from zarr_core.display.map_picture import html  # noqa: PLC0415 - only if looked at

        return html(self)

    def __repr__(self) -> str:
        from zarr_core.display.map_text import text  # noqa: PLC0415 - only if looked at

        return text(self)

    def __rich__(self) -> RenderableType:
        from zarr_core.display.rich_forms import of_map  # noqa: PLC0415 - only if looked at

        return of_map(self)


def chunk_map(
    array: DescribedArray,
    dims: Sequence[int | str] | None = None,
    at: Mapping[int | str, int] | None = None,
    *,
    sizes: bool = True,
    inner: bool = True,
    cells: int = 64,
    most: int = 100_000,
) -> ChunkMap:
    """Make the map; see :meth:`zarr_core.Array.chunk_map`."""
    inner = inner and array._is_sharded
    chosen = (at or {}).items()
    fixed = {_dimension(array, key): _element(array, key, index) for key, index in chosen}
    shown = _shown(array, dims, fixed)
    if cells < 1 or most < 1:
        raise ValueError("cells and most are at least 1")
    lengths = array._inner.decoded.shape if inner else None
    counts = [
        axis.count if lengths is None else -(-axis.size // lengths[number])
        for number, axis in enumerate(array._binding.axes)
    ]
    wanted = [range(count) for count in counts]
    for number, element in fixed.items():
        axis = array._binding.axes[number]
        chunk = axis.chunk_of(element) if lengths is None else element // lengths[number]
        wanted[number] = range(chunk, chunk + 1)
    shape = tuple(counts[number] for number in shown)
    per_cell = tuple(max(1, -(-count // cells)) for count in shape)
    grid = tuple(-(-count // each) for count, each in zip(shape, per_cell, strict=True))
    total = _chunks_in_cells(shape, per_cell, [len(part) for part in wanted], shown)
    stored, nbytes, in_memory, hard = (np.zeros(total.size, np.int64) for _ in range(4))
    item_size = array._binding.data_type.item_size
    sizes = sizes or inner  # an index says both
    level = array._inner if inner else array._outer
    compresses = sizes and item_size is not None and level.encoded_size is None
    problems: list[str] = []
    survey = Survey(array, wanted, sizes, inner, most)
    for found in survey:
        problems += found.problems[: _MOST_PROBLEMS - len(problems)]
        cell = np.zeros(len(found.chunks), np.int64)
        for number, each, count in zip(shown, per_cell, grid, strict=True):
            cell = cell * count + found.chunks[:, number] // each
        memory = _elements(array, found.chunks, lengths) * (item_size or 0)
        np.add.at(stored, cell, 1)
        np.add.at(nbytes, cell, found.nbytes)
        np.add.at(in_memory, cell, memory)
        if compresses:
            np.add.at(hard, cell, (found.nbytes >= memory).astype(np.int64))
    return ChunkMap(
        array.name,
        "shard" if array._is_sharded and not inner else "chunk",
        tuple(_name(array, number) for number in shown),
        _said_of_others(array, shown, fixed),
        shape,
        per_cell,
        total,
        stored.reshape(grid),
        nbytes.reshape(grid) if sizes else None,
        in_memory.reshape(grid) if item_size is not None else None,
        hard.reshape(grid),
        tuple(problems),
        survey.complete,
    )


def _elements(array: DescribedArray, chunks: Numbers, lengths: tuple[int, ...] | None) -> Numbers:
    """How many elements each chunk has as it is encoded, beyond the edge included."""
    if lengths is not None:
        return np.full(len(chunks), prod(lengths), np.int64)
    total = np.ones(len(chunks), np.int64)
    for column, axis in zip(chunks.T, array._binding.axes, strict=True):
        if axis.uniform is not None:
            total *= axis.uniform
        else:
            numbers, places = np.unique(column, return_inverse=True)
            total *= np.array([axis.length(int(it)) for it in numbers], np.int64)[places]
    return total


def _chunks_in_cells(
    shape: tuple[int, ...], per_cell: tuple[int, ...], counts: Sequence[int], shown: Sequence[int]
) -> Numbers:
    """How many chunks lie in each cell; the last along a dimension may have fewer.

    Raises
    ------
    ValueError
        If there are too many cells to look at, or more chunks than NumPy counts.
    """
    cells = prod(-(-count // each) for count, each in zip(shape, per_cell, strict=True))
    if cells > _MOST_CELLS:
        raise ValueError(f"{cells} cells are too many to look at; give cells a smaller number")
    if prod(counts) >= 2**63:
        raise ValueError(f"{prod(counts)} chunks are too many to count; fix dimensions with at")
    result = np.array(prod(it for number, it in enumerate(counts) if number not in shown))
    for count, each in zip(shape, per_cell, strict=True):
        starts = np.arange(0, count, each)
        result = np.multiply.outer(result, np.minimum(each, count - starts))
    return np.asarray(result, np.int64)


def _shown(
    array: DescribedArray, dims: Sequence[int | str] | None, fixed: Mapping[int, int]
) -> tuple[int, ...]:
    if dims is None:
        return tuple(number for number in range(array.ndim) if number not in fixed)[-2:]
    shown = tuple(_dimension(array, it) for it in ([dims] if isinstance(dims, str) else dims))
    if len(shown) > 2 or len({*shown}) < len(shown) or {*shown} & {*fixed}:
        raise ValueError("dims are at most two, each once, and none of those in at")
    return shown


def _dimension(array: DescribedArray, given: int | str) -> int:
    names = array.dimension_names or ()
    if isinstance(given, str):
        if given not in names:
            raise ValueError(f"{given!r} is no dimension; there are {', '.join(map(str, names))}")
        return names.index(given)
    if not -array.ndim <= given < array.ndim:
        raise ValueError(f"{given} is no dimension of an array with {array.ndim}")
    return given % array.ndim


def _element(array: DescribedArray, key: int | str, index: int) -> int:
    size = array.shape[_dimension(array, key)]
    if not -size <= index < size:
        raise ValueError(f"index {index} is outside of dimension {key}, which has {size} elements")
    return index % size


def _name(array: DescribedArray, number: int) -> str:
    names = array.dimension_names
    return (names and names[number]) or f"dim {number}"


def _said_of_others(array: DescribedArray, shown: tuple[int, ...], fixed: Mapping[int, int]) -> str:
    others = [number for number in range(array.ndim) if number not in shown]
    summed = [_name(array, number) for number in others if number not in fixed]
    said = [f"summed over {', '.join(summed)}"] if summed else []
    return ", ".join([*said, *(f"{_name(array, it)} = {index}" for it, index in fixed.items())])


def _divided(above: Numbers | None, below: Numbers | None, shape: tuple[int, ...]) -> Ratios:
    result = np.full(shape, np.nan)
    if above is not None and below is not None:
        np.divide(above, below, out=result, where=below > 0)
    return result
