"""Invalid indices: the errors and their messages."""

from __future__ import annotations

import re

import numpy as np
import pytest
from zarr_core.errors import SelectionError
from zarr_core.selection.parse import basic, coordinate, fancy, mask, orthogonal


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


@pytest.mark.parametrize(
    "index",
    [
        ([True, True], [True, True, True]),
        ([0, 1], slice(None), [0, 1, 2]),
        np.ones((2, 4), bool),
        (slice(None), np.ones((2, 4), bool)),
        ([True, True], np.ones((3, 4), bool), 0),
    ],
    ids=repr,
)
def test_arrays_that_do_not_fit_together_are_rejected_with_what_to_use(index):
    with pytest.raises(IndexError):
        np.zeros((2, 3, 4))[index]
    with pytest.raises(SelectionError, match=r"oindex.*vindex|too many"):
        fancy(index, (2, 3, 4))


def test_too_many_points_are_rejected():
    with pytest.raises(SelectionError, match=r"do not fit into memory.*oindex.*vindex"):
        fancy(([0, 1], slice(None), [0, 1]), (2, 2**60, 2))
