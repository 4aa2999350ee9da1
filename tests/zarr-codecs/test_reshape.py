"""reshape: every form of a size, and every condition of its specification."""

from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from registered_codecs import chain, made, round_trip
from zarr_codecs.reshape import ReshapeCodec, encoded_shape
from zarr_core.errors import CodecChainError
from zarr_core.extension import ExtensionConfigurationError


@pytest.mark.parametrize(
    ("sizes", "decoded", "message"),
    [
        ([5], (2, 3), "has 5 elements, but the chunk of shape .2, 3. has 6"),
        ([[0], [1]], (2, 3, 4), "has 6 elements"),
        ([4, -1], (2, 3), "6 elements are not divisible by 4"),
        ([[0], [2]], (2, 3), "refers to dimension 2, but the chunk has 2"),
        # The number of elements matches, but not those of the dimension.
        ([2, [0]], (2, 2), "does not match the dimensions .0."),
        ([[1], 18], (6, 2, 3), "does not match the dimensions .1."),
        ([[0, 2], 3], (2, 3, 2), "does not match the dimensions .0, 2."),
    ],
    ids=str,
)
def test_rejects_chunks_that_cannot_have_the_shape(sizes, decoded, message):
    with pytest.raises(CodecChainError, match=message):
        chain(ReshapeCodec(sizes), np.zeros(decoded))


@pytest.mark.parametrize(
    "sizes",
    [
        [[1], [0]], [[1, 0], 10, [3, 4]], [[3, 4], 10, [0, 1]], [[0], [0]], [[0, 0]],
        [-1, -1], [0], [-2], [1.5], [[-1]], [[0.5]], ["2"], "-1", [True], [None],
    ],
    ids=str,
)  # fmt: skip
def test_rejects_invalid_configurations(sizes):
    with pytest.raises(ValueError, match="in shape|must be|at most once|must increase"):
        ReshapeCodec(sizes)
    with pytest.raises(ExtensionConfigurationError):
        made("reshape", shape=sizes)


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
