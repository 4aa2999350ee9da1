"""``array[...]`` with arrays, masks and booleans: the result of NumPy, or an error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from zarr_core.errors import SelectionError


def numbered(shape) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape)


def items_of(size: int):
    """All forms of an index for one dimension."""
    masks = st.one_of(hnp.arrays(bool, (size,)), hnp.arrays(bool, (size,)).map(np.ndarray.tolist))
    if not size:
        return st.one_of(st.slices(0), st.just([]), st.just(np.zeros((2, 0), int)), masks)
    numbers = st.integers(-size, size - 1)
    shapes = st.one_of(st.just((1,)), hnp.array_shapes(max_dims=2, max_side=3))
    return st.one_of(
        numbers,
        numbers.map(np.asarray),
        numbers.map(np.int16),
        st.slices(size),
        st.lists(numbers, max_size=3),
        hnp.arrays(np.int64, shapes, elements=numbers),
        hnp.arrays(np.uint8, shapes, elements=st.integers(0, size - 1)),
        masks,
    )


@st.composite
def cases(draw):
    """A shape with an index, mostly valid in NumPy."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    items = []
    dimension = 0
    while dimension < len(shape):
        kind = draw(st.integers(0, 12))
        if kind == 0:
            break
        if kind == 1 and not any(item is Ellipsis for item in items):
            items.append(...)
            dimension += draw(st.integers(0, len(shape) - dimension))
        elif kind == 2:
            items.append(None)
        elif kind == 3:
            end = draw(st.integers(dimension + 1, len(shape)))
            items.append(draw(hnp.arrays(bool, shape[dimension:end])))
            dimension = end
        else:
            items.append(draw(items_of(shape[dimension])))
            dimension += 1
    if len(items) == 1 and draw(st.booleans()):
        return shape, items[0]
    return shape, tuple(items)


def opened(shape) -> zarr.Array:
    return zarr.create_array({}, data=numbered(shape), chunks=tuple(2 for _ in shape))


@settings(max_examples=300)
@given(cases(), st.data())
@example(((2, 3, 4), (0, slice(None), [0, 1])), None)
@example(((3, 2), ([True, False, True], [0, 1])), None)
@example(((2, 3, 4), (slice(None), 0, ..., [0, 1, 2])), None)
@example(((3, 2), ([], [7])), None)
@example(((0, 1), (..., np.zeros(0, bool))), None)
@example(((2, 3, 4), (slice(None, None, -1), np.ones((3, 4), bool))), None)
def test_reading_and_writing_are_numpys_or_rejected_with_what_to_use(case, data):
    shape, index = case
    array, expected = opened(shape), numbered(shape)
    try:
        with warnings.catch_warnings():
            # NumPy before 2.4 warns of indices out of bounds in an empty result.
            warnings.simplefilter("ignore", DeprecationWarning)
            wanted = expected[index]
    except IndexError:
        with pytest.raises(SelectionError):
            array[index]
        with pytest.raises(SelectionError):
            array[index] = 1
        np.testing.assert_array_equal(array[...], expected)
        return
    try:
        found = array[index]
    except SelectionError as error:
        message = str(error)
    else:
        message = ""
    if message:
        # NumPy does not check index arrays and masks that select nothing.
        invalid = "out of bounds" in message or "does not fit" in message
        assert invalid or ("oindex" in message and "vindex" in message)
        assert not wanted.size
        return
    assert type(found) is type(wanted)
    assert found.dtype == wanted.dtype
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_array_equal(found, wanted)
    values = 1000 + numbered(np.shape(wanted))
    if data is not None:
        values = data.draw(st.sampled_from([values, 7, values[:1] if values.ndim else 7]))
    expected[index] = values
    array[index] = values
    np.testing.assert_array_equal(array[...], expected)


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        ((0, slice(None), [0, 1]), (2, 3)),
        ((slice(None), 0, [0, 1]), (2, 2)),
        ((0, None, [0, 1]), (2, 1, 4)),
        (([0, 1], [0, 1]), (2, 4)),
        (([0, 1], slice(None), [0, 1]), (2, 3)),
        ((slice(None), [[0], [1]], [0, 1, 2]), (2, 2, 3)),
        (np.ones((2, 3), bool), (6, 4)),
    ],
    ids=repr,
)
def test_shapes_are_numpys(index, shape):
    array = opened((2, 3, 4))
    assert array[index].shape == shape == numbered((2, 3, 4))[index].shape


def test_fields_of_records_are_selected_next_to_arrays():
    records = np.zeros((2, 3, 4), [("x", "i4"), ("y", "f8")])
    records["x"] = numbered((2, 3, 4))
    array = zarr.create_array({}, data=records)
    np.testing.assert_array_equal(array["x", 0, :, [0, 1]], records["x"][0, :, [0, 1]])


def test_results_with_moved_axes_go_into_other_memory():
    array, expected = opened((2, 3, 4)), numbered((2, 3, 4))
    index = (0, slice(None), [[3, 1], [2, 0]])
    np.testing.assert_array_equal(array[index], expected[index])
    array[index] = 0 * expected[index].T.copy().T  # in another order in memory
    expected[index] = 0
    np.testing.assert_array_equal(array[...], expected)
