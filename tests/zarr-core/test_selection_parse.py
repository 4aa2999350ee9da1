"""Indices compared with NumPy: reads, writes and errors."""

from __future__ import annotations

import re

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from chunk_axes import uneven
from hypothesis import given, settings
from zarr_core.errors import SelectionError
from zarr_core.interfaces.selection import (
    BasicIndexer,
    CoordinateIndexer,
    MaskIndexer,
    OrthogonalIndexer,
)
from zarr_core.selection.parse import basic, block, coordinate, fancy, mask, orthogonal
from zarr_core.selection.projection import put, take

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)


def numbered(shape) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape)


def check(request, array: np.ndarray, expected: np.ndarray, unique: bool = True) -> None:
    """Read and write with a parsed selection, as the engine does."""
    selection = request.selection
    if isinstance(selection, MaskIndexer):
        assert selection.mask.shape == array.shape
        selection = selection.to_coordinates()
    for part, size in zip(selection.index, array.shape, strict=True):
        if isinstance(part, slice):
            assert type(part.start) is type(part.stop) is type(part.step) is int
            assert 0 <= part.start <= part.stop <= size
            assert part.step >= 1
        else:
            assert part.dtype == np.intp
            assert part.ndim == 1
            assert ((part >= 0) & (part < size)).all()
    assert request.shape == np.shape(expected)
    out = np.full(request.shape, -1)
    view = request.view(out)
    assert view.shape == request.selection.shape
    view[...] = take(array, request.selection)
    np.testing.assert_array_equal(out, expected)
    if unique:
        value = -1 - np.arange(out.size).reshape(out.shape)
        written = array.copy()
        put(written, request.selection, request.broadcast(value))
        wanted = array.copy().reshape(-1)
        wanted[np.ravel(expected)] = value.ravel()
        np.testing.assert_array_equal(written.reshape(-1), wanted)


@st.composite
def basic_cases(draw):
    shape = draw(SHAPES)
    return shape, draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))


@given(basic_cases())
@settings(max_examples=150)
def test_basic_is_numpy(case):
    shape, index = case
    array = numbered(shape)
    expected = array[index]
    for parse in (basic, orthogonal, fancy):
        request = parse(index, shape)
        assert isinstance(request.selection, BasicIndexer)
        assert request.scalar == (not isinstance(expected, np.ndarray))
        check(request, array, expected)


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


def axis_items(size: int):
    """All forms of an orthogonal index for one dimension."""
    whole = st.slices(size)
    masks = hnp.arrays(bool, size)
    if size == 0:
        return whole | masks | st.just([])
    numbers = st.integers(-size, size - 1)
    lists = st.lists(numbers, max_size=8)
    return st.one_of(
        whole,
        numbers,
        numbers.map(np.int8),
        numbers.map(np.array),
        lists,
        lists.map(lambda items: np.array(items, np.int16)),
        st.lists(st.integers(0, size - 1)).map(lambda items: np.array(items, np.uint64)),
        masks,
        masks.map(list),
        st.integers(0, size).map(range),
        hnp.arrays(np.int64, hnp.array_shapes(max_dims=2, max_side=3), elements=numbers),
    )


@st.composite
def orthogonal_cases(draw):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5))
    count = draw(st.integers(1, len(shape)))
    items = [draw(axis_items(size)) for size in shape[:count]]
    if count < len(shape) and draw(st.booleans()):
        items.append(Ellipsis)
    return shape, tuple(items)


def one_by_one(array: np.ndarray, items) -> np.ndarray:
    """The outer product by selecting in one dimension after the other, last one first."""
    items = [item for item in items if item is not Ellipsis]
    for axis in reversed(range(len(items))):
        item = items[axis]
        if not isinstance(item, slice):
            item = np.asarray(item)
            if item.size == 0 and item.dtype != bool:
                item = item.astype(int)
        array = array[(slice(None),) * axis + (item,)]
    return array


@given(orthogonal_cases())
@settings(max_examples=150)
def test_orthogonal_selects_each_dimension_by_itself(case):
    shape, index = case
    array = numbered(shape)
    expected = one_by_one(array, index)
    unique = np.unique(expected).size == expected.size
    check(orthogonal(index, shape), array, expected, unique)


@given(hnp.array_shapes(min_dims=1, max_dims=4, max_side=6), st.data())
def test_coordinates_are_numpys(shape, data):
    index = data.draw(hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=3)))
    array = numbered(shape)
    unique = np.unique(array[index]).size == array[index].size
    check(coordinate(index, shape), array, array[index], unique)
    check(fancy(index, shape), array, array[index], unique)


