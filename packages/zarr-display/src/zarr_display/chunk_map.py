"""A map of the chunks of an array: stored chunks, their sizes and compression."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import escape_controls
from zarr_core.messages import format_bytes, pluralize

from zarr_display.chunk_inventory import ChunkInventory
from zarr_display.html import tag
from zarr_display.html import text as html_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import StoredArray

    Numbers = np.ndarray[Any, np.dtype[np.int64]]
    Ratios = np.ndarray[Any, np.dtype[np.float64]]

_MOST_PROBLEMS = 10
_MOST_CELLS = 1 << 22  # in total
_LONGEST_LINE = 1000  # characters of a line in a notebook

BARS = "▁▂▃▄▅▆▇█"
PARTLY = "░▒▓"
MISSING, FAILS = "·", "!"


@dataclass(frozen=True, eq=False)
class ChunkMap:
    """The stored chunks of an array and their sizes.

    Chunks are counted in cells.  A cell is one chunk, or several adjacent chunks of a large
    grid, with all chunks along the dimensions that are not shown.  Maps are shown as
    text.

    Parameters
    ----------
    name : str
        The name of the array.
    unit : {"chunk", "shard"}
        Whether chunks or shards are counted.
    dims : tuple of str
        The shown dimensions, at most two, rows before columns.
    others : str
        How the other dimensions are reduced; empty if there are none.
    shape : tuple of int
        The shape of the grid along the shown dimensions, in chunks.
    per_cell : tuple of int
        The number of chunks per cell along them.
    chunks, stored : ndarray of int64
        The number of chunks and of stored chunks in each cell.
    nbytes : ndarray of int64 or None
        The stored size of each cell; None if sizes were not requested.
    nbytes_in_memory : ndarray of int64 or None
        The size of the stored chunks in memory; None if it depends on the elements.
    incompressible : ndarray of int64
        The number of stored chunks that are not smaller than in memory; 0 if the codecs do
        not compress.
    problems : tuple of str
        Errors of shards whose index cannot be read; the first ten.
    complete : bool
        Whether the map contains all stored chunks.
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
        """The number of chunks of each cell that are not stored."""
        return self.chunks - self.stored

    @property
    def mean_nbytes(self) -> Ratios:
        """The mean stored size of the chunks of each cell; NaN if none is stored."""
        return _divided(self.nbytes, self.stored, self.stored.shape)

    @property
    def ratios(self) -> Ratios:
        """The compression ratio of each cell; NaN if it is unknown or no chunk is stored."""
        return _divided(self.nbytes_in_memory, self.nbytes, self.stored.shape)

    def to_dict(self) -> dict[str, Any]:
        """Return the map as JSON: numbers, strings and nested lists, with totals."""
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

    def __repr__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        lines = (html_text(line, _LONGEST_LINE) for line in text(self).splitlines())
        return tag("pre", "\n".join(lines), style="line-height:1.15")


def chunk_map(
    array: Any,
    dims: Sequence[int | str] | None = None,
    at: Mapping[int | str, int] | None = None,
    *,
    sizes: bool = True,
    inner: bool = True,
    cells: int = 64,
    most: int = 100_000,
) -> ChunkMap:
    """Return a map of the stored chunks: which exist, their sizes, and where compression fails.

    Parameters
    ----------
    array : zarr_core.Array
        The array.
    dims : sequence of int or str, optional
        One or two dimensions to show, by number or name; by default the last two that are not in
        ``at``.
    at : mapping, optional
        Dimensions of which only one index counts: ``{"time": 3}``.  Chunks are summed along all
        other dimensions.
    sizes : bool
        Whether to request the sizes of stored objects, in bytes.
    inner : bool
        Whether to read the indexes of shards, if there are any.
    cells : int
        Maximum number of cells along a dimension; more chunks share cells.
    most : int
        Maximum number of stored objects to examine.

    Returns
    -------
    ChunkMap
        Prints as text, has the numbers as arrays.

    Raises
    ------
    ValueError
        If the array does not have the dimension, or the dimension does not have the index.
    StoreCapabilityError
        If the store cannot list its keys, and there are more than ``most`` chunks.

    Notes
    -----
    Lists the array once, and requests the size of each chunk or, instead, reads the index of each
    shard.  No chunk is read.
    """
    return _map_of(array.stored, dims, at, sizes, inner, cells, most)


