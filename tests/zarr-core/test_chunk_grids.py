"""The regular chunk grid."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from zarr_core.chunk_grids import RegularAxis, RegularGrid
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError
from zarr_core.registry.resolve import create_extension


def test_the_example_of_the_specification():
    grid = RegularGrid.from_definition(
        ExtensionDefinition("regular", {"chunk_shape": [5, 20, 400]})
    )
    axes = grid.axes((10, 200, 3000))
    assert tuple(axis.count for axis in axes) == (2, 10, 8)
    element, chunk = (7, 150, 900), (1, 7, 2)
    assert tuple(axis.chunk_of(index) for axis, index in zip(axes, element, strict=True)) == chunk
    within = [
        index - axis.start(number) for axis, index, number in zip(axes, element, chunk, strict=True)
    ]
    assert within == [2, 10, 100]
    # "Chunks at the border of an array always have the full chunk size"
    assert grid.chunk_shape(axes, (1, 9, 7)) == (5, 20, 400)


def test_a_chunk_beyond_the_integers_of_numpy():
    (axis,) = RegularGrid((2**70,)).axes((5,))
    assert axis.count == 1
    assert axis.chunks_of(np.array([0, 4])).tolist() == [0, 0]


def test_an_array_that_is_almost_too_long():
    (axis,) = RegularGrid((1,)).axes((2**63 - 1,))
    assert axis.count == 2**63 - 1
    assert axis.chunk_of(2**63 - 2) == 2**63 - 2


@pytest.mark.parametrize("shape", [(), (1,), (1, 2, 3)])
def test_another_number_of_dimensions_is_rejected(shape):
    with pytest.raises(ValueError, match="do not fit an array of shape"):
        RegularGrid((2, 2)).axes(shape)


@pytest.mark.parametrize("lengths", [(0,), (2, 0), (-1,)])
def test_chunks_have_a_length(lengths):
    with pytest.raises(ValueError, match="at least 1"):
        RegularGrid(lengths)


@pytest.mark.parametrize(
    "configuration",
    [{}, {"chunk_shape": 2}, {"chunk_shape": [0]}, {"chunk_shape": [2.0]}, {"chunk_shape": [True]}],
)
def test_other_configurations_are_rejected(configuration):
    with pytest.raises(ExtensionConfigurationError, match="/configuration/chunk_shape"):
        create_extension("chunk_grid", ExtensionDefinition("regular", configuration))


def test_definition_and_value():
    grid = RegularGrid((2, 3))
    assert grid.to_definition().to_json() == {
        "name": "regular",
        "configuration": {"chunk_shape": [2, 3]},
    }
    assert RegularGrid.from_definition(grid.to_definition()) == grid
    assert hash(grid) == hash(RegularGrid((2, 3)))
    assert grid != RegularGrid((3, 2))
    assert grid.resized((100, 100)) is grid
    assert pickle.loads(pickle.dumps(grid)) == grid
    assert pickle.loads(pickle.dumps(grid.axes((4, 4)))) == grid.axes((4, 4))
    assert isinstance(grid.axes((4, 4))[0], RegularAxis)
