import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_codecs.transpose import TransposeCodec
from zarr_core.extension import ArrayRepresentation, Box, Outer, Points

SHAPE = (2, 3, 4)
ARRAY = np.arange(24).reshape(SHAPE)


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_definition_of_the_specification(order):
    codec = TransposeCodec(order)
    encoded = codec.encode(ARRAY)
    representation = ArrayRepresentation(SHAPE, None, np.zeros(()))
    assert codec.encoded_representation(representation).shape == encoded.shape
    assert encoded.shape == tuple(SHAPE[axis] for axis in order)
    for position in np.ndindex(SHAPE):
        assert encoded[tuple(position[axis] for axis in order)] == ARRAY[position]
    assert (codec.decode(encoded, representation) == ARRAY).all()


@pytest.mark.parametrize("name", ["transpose-tensorstore", "transpose-zarr-python"])
def test_reads_what_others_wrote(golden, content, name):
    stored = np.frombuffer(golden(name), "<i4").reshape(30, 20)
    decoded = TransposeCodec([1, 0]).decode(stored, None)
    assert (decoded == np.frombuffer(content, "<i4").reshape(20, 30)).all()


def test_never_copies():
    codec = TransposeCodec([2, 0, 1])
    encoded = codec.encode(ARRAY)
    assert np.shares_memory(encoded, ARRAY)
    assert np.shares_memory(codec.decode(encoded, None), ARRAY)


def test_no_dimensions():
    codec = TransposeCodec([])
    assert codec.encode(np.array(7)) == 7
    assert codec.encoded_part(Box(()), np.array(7))[0] == Box(())


def test_keeps_the_rest_of_the_representation():
    fill_value = np.array(7)
    decoded = ArrayRepresentation(SHAPE, "type", fill_value, keep_empty=True)
    encoded = TransposeCodec([0, 2, 1]).encoded_representation(decoded)
    assert (encoded.data_type, encoded.keep_empty) == ("type", True)
    assert encoded.fill_value is fill_value


def axis_slices(length):
    return st.builds(
        lambda start, more, step: slice(start, start + more, step),
        st.integers(0, length - 1),
        st.integers(0, 1),
        st.integers(1, 3),
    ) | st.just(slice(0, length, 1))


def axis_indices(length, count=None):
    sizes = {"max_size": 5} if count is None else {"min_size": count, "max_size": count}
    return st.lists(st.integers(0, length - 1), **sizes).map(lambda items: np.array(items, np.intp))


boxes = st.tuples(*map(axis_slices, SHAPE)).map(Box)
outers = st.tuples(*(axis_slices(length) | axis_indices(length) for length in SHAPE)).map(Outer)
points = st.integers(0, 6).flatmap(
    lambda count: st.tuples(*(axis_indices(length, count) for length in SHAPE)).map(Points)
)


def take(array, selection):
    if isinstance(selection, Outer):
        for axis, part in enumerate(selection.index):
            array = array[(slice(None),) * axis + (part,)]
        return array
    return array[selection.index]


@settings(max_examples=100, deadline=None)
@given(selection=boxes | outers | points, order=st.permutations(range(3)))
def test_part_of_the_encoded_chunk(selection, order):
    codec = TransposeCodec(order)
    part = np.full(selection.shape, -1)
    encoded_selection, view = codec.encoded_part(selection, part)
    assert type(encoded_selection) is type(selection)
    assert view.shape == encoded_selection.shape
    view[...] = take(codec.encode(ARRAY), encoded_selection)
    assert (part == take(ARRAY, selection)).all()


@pytest.mark.parametrize("order", [[0, 0], [1, 2], [-1, 0], [0, 1.0], [True, False], ["0"]])
def test_refuses_what_is_no_permutation(order):
    with pytest.raises(ValueError, match="order must be a permutation"):
        TransposeCodec(order)


@pytest.mark.parametrize("order", ["C", "F"])
def test_refuses_the_names_of_the_draft(order):
    with pytest.raises(ValueError, match="order must list the dimensions"):
        TransposeCodec(order)


def test_refuses_a_chunk_of_another_rank():
    with pytest.raises(ValueError, match="is for 2 dimensions, the chunk has 3"):
        TransposeCodec([1, 0]).encoded_representation(
            ArrayRepresentation(SHAPE, None, np.zeros(()))
        )


def test_configuration_is_json():
    assert TransposeCodec((1, 0)).to_configuration() == {"order": [1, 0]}
    assert TransposeCodec([1, 0]) == TransposeCodec((1, 0))
    assert hash(TransposeCodec([1, 0])) == hash(TransposeCodec((1, 0)))
