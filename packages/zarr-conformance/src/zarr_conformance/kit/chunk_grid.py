"""Chunk grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import zarr_core as zarr
from hypothesis import strategies as st
from zarr_core.extension import ChunkAxis, ChunkGrid, ExtensionDefinition

from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.extension import ExtensionTests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hypothesis.strategies import SearchStrategy


class ChunkGridTests(ExtensionTests):
    """Inherit from this to test a chunk grid.

    Examples
    --------
    >>> class TestSquares(ChunkGridTests):
    ...     name = "acme.squares"
    ...     cases = [({"lengths": [1, 4, 9]}, (14,))]
    """

    extension_point = "chunk_grid"

    cases: ClassVar[Sequence[tuple[Mapping[str, Any], tuple[int, ...]]]] = ()
    """Configurations, each with the shape of a small array."""

    def __init_subclass__(cls) -> None:
        if "cases" in vars(cls):
            cls.configurations = [configuration for configuration, _ in cls.cases]

    def shape(self, configuration: Mapping[str, Any]) -> tuple[int, ...]:
        """The shape of an array for a configuration."""
        return next(shape for known, shape in self.cases if known == configuration)

    def array(self, configuration: Mapping[str, Any]) -> zarr.Array:
        """A small array in memory with the grid."""
        return zarr.create_array(
            shape=self.shape(configuration),
            chunks=ExtensionDefinition(self.name, configuration).to_json(),
            dtype="int32",
            compressors=None,
        )

    def test_grid_equality(self, configuration: Mapping[str, Any]) -> None:
        """Grids with the same configuration are equal."""
        one: Any = self.make(configuration)
        assert isinstance(one, ChunkGrid)
        assert one == self.make(configuration)
        other: object = self.name
        assert one != other

    def test_chunks_are_contiguous(self, configuration: Mapping[str, Any]) -> None:
        """Chunks begin at 0, have no gaps, do not overlap, and cover the array."""
        for axis, size in self._axes(configuration):
            assert axis.size == size
            position = 0
            for chunk in range(axis.count):
                assert axis.start(chunk) == position
                assert axis.length(chunk) >= 1
                assert axis.uniform in (None, axis.length(chunk))
                assert position < size, "a chunk holds no element of the array"
                position += axis.length(chunk)
            assert position >= size, "the chunks do not cover the array"

    def test_elements_map_to_chunks(self, configuration: Mapping[str, Any]) -> None:
        """Elements map to their chunks, one by one or many in any order."""
        for axis, size in self._axes(configuration):
            for element in range(size):
                chunk = axis.chunk_of(element)
                assert 0 <= element - axis.start(chunk) < axis.length(chunk)
            elements = np.arange(size, dtype=np.intp)[::-1]
            for some in (elements, elements[:0], np.repeat(elements, 2)):
                chunks = axis.chunks_of(some)
                assert chunks.tolist() == [axis.chunk_of(element) for element in some.tolist()]

    def test_chunk_shape_matches_axes(self, configuration: Mapping[str, Any]) -> None:
        """``chunk_shape`` returns the lengths of the axes."""
        grid = self.make(configuration)
        axes = grid.axes(self.shape(configuration))
        for chunk in np.ndindex(*(axis.count for axis in axes)):
            expected = tuple(axis.length(n) for axis, n in zip(axes, chunk, strict=True))
            assert grid.chunk_shape(axes, chunk) == expected

    def test_wrong_dimensions_raise(self, configuration: Mapping[str, Any]) -> None:
        """An array with another number of dimensions raises ValueError."""
        grid = self.make(configuration)
        shape = self.shape(configuration)
        try:
            axes = grid.axes((*shape, 5))
        except ValueError:
            return
        assert len(axes) == len(shape) + 1, "a dimension of the array is not cut"

    def test_resize_covers_new_shape(self, configuration: Mapping[str, Any]) -> None:
        """The grid of a resized array covers it, or ``resized`` raises ValueError."""
        grid = self.make(configuration)
        shape = self.shape(configuration)
        for change in (-1, 1, 10):
            new = tuple(max(0, length + change) for length in shape)
            try:
                axes = grid.resized(new).axes(new)
            except ValueError:
                continue
            for axis, size in zip(axes, new, strict=True):
                last = axis.count - 1
                assert size == 0 or axis.start(last) + axis.length(last) >= size

    def test_array_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Selections equal those of NumPy: slices with steps, indices in any order."""
        array = self.array(configuration)
        shape = array.shape
        model = np.arange(1, array.size + 1, dtype="int32").reshape(shape)
        array[...] = model
        again = zarr.open_array(array.store, mode="r+")
        assert np.array_equal(again[...], model)

        def check(case: tuple[tuple[slice, ...], int]) -> None:
            part, value = case
            assert np.array_equal(again[part], model[part])
            again[part] = model[part] = value
            assert np.array_equal(array[...], model)

        check_examples(check, _parts(shape), self.examples)
        if shape and shape[0]:
            rows = np.array([shape[0] - 1, 0, 0])
            assert np.array_equal(again.oindex[rows], model[rows])

    def _axes(self, configuration: Mapping[str, Any]) -> list[tuple[ChunkAxis, int]]:
        shape = self.shape(configuration)
        axes = self.make(configuration).axes(shape)
        assert len(axes) == len(shape), "one axis a dimension"
        return list(zip(axes, shape, strict=True))


def _parts(shape: tuple[int, ...]) -> SearchStrategy[tuple[tuple[slice, ...], int]]:
    @st.composite
    def parts(draw: Callable[[Any], Any]) -> tuple[tuple[slice, ...], int]:
        part = []
        for length in shape:
            start, stop = sorted((draw(st.integers(0, length)), draw(st.integers(0, length))))
            part.append(slice(start, stop, draw(st.integers(1, 3))))
        return tuple(part), draw(st.integers(-99, 99))

    return parts()
