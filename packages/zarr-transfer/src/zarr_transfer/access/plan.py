"""The plan of a read or write of an array."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, prod
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.tools import escape_controls, project

from zarr_transfer.plan import size_text

if TYPE_CHECKING:
    from zarr_core.tools import ParsedSelection, StoredArray

_CELLS = 64  # of the picture, along a dimension
_MOST_DRAWN = 1_000_000  # chunks
_LEVELS = "·░▒▓█"


@dataclass(frozen=True, slots=True)
class Plan:
    """The requests, bytes and memory of a read or write, before it is done; prints as a table.

    Parameters
    ----------
    location : str
        The array.
    access : {"read", "write"}
        The kind of access.
    shape : tuple of int
        Shape of the result, or of the value to write.
    chunks : int
        Number of stored objects, chunks or shards, with selected elements.
    inner_chunks : int or None
        Number of inner chunks with selected elements; None without shards.
    read_requests, write_requests : int
        Number of requests to the store.  Metadata is in memory already.
    read_nbytes, write_nbytes : int
        Encoded bytes that these requests transfer.
    decoded_nbytes : int
        Bytes of all chunks, or inner chunks, that are decoded.
    nbytes : int
        Bytes of the selected elements in memory.
    peak_nbytes : int
        Maximum memory of the call in bytes, with the result of a read, without the value of a
        write.
    smallest_nbytes : int
        The smallest ``max_memory`` in bytes for the same call, with ``out`` for a read: the
        memory in addition to the arrays of the caller.
    is_exact : bool
        Whether the store was asked for the sizes of the chunks and the indexes of the shards.
        Otherwise all chunks are assumed to be stored and not to compress, so that
        ``read_nbytes`` is an upper limit.

    Notes
    -----
    Written bytes depend on the elements; ``write_nbytes`` is an upper limit.
    """

    location: str
    access: Literal["read", "write"]
    shape: tuple[int, ...]
    chunks: int
    inner_chunks: int | None
    read_requests: int
    write_requests: int
    read_nbytes: int
    write_nbytes: int
    decoded_nbytes: int
    nbytes: int
    peak_nbytes: int
    smallest_nbytes: int
    is_exact: bool
    _stored: StoredArray = field(repr=False, compare=False)
    _parsed: ParsedSelection = field(repr=False, compare=False)

    @property
    def requests(self) -> int:
        """Number of all requests."""
        return self.read_requests + self.write_requests

    @property
    def amplification(self) -> float | None:
        """Decoded bytes for each selected byte; None if nothing is selected."""
        return self.decoded_nbytes / self.nbytes if self.nbytes else None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        names = (
            "location", "access", "shape", "chunks", "inner_chunks", "requests", "read_requests",
            "write_requests", "read_nbytes", "write_nbytes", "decoded_nbytes", "nbytes",
            "peak_nbytes", "smallest_nbytes", "is_exact",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names} | {"shape": [*self.shape]}

    def chunk_coords(self) -> list[tuple[int, ...]]:
        """Return the grid coordinates of the stored objects with selected elements."""
        return [part.chunk_coords for part in project(self._parsed.selection, self._stored.axes)]

    def picture(self) -> str:
        """Draw the chunks, or shards, with selected elements; empty if there are too many.

        The last two dimensions of the chunk grid are shown.  In a large grid several neighbours
        share a cell; a lighter shade means that some of them have no selected elements.
        """
        axes = self._stored.axes
        grid = [axis.count for axis in axes[-2:]]
        if not grid or not all(grid) or not 0 < self.chunks <= _MOST_DRAWN:
            return ""
        rows, columns = grid if len(grid) == 2 else (1, grid[0])
        high, wide = ceil(rows / _CELLS), ceil(columns / _CELLS)
        touched = {(0, *coords)[-2:] for coords in self.chunk_coords()}
        cells: dict[tuple[int, int], int] = {}
        for row, column in touched:
            cell = (row // high, column // wide)
            cells[cell] = cells.get(cell, 0) + 1
        lines = []
        for row in range(ceil(rows / high)):
            line = ""
            for column in range(ceil(columns / wide)):
                whole = min(high, rows - row * high) * min(wide, columns - column * wide)
                share = cells.get((row, column), 0) / whole
                line += _LEVELS[ceil(share * (len(_LEVELS) - 1))]
            lines.append(line)
        return "\n".join(lines)

    def __str__(self) -> str:
        unit = "shards" if self.inner_chunks is not None else "chunks"
        total = prod(axis.count for axis in self._stored.axes)
        limit = "" if self.is_exact else "at most "
        rows = [("selection", f"{' x '.join(map(str, self.shape)) or 'one element'}")]
        rows.append((unit, f"{self.chunks:,} of {total:,}"))
        if self.inner_chunks is not None:
            rows.append(("inner chunks", f"{self.inner_chunks:,}"))
        if self.access == "read":
            rows.append(("requests", f"{self.read_requests:,}"))
            rows.append(("bytes to fetch", limit + size_text(self.read_nbytes)))
        else:
            rows.append(("requests to read", f"{self.read_requests:,}"))
            rows.append(("bytes to fetch", limit + size_text(self.read_nbytes)))
            rows.append(("requests to write", f"{self.write_requests:,}"))
            rows.append(("bytes to store", "at most " + size_text(self.write_nbytes)))
        rows.append(("bytes to decode", size_text(self.decoded_nbytes)))
        rows.append(("bytes selected", size_text(self.nbytes)))
        rows.append(("peak memory", size_text(self.peak_nbytes)))
        rows.append(("smallest max_memory", size_text(self.smallest_nbytes)))
        width = max(len(name) for name, _ in rows)
        lines = [f"{self.access} of {escape_controls(self.location)}"]
        lines += [f"  {name.ljust(width)}  {value}" for name, value in rows]
        drawn = self.picture()
        lines += [f"  {line}" for line in drawn.splitlines()]
        return "\n".join(lines)

    __repr__ = __str__