@given(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6), st.data())
def test_masks_are_numpys(shape, data):
    chosen = data.draw(hnp.arrays(bool, shape))
    array = numbered(shape)
    for parse in (mask, coordinate, fancy):
        check(parse(chosen, shape), array, array[chosen])
    check(
        mask((chosen.tolist(),), shape) if chosen.size else mask(chosen, shape),
        array,
        array[chosen],
    )


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


@pytest.mark.parametrize(
    "index",
    [
        [0, 2],
        ([0, 2],),
        ([0, -1], slice(None)),
        (slice(None), [2, 1]),
        (slice(None, None, -1), [2, 1], slice(1, None)),
        ([2, 0], 1, 2),
        ([0, 1], [0, 1], [1, 2]),
        (1, [0, 1], [1, 2]),
        ([True, False, True], [0, 1]),
        ([[0], [1]], [[0, 2]], -1),
        ([True, False, True],),
        np.array([True, False, True]),
        np.array([[0, 1], [1, 0]]),
        range(2),
        (Ellipsis, [1, 3]),
        (None, [1, 0]),
        [],
        np.uint8(2),
        np.array(1),
        (slice(np.int64(1), None),),
    ],
    ids=repr,
)
def test_fancy_indices_that_mean_the_same_to_numpy(index):
    array = numbered((3, 3, 4))
    expected = array[
        np.asarray(index, int) if isinstance(index, list | range) and len(index) == 0 else index
    ]
    check(fancy(index, (3, 3, 4)), array, expected)


def test_axes_of_an_array_come_first_if_a_slice_parts_it_from_an_integer():
    array = numbered((2, 3, 4))
    request = fancy((0, slice(None), [3, 1]), array.shape)
    assert request.shape == (2, 3)
    assert isinstance(request.selection, OrthogonalIndexer)
    check(request, array, array[0, :, [3, 1]])


def test_runs_of_indices_become_boxes():
    """Only basic selections use the fast paths of the engine."""
    assert isinstance(orthogonal((np.arange(3, 7), [1]), (9, 9)).selection, BasicIndexer)
    assert orthogonal((range(0, 9, 4),), (9,)).selection == BasicIndexer((slice(0, 9, 4),))
    assert isinstance(orthogonal(([2, 1],), (9,)).selection, OrthogonalIndexer)
    # The first step and the length agree with a slice, the middle does not.
    assert isinstance(orthogonal(([1, 2, 2, 4],), (9,)).selection, OrthogonalIndexer)
    assert isinstance(coordinate(([2, 1], [0, 1]), (9, 9)).selection, CoordinateIndexer)


@pytest.mark.parametrize("index", [slice(3, 1), slice(9, 2), slice(3, 1, 2), slice(1, 3, -1)])
def test_slices_that_end_before_they_start_are_empty(index):
    check(basic(index, (5, 2)), numbered((5, 2)), np.zeros((0, 2), int))


def test_no_dimensions():
    array = np.array(0)
    for parse in (basic, orthogonal, fancy, coordinate):
        request = parse((), ())
        assert request.scalar
        check(request, array, array)
    assert basic((), ()).selection == BasicIndexer(())
    assert not basic(..., ()).scalar
    assert basic(None, ()).shape == (1,)
    with pytest.raises(SelectionError):
        mask(np.array(True), ())


def test_coordinates_that_are_all_integers_give_a_scalar():
    request = coordinate((1, np.int64(-1)), (3, 4))
    assert request.scalar
    check(request, numbered((3, 4)), np.array(7))


def test_dimensions_longer_than_an_integer_counts():
    size = 2**70
    request = basic((-1, slice(-3, None)), (size, size))
    assert request.selection.index == (slice(size - 1, size, 1), slice(size - 3, size, 1))
    assert orthogonal([1, 0], (size,)).selection.index[0].tolist() == [1, 0]
    with pytest.raises(SelectionError, match="negative"):
        orthogonal([-1, 0], (size,))


AXES = (uneven(10, [4, 4, 4]), uneven(7, [1, 6]))


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, (slice(0, 4), slice(0, 7))),
        (-1, (slice(8, 10), slice(0, 7))),
        ((slice(1, None), 1), (slice(4, 10), slice(1, 7))),
        ((slice(-2, -1), slice(0, 1)), (slice(4, 8), slice(0, 1))),
        ((..., 0), (slice(0, 10), slice(0, 1))),
        ((slice(0, 99), np.int64(1)), (slice(0, 10), slice(1, 7))),
        ((slice(2, 1), 0), (slice(0, 0), slice(0, 1))),
        ((), (slice(0, 10), slice(0, 7))),
    ],
    ids=repr,
)
def test_blocks_count_chunks(index, expected):
    array = numbered((10, 7))
    check(block(index, AXES), array, array[expected])


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
