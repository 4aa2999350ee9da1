"""Tests of booleans as indices and in place of integers, which are errors for every NumPy 2.

Before version 2.3, booleans of NumPy have ``__index__``.  ``EarlierBoolean`` behaves like them.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import SelectionError

BOOLEANS = [True, False, np.True_, np.False_, np.array(True), np.array(False)]
SHAPES = [(), (2,), (2, 3)]


class EarlierBoolean:
    """Everything of a boolean of NumPy 2.0 that distinguishes it from an integer."""

    dtype = np.dtype(bool)
    ndim = 0
    shape = ()

    def __repr__(self) -> str:
        return "earlier boolean"

    def __index__(self) -> int:
        return 1

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        return np.array(True)

    __gt__ = __lt__ = __ge__ = __le__ = lambda self, other: False


NOT_INTEGERS = [EarlierBoolean(), np.True_, np.array(True)]


def indices(boolean: Any, ndim: int) -> list[Any]:
    alone = [boolean, (boolean,), (boolean, ...), (..., boolean), (None, boolean)]
    beside = [
        (boolean, 0),
        (1, boolean),
        (boolean, slice(1)),
        ([1, 0], boolean),
        (boolean, boolean),
    ]
    return alone + beside if ndim else alone


@pytest.mark.parametrize(("shape", "boolean"), [*product(SHAPES, BOOLEANS)], ids=repr)
def test_booleans_without_dimensions_are_not_indices(shape: tuple[int, ...], boolean: Any) -> None:
    values = np.arange(6, dtype="u2")[: int(np.prod(shape))].reshape(shape)
    array = zarr.create_array({}, data=values, chunks=(1,) * len(shape))
    for index in indices(boolean, len(shape)):
        with pytest.raises(SelectionError, match=r"is not an index|too many"):
            array[index]
        with pytest.raises(SelectionError):
            array[index] = 99
    np.testing.assert_array_equal(array[...], values)


@pytest.mark.parametrize("boolean", NOT_INTEGERS, ids=repr)
def test_a_boolean_of_numpy_is_not_an_integer(boolean: Any) -> None:
    array = zarr.create_array({}, data=np.arange(6.0).reshape(2, 3), chunks=(1, 2))
    for select in (array.oindex, array.blocks, array.vindex):
        for index in (boolean, (boolean, boolean)):
            with pytest.raises(SelectionError):
                select[index]
    with pytest.raises(SelectionError):
        array.get_basic_selection(boolean)
    with pytest.raises(TypeError, match="integers or None"):
        array.resize(boolean, 3)
    with pytest.raises(TypeError, match="axis must be an integer"):
        array.append(np.zeros((2, 3)), axis=boolean)
    assert array.shape == (2, 3)


@pytest.mark.parametrize("boolean", NOT_INTEGERS, ids=repr)
@pytest.mark.parametrize(
    "arguments",
    [
        lambda boolean: {"shape": boolean},
        lambda boolean: {"shape": (2, boolean)},
        lambda boolean: {"shape": (2, 2), "chunks": boolean},
        lambda boolean: {"shape": (2, 2), "chunks": ([1, boolean], 2)},
        lambda boolean: {"shape": (2, 2), "chunks": 1, "shards": (2, boolean)},
        lambda boolean: {"shape": (2, 2), "order": (boolean, 0)},
        lambda boolean: {"shape": (2, 2), "chunks": zarr.ChunkLayout(elements=boolean)},
    ],
)
def test_arguments_that_are_integers(arguments: Any, boolean: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"integer|order|number"):
        zarr.create_array({}, dtype="i2", **arguments(boolean))
