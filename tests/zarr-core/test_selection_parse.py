"""Parsed indices: their form, and the messages of errors.

test_array_selections.py and test_selection_advanced.py compare what they select with NumPy.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from chunk_axes import uneven
from zarr_core.errors import SelectionError
from zarr_core.interfaces.selection import (
    BasicIndexer,
    CoordinateIndexer,
    OrthogonalIndexer,
)
from zarr_core.selection.parse import basic, block, coordinate, fancy, mask, orthogonal


def numbered(shape) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape)


def test_results_are_given_in_any_memory_that_allows_a_view():
    request = basic((1, slice(None), None, slice(None, None, -1)), (2, 3, 4))
    out = np.zeros((4, 1, 3), int).T
    request.view(out)[...] = numbered((2, 3, 4))[1:2]
    np.testing.assert_array_equal(out, numbered((2, 3, 4))[1, :, None, ::-1])
    with pytest.raises(SelectionError, match="shape"):
        request.view(np.zeros((3, 4), int))
    points = coordinate((np.array([[0, 1], [1, 0]]), 0), (2, 3))
    with pytest.raises(SelectionError, match="contiguous"):
        points.view(np.zeros((2, 2), int).T)


def test_masks_become_what_takes_the_least_memory():
    chosen = np.zeros((20, 30), bool)
    chosen[4, 7] = chosen[19, 0] = True
    assert isinstance(mask(chosen, (20, 30)).selection, CoordinateIndexer)
    chosen[:, ::2] = True
    assert mask(chosen, (20, 30)).selection.mask is chosen
    chosen[...] = False
    chosen[3:18, 1:] = True
    assert mask(chosen, (20, 30)).selection == BasicIndexer((slice(3, 18, 1), slice(1, 30, 1)))
    assert fancy(chosen, (20, 30)) == mask(chosen, (20, 30))


def test_runs_of_indices_become_boxes():
    """Only basic selections use the fast paths of the engine."""
    assert isinstance(orthogonal((np.arange(3, 7), [1]), (9, 9)).selection, BasicIndexer)
    assert orthogonal((range(0, 9, 4),), (9,)).selection == BasicIndexer((slice(0, 9, 4),))
    assert isinstance(orthogonal(([2, 1],), (9,)).selection, OrthogonalIndexer)
    # The first step and the length agree with a slice, the middle does not.
    assert isinstance(orthogonal(([1, 2, 2, 4],), (9,)).selection, OrthogonalIndexer)
    assert isinstance(coordinate(([2, 1], [0, 1]), (9, 9)).selection, CoordinateIndexer)


def test_dimensions_longer_than_an_integer_counts():
    size = 2**70
    request = basic((-1, slice(-3, None)), (size, size))
    assert request.selection.index == (slice(size - 1, size, 1), slice(size - 3, size, 1))
    assert orthogonal([1, 0], (size,)).selection.index[0].tolist() == [1, 0]
    with pytest.raises(SelectionError, match="negative"):
        orthogonal([-1, 0], (size,))


AXES = (uneven(10, [4, 4, 4]), uneven(7, [1, 6]))


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (3, "dimension 0 of length 3"),
        ((0, -3), "index -3"),
        (slice(None, None, 2), "step 1"),
        (slice(None, None, -1), "step 1"),
        ([0, 1], "list"),
        (None, "None"),
        ((0, 0, 0), "too many"),
        (0.5, "float"),
    ],
    ids=repr,
)
def test_bad_blocks_are_explained(index, message):
    with pytest.raises(SelectionError, match=message) as caught:
        block(index, AXES)
    assert str(caught.value).endswith("(grid of chunks (3, 2))")


# --- invalid indices ---


@pytest.mark.parametrize("parse", [basic, orthogonal, fancy])
@pytest.mark.parametrize(
    ("index", "message"),
    [
        (3, "index 3 is out of bounds for dimension 0 of length 3"),
        ((0, -5), "index -5 is out of bounds for dimension 1 of length 4"),
        (10**30, "out of bounds"),
        ((0, 0, 0), "3 indices are too many for 2 dimensions"),
        ((..., ...), "single ellipsis"),
        (slice(None, None, 0), "step"),
        (slice(0.5, 2), "integers"),
        (1.0, "float"),
        (np.float64(1), "float"),
        ("name", "str"),
        ({}, "dict"),
    ],
    ids=repr,
)
def test_bad_indices_are_explained(parse, index, message):
    with pytest.raises(SelectionError, match=message) as caught:
        parse(index, (3, 4))
    assert caught.value.shape == (3, 4)
    assert isinstance(caught.value, IndexError)


@pytest.mark.parametrize(
    ("parse", "index", "message"),
    [
        (basic, [0, 1], "list"),
        (basic, np.array([True, False, True]), "ndarray"),
        (orthogonal, [0, 3], "index 3 is out of bounds for dimension 0"),
        (orthogonal, ([0], [-5]), "index -5 is out of bounds for dimension 1"),
        (orthogonal, np.array([2**64 - 1], np.uint64), "out of bounds"),
        (orthogonal, range(4), "out of bounds"),
        (orthogonal, [True, False], re.escape("mask of shape (2,)")),
        (orthogonal, np.ones((3, 4), bool), re.escape("mask of shape (3, 4)")),
        (orthogonal, [0.0, 1.0], "not an index"),
        (orthogonal, np.array([]), "not an index"),
        (orthogonal, [[0], [1, 2]], "not an index"),
        (orthogonal, ["a"], "not an index"),
        (orthogonal, [None], "not an index"),
        (coordinate, [0, 1], "one array of integers for each of 2"),
        (coordinate, ([0, 1], slice(None)), "orthogonal"),
        (coordinate, ([0, 1], None), "orthogonal"),
        (coordinate, ([0, 1], [0, 1, 2]), re.escape("(2,), (3,)")),
        (coordinate, ([0, 3], [0, 1]), "index 3 is out of bounds for dimension 0"),
        (coordinate, (np.array([True, False, True]), [0, 1, 2]), "mask"),
        (mask, np.ones((4, 3), bool), re.escape("mask of shape (4, 3)")),
        (mask, np.ones((3, 4), int), "booleans"),
        (mask, (slice(None),), "not an index"),
        (fancy, np.ones((3, 3), bool), re.escape("mask of shape (3, 3)")),
        (fancy, [0, 3], "out of bounds"),
        (fancy, [0.5], "not an index"),
    ],
)
def test_bad_index_arrays_are_explained(parse, index, message):
    with pytest.raises(SelectionError, match=message) as caught:
        parse(index, (3, 4))
    assert caught.value.shape == (3, 4)


@pytest.mark.parametrize("parse", [basic, orthogonal])
def test_a_boolean_is_not_an_integer(parse):
    with pytest.raises(SelectionError, match="bool"):
        parse(True, (3, 4))


def test_too_many_points_are_rejected():
    with pytest.raises(SelectionError, match=r"do not fit into memory.*oindex.*vindex"):
        fancy(([0, 1], slice(None), [0, 1]), (2, 2**60, 2))
