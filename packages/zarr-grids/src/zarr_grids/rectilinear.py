"""rectilinear chunk grid: chunks of different lengths along each dimension.

Name:           rectilinear
Specification:  zarr-extensions, chunk-grids/rectilinear
Configuration:  {"kind": "inline", "chunk_shapes": [4, [1, 2, 3], [[4, 2], 3]]}
Schema:         schemas/chunk_grid/rectilinear.json
Other readers:  zarr-python 3.2 with array.rectilinear_chunks enabled, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np
from zarr_core.extension import (
    ChunkGrid,
    ExtensionConfigurationError,
    ExtensionDefinition,
    ValidationProblem,
    json_pointer,
)

from zarr_grids._runs import RunAxis

if TYPE_CHECKING:
    from zarr_core.extension import JSON

_LARGEST = 2**63 - 1  # largest index and chunk length


class Runs(NamedTuple):
    """Run-length encoded chunk lengths; neighbouring runs have different lengths.

    Parameters
    ----------
    lengths : tuple of int
        Length of the chunks of each run, in elements.
    counts : tuple of int
        Number of chunks of each run.
    """

    lengths: tuple[int, ...]
    counts: tuple[int, ...]


Edges: TypeAlias = "int | Runs"
"""One length that is repeated over the whole dimension, or all lengths."""


@dataclass(frozen=True, slots=True)
class RectilinearGrid(ChunkGrid):
    """Chunk grid with chunks of different lengths along each dimension.

    Grids compare equal if their chunk lengths are equal, independent of the JSON form.

    Parameters
    ----------
    edges : tuple of (int or Runs)
        Lengths of the chunks along each dimension.
    spelling : tuple of JSON, optional
        Chunk lengths in the form of the metadata document.
    keeps_spelling : bool
        Whether ``spelling`` is written, rather than the shortest form.
    """

    edges: tuple[Edges, ...]
    spelling: tuple[JSON, ...] | None = field(default=None, repr=False, compare=False)
    keeps_spelling: bool = field(default=False, repr=False, compare=False)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> RectilinearGrid:
        configuration, name = definition.configuration, definition.name
        if configuration.get("kind") != "inline":
            problem = ValidationProblem("/configuration/kind", 'must be "inline"')
            raise ExtensionConfigurationError("chunk_grid", name, "", [problem])
        shapes = configuration.get("chunk_shapes")
        pointer = "/configuration/chunk_shapes"
        if not isinstance(shapes, list):
            problem = ValidationProblem(
                pointer, "must be an array with one item for each dimension"
            )
            raise ExtensionConfigurationError("chunk_grid", name, "", [problem])
        edges = []
        for number, shape in enumerate(shapes):
            try:
                edges.append(_edges(shape))
            except ValueError as error:
                problem = ValidationProblem(pointer + json_pointer(number), str(error))
                raise ExtensionConfigurationError("chunk_grid", name, "", [problem]) from error
        return cls(tuple(edges), tuple(shapes))

    def to_definition(self) -> ExtensionDefinition:
        """Return the definition in the shortest form, as in zarr-python: ``[[10, 3], 5]``."""
        if self.keeps_spelling and self.spelling is not None:
            spelling = [*self.spelling]
            return ExtensionDefinition("rectilinear", {"kind": "inline", "chunk_shapes": spelling})
        shapes = [*map(_to_json, self.edges)]
        return ExtensionDefinition("rectilinear", {"kind": "inline", "chunk_shapes": shapes})

    def axes(self, shape: tuple[int, ...]) -> tuple[RunAxis, ...]:
        # "The length of chunk_shapes MUST match the number of dimensions of the array."
        if len(shape) != len(self.edges):
            raise ValueError(
                f"chunk_shapes has {len(self.edges)} dimensions, but the array of shape {shape} "
                f"has {len(shape)}"
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
        """Return the grid for an array of another shape.

        The specification does not define how a grid is resized.  Existing lengths are
        kept, including those beyond an array that has shrunk, so that it can grow again
        unchanged.  If they do not cover the new shape, one chunk of the missing length is added.
        """
        added = [*map(_added_length, self.edges, shape)]
        if not any(added):
            return self
        edges = tuple(map(_extend, self.edges, added))
        if self.spelling is None:
            return RectilinearGrid(edges)
        parts = zip(self.spelling, edges, added, strict=True)
        spelling = (_to_json(new) if length else spelt for spelt, new, length in parts)
        return RectilinearGrid(edges, tuple(spelling), True)


def _added_length(edges: Edges, size: int) -> int:
    """Return the length of the chunk to add; 0 for none."""
    if isinstance(edges, int):
        return 0
    return max(0, size - sum(map(int.__mul__, edges.lengths, edges.counts)))


def _extend(edges: Edges, length: int) -> Edges:
    if isinstance(edges, int) or not length:
        return edges
    if edges.lengths and length == edges.lengths[-1]:
        return Runs(edges.lengths, (*edges.counts[:-1], edges.counts[-1] + 1))
    return Runs((*edges.lengths, length), (*edges.counts, 1))


def _to_json(edges: Edges) -> JSON:
    if isinstance(edges, int):
        return edges
    return [
        length if count == 1 else [length, count]
        for length, count in zip(edges.lengths, edges.counts, strict=True)
    ]


def _edges(shape: JSON) -> Edges:
    """Parse the chunk lengths of one dimension.

    ValueError if the value is not a positive integer, or an array of such integers and pairs of them.
    """
    if not isinstance(shape, list):
        return _positive(shape)
    if not shape:  # a dimension without elements
        return Runs((), ())
    if _are_integers(shape):
        if min(shape) < 1 or max(shape) > _LARGEST:
            _positive(next(length for length in shape if not 0 < length <= _LARGEST))
        return _merge(np.array(shape, np.int64), np.ones(len(shape), np.int64))
    pairs = [_pair(item) for item in shape]
    if sum(count for _, count in pairs) > _LARGEST:
        raise ValueError("must not define more than 2^63 - 1 chunks")
    lengths, counts = np.array(pairs, np.int64).T
    return _merge(lengths, counts)


def _are_integers(shape: list[JSON]) -> TypeGuard[list[int]]:
    return set(map(type, shape)) == {int}  # without a Python loop


def _pair(item: JSON) -> tuple[int, int]:
    if isinstance(item, list) and len(item) == 2:
        return _positive(item[0]), _positive(item[1])
    return _positive(item), 1


def _positive(value: JSON) -> int:
    if type(value) is not int or not 0 < value <= _LARGEST:
        raise ValueError(
            "must be an integer from 1 to 2^63 - 1, or an array of such integers and of pairs "
            f"[length, repetitions], not {value!r:.60}"
        )
    return value


def _merge(lengths: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> Runs:
    """Merge neighbouring runs of equal length, so that equal grids compare equal."""
    firsts = np.flatnonzero(np.diff(lengths, prepend=0))
    return Runs(
        tuple(lengths[firsts].tolist()),
        tuple(np.add.reduceat(counts, firsts).tolist()),
    )
