"""The chunk grid ``rectilinear``: its text, its forms, its axes."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import CodecChainError, ExtensionConfigurationError, MetadataValidationError
from zarr_core.extension import ExtensionDefinition
from zarr_grids.rectilinear import RectilinearGrid

LARGEST = 2**63 - 1


def definition(shapes):
    return ExtensionDefinition("rectilinear", {"kind": "inline", "chunk_shapes": shapes})


def grid_of(*shapes):
    return RectilinearGrid.from_definition(definition(list(shapes)))


def made(shape, shapes, dtype="int32", **options):
    options.setdefault("compressors", None)
    return zarr.create_array(shape=shape, chunks=definition(shapes), dtype=dtype, **options)


def edges(axis):
    starts = [axis.start(chunk) for chunk in range(axis.count)]
    return [(start, start + axis.length(chunk)) for chunk, start in enumerate(starts)]


# --- the text ---


def test_the_example_of_the_specification():
    grid = grid_of(4, [1, 2, 3], [[4, 2]], [[1, 3], 3], [4, 4, 4])
    axes = grid.axes((6, 6, 6, 6, 6))
    lengths = [[axis.length(chunk) for chunk in range(axis.count)] for axis in axes]
    assert lengths == [[4, 4], [1, 2, 3], [4, 4], [1, 1, 1, 3], [4, 4]]
    assert [list(axis.runs()) for axis in axes] == [
        [(4, 2)], [(1, 1), (2, 1), (3, 1)], [(4, 2)], [(1, 3), (3, 1)], [(4, 2)],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "written"),
    [
        ([10, 10, 10, 5], [[10, 3], 5]),
        ([[10, 2], 10, [10, 1], 5, 5], [[10, 4], [5, 2]]),
        ([[7, 1]], [7]),
        ([3, 1, 3], [3, 1, 3]),
        ([], []),
        (7, 7),
        ([LARGEST, LARGEST], [[LARGEST, 2]]),
        ([[1, LARGEST]], [[1, LARGEST]]),
    ],
)
def test_spellings_of_one_grid(shape, written):
    grid = grid_of(shape)
    assert grid.to_definition() == definition([written])
    assert RectilinearGrid.from_definition(grid.to_definition()) == grid
    assert hash(grid) == hash(grid_of(written))
    assert pickle.loads(pickle.dumps(grid)) == grid
    json.dumps(grid.to_definition().to_json())  # of Python's integers


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (0, "from 1 to"), (-1, "from 1 to"), (True, "not True"), (2.0, "not 2.0"), (None, "None"),
        ([0], "not 0"), ([3, -1], "not -1"), ([3, True], "not True"), ([3, 2.0], "not 2.0"),
        ([[3]], r"\[3\]"), ([[3, 1, 1]], r"\[3, 1, 1\]"), ([[3, 0]], "not 0"), ([[0, 3]], "not 0"),
        ([[3, [1]]], r"not \[1\]"), ([2**63], "2\\^63"), (2**63, "2\\^63"),
        ([[1, LARGEST], 1], "more than 2\\^63 - 1 chunks"), ("4", "'4'"),
    ],
)  # fmt: skip
def test_invalid_lengths(shape, message):
    with pytest.raises(ExtensionConfigurationError, match=message) as caught:
        grid_of(4, shape)
    assert caught.value.problems[0].pointer == "/configuration/chunk_shapes/1"
    with pytest.raises(ExtensionConfigurationError):
        made((4, 4), [4, shape])


@pytest.mark.parametrize(
    "configuration",
    [{"chunk_shapes": [4]}, {"kind": "file", "chunk_shapes": [4]}, {"kind": "inline"},
     {"kind": "inline", "chunk_shapes": {"0": 4}}],
)  # fmt: skip
def test_configurations_that_the_schema_refuses_raise_without_it(configuration):
    with pytest.raises(ExtensionConfigurationError):
        RectilinearGrid.from_definition(ExtensionDefinition("rectilinear", configuration))


def test_chunks_that_do_not_cover_the_array():
    with pytest.raises(
        MetadataValidationError, match="dimension 1: the chunks cover 5 of 6 elements"
    ):
        made((4, 6), [[4], [2, 3]])
    with pytest.raises(MetadataValidationError, match="cover 0 of 1 elements"):
        made((1,), [[]])
    with pytest.raises(MetadataValidationError, match="chunk_shapes has 1 dimensions"):
        made((4, 6), [[4]])


# --- along one dimension ---

LENGTHS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(runs=LENGTHS, data=st.data())
def test_chunks_cover_a_dimension_once(runs, data):
    total = sum(length * count for length, count in runs)
    size = data.draw(st.integers(0, total))
    (axis,) = grid_of([list(run) for run in runs]).axes((size,))
    found = edges(axis)
    assert all(end == start for (_, end), (start, _) in pairwise(found))
    lengths = [length for length, count in runs for _ in range(count)]
    assert [end - start for start, end in found] == lengths[: axis.count]
    assert sum(lengths[: axis.count]) >= size
    assert sum(lengths[: max(0, axis.count - 1)]) <= size
    elements = np.arange(size)
    numbers = [axis.chunk_of(at) for at in range(size)]
    assert all(found[n][0] <= at < found[n][1] for at, n in enumerate(numbers))
    assert axis.chunks_of(elements).tolist() == numbers
    assert [length for length, count in axis.runs() for _ in range(count)] == lengths[: axis.count]
    assert axis.uniform in (None, *lengths)
    assert (axis.uniform is not None) == (len(set(lengths[: axis.count or 1])) == 1)


def test_grid_with_more_chunks_than_memory():
    (axis,) = grid_of([[1, 10**15], [3, 10**15]]).axes((4 * 10**15 - 1,))
    assert axis.count == 2 * 10**15
    assert axis.chunk_of(10**15 + 3 * 10**14 + 1) == 10**15 + 10**14
    assert (axis.start(axis.count - 1), axis.length(axis.count - 1)) == (4 * 10**15 - 3, 3)
    array = made((4 * 10**15,), [[[1, 10**15], [3, 10**15]]], "int8")
    array[10**15 - 1 : 10**15 + 4] = [1, 2, 3, 4, 5]
    assert array[10**15 - 1 : 10**15 + 4].tolist() == [1, 2, 3, 4, 5]
    assert array.nchunks_initialized == 3
    assert "2000000000000000 in all" in repr(array)


def test_chunks_that_reach_far_beyond_the_array():
    array = made((5,), [[3, LARGEST, LARGEST]], "int8")
    assert array.cdata_shape == (2,)
    array[:3] = 7
    assert array[:].tolist() == [7, 7, 7, 0, 0]
    with pytest.raises(CodecChainError, match="more than can be addressed"):
        made((5,), [[3, LARGEST, LARGEST]], "int32")