def _map_of(
    array: StoredArray,
    dims: Sequence[int | str] | None,
    at: Mapping[int | str, int] | None,
    sizes: bool,
    inner: bool,
    cells: int,
    most: int,
) -> ChunkMap:
    inner = inner and array.is_sharded
    lengths = array.inner_codecs.decoded.shape if inner else None
    chosen = (at or {}).items()
    fixed = {_dimension(array, key): _element(array, key, index) for key, index in chosen}
    shown = _shown(array, dims, fixed)
    if cells < 1 or most < 1:
        raise ValueError("cells and most must be at least 1")
    counts = [
        axis.count if lengths is None else -(-axis.size // lengths[number])
        for number, axis in enumerate(array.axes)
    ]
    wanted = [range(count) for count in counts]
    for number, element in fixed.items():
        axis = array.axes[number]
        chunk = axis.chunk_of(element) if lengths is None else element // lengths[number]
        wanted[number] = range(chunk, chunk + 1)
    shape = tuple(counts[number] for number in shown)
    per_cell = tuple(max(1, -(-count // cells)) for count in shape)
    grid = tuple(-(-count // each) for count, each in zip(shape, per_cell, strict=True))
    total = _chunks_in_cells(shape, per_cell, [len(part) for part in wanted], shown)
    stored, nbytes, in_memory, hard = (np.zeros(total.size, np.int64) for _ in range(4))
    item_size = array.resolved.data_type.item_size
    sizes = sizes or inner  # a shard index contains both
    codecs = array.inner_codecs if inner else array.codecs
    compresses = sizes and item_size is not None and codecs.encoded_size is None
    problems: list[str] = []
    inventory = ChunkInventory(array, wanted, sizes, inner, most)
    for batch in inventory:
        problems += batch.problems[: _MOST_PROBLEMS - len(problems)]
        cell = np.zeros(len(batch.chunks), np.int64)
        for number, each, count in zip(shown, per_cell, grid, strict=True):
            cell = cell * count + batch.chunks[:, number] // each
        memory = _elements(array, batch.chunks, lengths) * (item_size or 0)
        np.add.at(stored, cell, 1)
        np.add.at(nbytes, cell, batch.nbytes)
        np.add.at(in_memory, cell, memory)
        if compresses:
            np.add.at(hard, cell, (batch.nbytes >= memory).astype(np.int64))
    return ChunkMap(
        array.name,
        "shard" if array.is_sharded and not inner else "chunk",
        tuple(_name(array, number) for number in shown),
        _other_dimensions(array, shown, fixed),
        shape,
        per_cell,
        total,
        stored.reshape(grid),
        nbytes.reshape(grid) if sizes else None,
        in_memory.reshape(grid) if item_size is not None else None,
        hard.reshape(grid),
        tuple(problems),
        inventory.complete,
    )


def _elements(array: StoredArray, chunks: Numbers, lengths: tuple[int, ...] | None) -> Numbers:
    """Return the number of encoded elements of each chunk, including those outside the array."""
    if lengths is not None:
        return np.full(len(chunks), prod(lengths), np.int64)
    total = np.ones(len(chunks), np.int64)
    for column, axis in zip(chunks.T, array.axes, strict=True):
        if axis.uniform is not None:
            total *= axis.uniform
        else:
            numbers, places = np.unique(column, return_inverse=True)
            total *= np.array([axis.length(int(number)) for number in numbers], np.int64)[places]
    return total


def _chunks_in_cells(
    shape: tuple[int, ...], per_cell: tuple[int, ...], counts: Sequence[int], shown: Sequence[int]
) -> Numbers:
    """Return the number of chunks in each cell; the last cell of a dimension may have fewer.

    Raises ValueError if there are too many cells, or too many chunks to count.
    """
    cells = prod(-(-count // each) for count, each in zip(shape, per_cell, strict=True))
    if cells > _MOST_CELLS:
        raise ValueError(f"a map of {cells} cells is too large; pass a smaller value of cells")
    if prod(counts) >= 2**63:
        raise ValueError(
            f"{prod(counts)} chunks are too many to count; select an index of some dimensions with at"
        )
    result = np.array(prod(count for number, count in enumerate(counts) if number not in shown))
    for count, each in zip(shape, per_cell, strict=True):
        starts = np.arange(0, count, each)
        result = np.multiply.outer(result, np.minimum(each, count - starts))
    return np.asarray(result, np.int64)


def _shown(
    array: StoredArray, dims: Sequence[int | str] | None, fixed: Mapping[int, int]
) -> tuple[int, ...]:
    if dims is None:
        return tuple(number for number in range(len(array.metadata.shape)) if number not in fixed)[
            -2:
        ]
    shown = tuple(_dimension(array, item) for item in ([dims] if isinstance(dims, str) else dims))
    if len(shown) > 2 or len({*shown}) < len(shown) or {*shown} & {*fixed}:
        raise ValueError("dims must be at most two different dimensions that are not in at")
    return shown


def _dimension(array: StoredArray, dimension: int | str) -> int:
    names = array.metadata.dimension_names or ()
    if isinstance(dimension, str):
        if dimension not in names:
            raise ValueError(
                f"{dimension!r} is not a dimension; the dimensions are {', '.join(map(str, names))}"
            )
        return names.index(dimension)
    if not -len(array.metadata.shape) <= dimension < len(array.metadata.shape):
        raise ValueError(
            f"dimension {dimension} is out of range for an array with {len(array.metadata.shape)} dimensions"
        )
    return dimension % len(array.metadata.shape)


def _element(array: StoredArray, key: int | str, index: int) -> int:
    size = array.metadata.shape[_dimension(array, key)]
    if not -size <= index < size:
        raise ValueError(f"index {index} is out of range for dimension {key} with {size} elements")
    return index % size


def _name(array: StoredArray, number: int) -> str:
    names = array.metadata.dimension_names
    return (names and names[number]) or f"dim {number}"


def _other_dimensions(array: StoredArray, shown: tuple[int, ...], fixed: Mapping[int, int]) -> str:
    others = [number for number in range(len(array.metadata.shape)) if number not in shown]
    summed = [_name(array, number) for number in others if number not in fixed]
    parts = [f"summed over {', '.join(summed)}"] if summed else []
    return ", ".join(parts + [f"{_name(array, axis)} = {index}" for axis, index in fixed.items()])


def _divided(above: Numbers | None, below: Numbers | None, shape: tuple[int, ...]) -> Ratios:
    result = np.full(shape, np.nan)
    if above is not None and below is not None:
        np.divide(above, below, out=result, where=below > 0)
    return result


def text(chunk_map: ChunkMap) -> str:
    """Return the map as text: the summary, the cells, and a legend."""
    return "\n".join([*summary(chunk_map), "", *rows(chunk_map), "", *legend(chunk_map)])


def summary(chunk_map: ChunkMap) -> list[str]:
    """Return the totals, in one or a few sentences."""
    numbers = chunk_map.to_dict()
    total, stored = numbers["total"], numbers["total_stored"]
    line = f"{chunk_map.name}: {stored:,} of {pluralize(total, chunk_map.unit)} stored"
    if numbers["total_nbytes"] is not None and stored:
        line += f", {format_bytes(numbers['total_nbytes'])}"
        if numbers["total_nbytes_in_memory"] and numbers["total_nbytes"]:
            ratio = numbers["total_nbytes_in_memory"] / numbers["total_nbytes"]
            line += f", ratio {ratio:.1f}"
    lines = [line]
    words = ("rows: ", "columns: ")[2 - len(chunk_map.dims) :]
    axes = [
        f"{word}{name} ({pluralize(count, chunk_map.unit)})"
        for word, name, count in zip(words, chunk_map.dims, chunk_map.shape, strict=True)
    ]
    dimensions = ", ".join([*axes, *([chunk_map.others] if chunk_map.others else [])])
    lines += [dimensions] if dimensions else []
    if any(each > 1 for each in chunk_map.per_cell):
        lines.append(f"{' x '.join(map(str, chunk_map.per_cell))} {chunk_map.unit}s per cell")
    if not chunk_map.complete:
        lines.append("incomplete: only the first listed keys were inspected")
    return [*map(escape_controls, [*lines, *chunk_map.problems])]


def rows(chunk_map: ChunkMap) -> list[str]:
    """Return the cells, one symbol each."""
    if not chunk_map.chunks.size:
        return [f"(no {chunk_map.unit}s)"]
    return ["".join(map(str, row)) for row in np.atleast_2d(_symbols(chunk_map))]


def legend(chunk_map: ChunkMap) -> list[str]:
    """Return the meaning of the symbols in the map."""
    symbols = set("".join(rows(chunk_map)))
    parts = [f"{MISSING} not stored"] if MISSING in symbols else []
    parts += [f"{' '.join(PARTLY)} partly stored"] if symbols & {*PARTLY} else []
    parts += [f"{FAILS} not smaller than in memory"] if FAILS in symbols else []
    largest = largest_mean(chunk_map)
    if symbols & {*BARS} and largest:
        parts.append(f"{BARS[0]} to {BARS[-1]} up to {format_bytes(largest)} per {chunk_map.unit}")
    elif symbols & {*BARS}:
        parts.append(f"{BARS[-1]} stored")
    return ["  ".join(parts)] if parts else []


def largest_mean(chunk_map: ChunkMap) -> float:
    """Return the largest mean size of a cell; 0 if sizes are unknown."""
    mean = chunk_map.mean_nbytes
    return float(np.nanmax(mean)) if np.isfinite(mean).any() else 0.0


def _symbols(chunk_map: ChunkMap) -> np.ndarray[Any, np.dtype[np.str_]]:
    largest = largest_mean(chunk_map)
    height = chunk_map.mean_nbytes / largest if largest else np.ones(chunk_map.chunks.shape)
    share = chunk_map.stored / np.maximum(chunk_map.chunks, 1)
    partly = _scaled(share, PARTLY)
    symbols = np.where(chunk_map.stored < chunk_map.chunks, partly, _scaled(height, BARS))
    symbols = np.where(chunk_map.incompressible > 0, FAILS, symbols)
    return np.where(chunk_map.stored == 0, MISSING, symbols)


def _scaled(values: np.ndarray[Any, Any], symbols: str) -> np.ndarray[Any, np.dtype[np.str_]]:
    """Return the symbols for numbers from 0 to 1, in equal steps."""
    level = np.ceil(np.nan_to_num(values) * len(symbols)).astype(int) - 1
    table = np.array([*symbols], np.str_)
    return np.asarray(table[np.clip(level, 0, len(symbols) - 1)], np.str_)
