"""The chunk grid ``rectilinear``: chunks of differing lengths along each dimension.

Name:           rectilinear
Specification:  zarr-extensions, chunk-grids/rectilinear
Configuration:  {"kind": "inline", "chunk_shapes": [4, [1, 2, 3], [[4, 2], 3]]}
Schema:         schemas/chunk_grid/rectilinear.json
Other readers:  zarr-python 3.2 with array.rectilinear_chunks switched on, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np
from zarr_core.extension import (
    ChunkGrid,
    ExtensionConfigurationError,
    ExtensionDefinition,
    Problem,
    json_pointer,
)

from zarr_grids._runs import RunAxis

if TYPE_CHECKING:
    from zarr_core.extension import JSON

_LARGEST = 2**63 - 1  # of what an index can be; a longer chunk cannot be in memory


class Runs(NamedTuple):
    """Chunk lengths of which neighbours differ, and how often each is repeated.

    Parameters
    ----------
    lengths : tuple of int
        In elements.
    counts : tuple of int
        As many.
    """

    lengths: tuple[int, ...]
    counts: tuple[int, ...]


Edges: TypeAlias = "int | Runs"
"""One length that is repeated as often as need be, or all lengths."""


@dataclass(frozen=True, slots=True)
class RectilinearGrid(ChunkGrid):
    """A grid whose lines have any distances.

    Grids are equal if they mean the same, however that is spelt.

    Parameters
    ----------
    edges : tuple of (int or Runs)
        The lengths of the chunks along each dimension.
    spelling : tuple of JSON, optional
        The same as a document has it.
    keeps_spelling : bool
        Whether it is written so, rather than in the shortest form.
    """

    edges: tuple[Edges, ...]
    spelling: tuple[JSON, ...] | None = field(default=None, repr=False, compare=False)
    keeps_spelling: bool = field(default=False, repr=False, compare=False)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> RectilinearGrid:
        configuration, name = definition.configuration, definition.name
        if configuration.get("kind") != "inline":
            problem = Problem("/configuration/kind", 'must be "inline"')
            raise ExtensionConfigurationError("chunk_grid", name, "", [problem])
        shapes = configuration.get("chunk_shapes")
        pointer = "/configuration/chunk_shapes"
        if not isinstance(shapes, list):
            problem = Problem(pointer, "must be an array, with an item for each dimension")
            raise ExtensionConfigurationError("chunk_grid", name, "", [problem])
        edges = []
        for number, shape in enumerate(shapes):
            try:
                edges.append(_edges(shape))
            except ValueError as error:
                problem = Problem(pointer + json_pointer(number), str(error))
                raise ExtensionConfigurationError("chunk_grid", name, "", [problem]) from error
        return cls(tuple(edges), tuple(shapes))

    def to_definition(self) -> ExtensionDefinition:
        """Give the shortest form, as zarr-python writes it: ``[[10, 3], 5]``."""
        if self.keeps_spelling and self.spelling is not None:
            spelling = [*self.spelling]
            return ExtensionDefinition("rectilinear", {"kind": "inline", "chunk_shapes": spelling})
        shapes = [*map(_shortest, self.edges)]
        return ExtensionDefinition("rectilinear", {"kind": "inline", "chunk_shapes": shapes})

    def axes(self, shape: tuple[int, ...]) -> tuple[RunAxis, ...]:
        # "The length of chunk_shapes MUST match the number of dimensions of the array."
        if len(shape) != len(self.edges):
            raise ValueError(
                f"lengths of chunks for {len(self.edges)} dimensions do not fit an array of "
                f"shape {shape}"
            )
        axes = []
        for dimension, (size, edges) in enumerate(zip(shape, self.edges, strict=True)):
            runs = Runs((edges,), (-(-size // edges),)) if isinstance(edges, int) else edges
            try:
                axes.append(RunAxis(size, *runs))
            except ValueError as error:
                raise ValueError(f"dimension {dimension}: {error}") from error
        return tuple(axes)

    def resized(self, shape: tuple[int, ...]) -> RectilinearGrid:
        """Give the grid for an array of another shape.

        The specification leaves open what becomes of a grid.  Here lengths that are
        there stay, also those beyond an array that has shrunk, so that it can grow
        again as it was.  Where they do not reach far enough, one chunk is added: as
        long as what is missing, rounded up to what all lengths are multiples of.
        Where chunks are shards, the inner chunks thus divide it.
        """
        added = [*map(_missing, self.edges, shape)]
        if not any(added):
            return self
        edges = tuple(map(_longer, self.edges, added))
        if self.spelling is None:
            return RectilinearGrid(edges)
        parts = zip(self.spelling, edges, added, strict=True)
        spelling = (_shortest(new) if length else spelt for spelt, new, length in parts)
        return RectilinearGrid(edges, tuple(spelling), True)


def _missing(edges: Edges, size: int) -> int:
    """Length of the chunk that is to be added; 0 for none."""
    if isinstance(edges, int):
        return 0
    missing = size - sum(map(int.__mul__, edges.lengths, edges.counts))
    unit = gcd(*edges.lengths) or missing
    return -(-missing // unit) * unit if missing > 0 else 0


def _longer(edges: Edges, length: int) -> Edges:
    if isinstance(edges, int) or not length:
        return edges
    if edges.lengths and length == edges.lengths[-1]:
        return Runs(edges.lengths, (*edges.counts[:-1], edges.counts[-1] + 1))
    return Runs((*edges.lengths, length), (*edges.counts, 1))


def _shortest(edges: Edges) -> JSON:
    if isinstance(edges, int):
        return edges
    return [
        length if count == 1 else [length, count]
        for length, count in zip(edges.lengths, edges.counts, strict=True)
    ]


def _edges(shape: JSON) -> Edges:
    """Read what stands for one dimension.

    Raises
    ------
    ValueError
        If it is neither an integer nor an array of integers and pairs of them, or one
        of them is not positive.
    """
    if not isinstance(shape, list):
        return _positive(shape)
    if not shape:  # covers a dimension without elements
        return Runs((), ())
    if _are_integers(shape):
        if min(shape) < 1 or max(shape) > _LARGEST:
            _positive(next(length for length in shape if not 0 < length <= _LARGEST))
        return _merged(np.array(shape, np.int64), np.ones(len(shape), np.int64))
    pairs = [_pair(item) for item in shape]
    if sum(count for _, count in pairs) > _LARGEST:
        raise ValueError("there are more than 2^63 - 1 chunks")
    lengths, counts = np.array(pairs, np.int64).T
    return _merged(lengths, counts)


def _are_integers(shape: list[JSON]) -> TypeGuard[list[int]]:
    return set(map(type, shape)) == {int}  # no Python step an item


def _pair(item: JSON) -> tuple[int, int]:
    if isinstance(item, list) and len(item) == 2:
        return _positive(item[0]), _positive(item[1])
    return _positive(item), 1


def _positive(value: JSON) -> int:
    if type(value) is not int or not 0 < value <= _LARGEST:
        raise ValueError(
            "must be an integer from 1 to 2^63 - 1, or an array of such integers and of pairs "
            f"[length, repetitions]; not {value!r:.60}"
        )
    return value


def _merged(lengths: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> Runs:
    """Make one run of neighbours that are equal, so that grids compare by what they mean."""
    firsts = np.flatnonzero(np.diff(lengths, prepend=0))
    return Runs(
        tuple(lengths[firsts].tolist()),
        tuple(np.add.reduceat(counts, firsts).tolist()),
    )
