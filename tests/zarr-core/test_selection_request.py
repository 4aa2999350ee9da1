"""Conversion between the elements of users and of the engine, compared with NumPy."""

from __future__ import annotations

import re

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from zarr_core.errors import SelectionError
from zarr_core.selection.parse import basic, coordinate, orthogonal
from zarr_core.selection.projection import put


def numbered(shape) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape)


@st.composite
def basic_cases(draw):
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6))
    return shape, draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))


@given(basic_cases(), st.data())
def test_values_broadcast_as_numpy_does(case, data):
    shape, index = case
    selected = np.shape(numbered(shape)[index])
    value_shape = data.draw(
        st.one_of(
            hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3),
            st.tuples(*(st.sampled_from([1, size]) for size in selected)),
            st.integers(0, len(selected)).map(lambda cut: selected[cut:]),
            st.integers(1, 2).map(lambda more: (1,) * more + selected),
        )
    )
    value = numbered(value_shape) + 1
    expected = np.zeros(shape, int)
    result = np.zeros(shape, int)
    request = basic(index, shape)
    items = index if isinstance(index, tuple) else (index,)
    # NumPy has other rules for single elements without an ellipsis.
    array_index = items if any(item is Ellipsis for item in items) else (*items, Ellipsis)
    try:
        expected[array_index] = value
    except ValueError:
        with pytest.raises(SelectionError, match=re.escape(str(value_shape))):
            request.broadcast(value)
    else:
        put(result, request.selection, request.broadcast(value))
        np.testing.assert_array_equal(result, expected)


def test_repeated_elements_keep_the_last_value():
    result = np.zeros((2, 3), int)
    request = coordinate(([0, 0, 0], [1, 1, 2]), (2, 3))
    put(result, request.selection, request.broadcast(np.array([5, 6, 7])))
    assert result[0].tolist() == [0, 6, 7]
    backwards = np.array([1, 1, 2, 2])[::-1]
    request = orthogonal((slice(None), backwards), (2, 3))
    put(result, request.selection, request.broadcast(np.array([4, 3, 2, 1])[::-1]))
    assert result[1].tolist() == [0, 4, 2]


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
