"""``array[...]`` selects as in zarr-python, even if NumPy and the core differ."""

import numpy as np
import pytest
from zarr_compat import api as compat
from zarr_core.errors import SelectionError

SHAPE = (2, 3, 4)
MASK = np.array([True, False, True])
INDICES = [
    0,
    (slice(None), 1),
    ...,
    [1, 0],
    (0, slice(None), [0, 1]),
    (slice(None), [0, 1], 0),
    ([1, 0], slice(None), 2),
    (0, MASK, slice(None)),
    (slice(None), MASK),
    ([0, 1], [0, 1], [1, 2]),
    (1, [0, 1], [1, 2]),
    ([0, 1], MASK.tolist(), [0, 1]),
    (np.array([True, True]), MASK, np.array([True, False, True, True])),
    np.ones(SHAPE, bool),
    np.arange(24).reshape(SHAPE) > 7,
]
REFUSED = [
    ([0, 1], slice(None), [0, 1]),
    ([0, 1], [0, 1]),
    (np.ones((2, 3), bool), slice(None)),
    True,
]


def pair():
    zarr = pytest.importorskip("zarr")
    values = np.arange(24).reshape(SHAPE)
    return (
        compat.create_array({}, data=values, chunks=(1, 2, 3)),
        zarr.create_array({}, data=values, chunks=(1, 2, 3)),
    )


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_selections_match_zarr_python(index):
    ours, theirs = pair()
    expected = np.asarray(theirs[index])
    assert ours[index].shape == expected.shape
    np.testing.assert_array_equal(ours[index], expected)
    values = np.arange(expected.size).reshape(expected.shape) + 100
    ours[index] = values
    theirs[index] = values
    np.testing.assert_array_equal(ours[...], theirs[...])


@pytest.mark.parametrize("index", REFUSED, ids=repr)
def test_invalid_selections_raise_as_in_zarr_python(index):
    ours, theirs = pair()
    with pytest.raises(IndexError):
        theirs[index]
    with pytest.raises(SelectionError):
        ours[index]
    with pytest.raises(SelectionError):
        ours[index] = 1


def test_fields_with_an_index():
    records = np.zeros((2, 3), [("x", "i4"), ("y", "f8")])
    records["x"] = np.arange(6).reshape(2, 3)
    array = compat.create_array({}, data=records)
    np.testing.assert_array_equal(array["x", :, [0, 2]], records["x"][:, [0, 2]])
    array["x", 0, [0, 2]] = 9
    assert array["x"][0].tolist() == [9, 1, 9]


def test_integers_of_numpy_are_integers():
    ours, _ = pair()
    np.testing.assert_array_equal(ours[np.int64(0), :, [0, 1]], ours[0, :, [0, 1]])
    np.testing.assert_array_equal(ours[np.array(0), :], ours[0])
