"""Arrays whose chunks have differing lengths, by a grid that a user brings."""

from dataclasses import dataclass

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from zarr_core.errors import MetadataValidationError
from zarr_core.extension import ChunkAxis, ChunkGrid, ExtensionDefinition


class Edges(ChunkAxis):
    def __init__(self, lengths, size):
        self.size = size
        self.starts = np.concatenate([[0], np.cumsum(lengths)])
        self.count = int(np.searchsorted(self.starts, size)) if size else 0

    def start(self, chunk):
        return int(self.starts[chunk])

    def length(self, chunk):
        return int(self.starts[chunk + 1] - self.starts[chunk])

    def chunk_of(self, element):
        return int(np.searchsorted(self.starts, element, "right")) - 1

    def chunks_of(self, elements):
        return np.searchsorted(self.starts, elements, "right") - 1


@dataclass(frozen=True)
class Differing(ChunkGrid):
    """Chunks of given lengths; grows by a chunk."""

    lengths: tuple

    @classmethod
    def from_definition(cls, definition):
        return cls(tuple(map(tuple, definition.configuration["lengths"])))

    def to_definition(self):
        return ExtensionDefinition("acme.differing", {"lengths": [list(x) for x in self.lengths]})

    def axes(self, shape):
        if len(shape) != len(self.lengths):
            raise ValueError(f"lengths for {len(self.lengths)} dimensions")
        if any(sum(part) < size for part, size in zip(self.lengths, shape, strict=True)):
            raise ValueError("the chunks do not cover the array")
        return tuple(Edges(part, size) for part, size in zip(self.lengths, shape, strict=True))

    def resized(self, shape):
        return Differing(
            tuple(
                (*part, size - sum(part)) if size > sum(part) else part
                for part, size in zip(self.lengths, shape, strict=True)
            )
        )


GIVEN = {"chunk_grid": {"acme.differing": Differing}}


def make(shape=(7, 6), lengths=((1, 4, 2), (3, 3)), **options):
    grid = {"name": "acme.differing", "configuration": {"lengths": lengths}}
    return zarr.create_array(
        shape=shape, chunks=grid, dtype="int16", extensions=GIVEN, compressors=None, **options
    )


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_reading_and_writing(data):
    array = make(fill_value=5)
    beside = np.full((7, 6), 5, "int16")
    for _ in range(3):
        index = data.draw(hnp.basic_indices((7, 6), allow_newaxis=True))
        array[index] = beside[index] = data.draw(st.integers(-5, 5))
        index = data.draw(hnp.basic_indices((7, 6)))
        np.testing.assert_array_equal(array[index], beside[index])
    rows = data.draw(hnp.arrays(np.intp, 4, elements=st.integers(-7, 6)))
    np.testing.assert_array_equal(array.oindex[rows, ::2], beside[rows, ::2])
    np.testing.assert_array_equal(array.vindex[rows, rows % 6], beside[rows, rows % 6])
    assert [row.tolist() for row in array] == beside.tolist()


def test_counts_and_blocks():
    array = make()
    array[...] = np.arange(42).reshape(7, 6)
    assert array.nchunks == array.nchunks_initialized == 6
    assert (array.cdata_shape, array.nbytes_stored()) == ((3, 2), 84)
    assert array.blocks[1, 1].tolist() == np.arange(42).reshape(7, 6)[1:5, 3:].tolist()
    assert array.info_complete()["Storage ratio"] == "1.0"
    assert array.shards is None


def test_the_grid_changes_with_the_shape():
    array = make()
    beside = np.arange(42, dtype="int16").reshape(7, 6)
    array[...] = beside
    array.resize(9, 4)
    assert array.cdata_shape == (4, 2)
    assert array.metadata.chunk_grid.configuration["lengths"] == [[1, 4, 2, 2], [3, 3]]
    assert array[7:].tolist() == [[0] * 4] * 2
    array.append(beside[:3, :4])
    assert array.cdata_shape == (5, 2)
    assert array[9:].tolist() == beside[:3, :4].tolist()
    array.resize(3, 6)
    assert array[:, 4:].tolist() == [[0, 0]] * 3
    assert array[:, :4].tolist() == beside[:3, :4].tolist()
    again = zarr.open(array.store, extensions=GIVEN)
    assert again[...].tolist() == array[...].tolist()
    assert zarr.empty_like(array).metadata.chunk_grid == array.metadata.chunk_grid


def test_a_grid_that_does_not_fit():
    for lengths, message in ((((1, 2),), "2 dim|1 dim"), (((1,), (3, 3)), "do not cover")):
        with pytest.raises(MetadataValidationError, match="/chunk_grid"):
            make(lengths=lengths)
        assert message
