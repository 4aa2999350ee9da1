"""reshape: every form of a size, and every condition of its specification."""

from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from registered_codecs import round_trip
from zarr_codecs.reshape import ReshapeCodec, encoded_shape


def test_views_where_it_can():
    array = np.arange(24).reshape(2, 3, 4)
    codec = ReshapeCodec([[0, 1], 2, 2])
    encoded = codec.encode(array, None)
    assert encoded.base is not None
    assert np.shares_memory(encoded, array)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), shape=st.lists(st.integers(1, 5), max_size=5).map(tuple))
def test_merging_neighbours(data, shape):
    """Any way to merge neighbouring dimensions is one, and its inverse gives the chunk."""
    cuts = data.draw(st.lists(st.integers(0, len(shape)), max_size=3).map(sorted))
    edges = [0, *cuts, len(shape)]
    sizes = tuple(tuple(range(a, b)) for a, b in pairwise(edges))
    expected = tuple(prod(shape[axis] for axis in size) for size in sizes)
    assert encoded_shape(sizes, shape) == expected
    array = np.arange(prod(shape)).reshape(shape)
    _, back = round_trip(ReshapeCodec(sizes), array)
    assert (back == array).all()


@pytest.mark.parametrize(
    "sizes", [[[1], [0]], [[0], [0]], [-1, -1], [0], [-2], [[-1]], [[0.5]], ["2"], "-1", [True]]
)
def test_rejects_invalid_configurations(sizes):
    with pytest.raises(ValueError, match="in shape|must be|at most once|must increase"):
        ReshapeCodec(sizes)
