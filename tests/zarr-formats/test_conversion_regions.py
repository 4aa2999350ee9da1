"""The boxes in which arrays are read cover them, hold whole objects, and fit into memory."""

import math
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.extension import ChunkAxis, ExtensionDefinition, make_extension
from zarr_formats.conversion.regions import all_boxes, boxes_of, cut, decodings


def axes(shape, chunks):
    definition = ExtensionDefinition("regular", {"chunk_shape": list(chunks)})
    return make_extension("chunk_grid", definition).axes(shape)


@st.composite
def grids(draw):
    ndim = draw(st.integers(0, 3))
    lengths = st.tuples(*[st.integers(1, 30)] * ndim)
    return draw(lengths), draw(lengths), draw(lengths), draw(st.integers(1, 5000))


@given(grids())
@settings(max_examples=60)
def test_boxes_cover_everything_once_and_hold_whole_objects(grid):
    shape, source, target, budget = grid
    target_axes = axes(shape, target)
    intervals = cut(target_axes, source, budget)
    seen = np.zeros(shape, int)
    largest = 0
    for box in all_boxes(intervals):
        assert all(part.start % length == 0 for part, length in zip(box, target, strict=True))
        seen[box] += 1
        largest = max(largest, math.prod(part.stop - part.start for part in box))
    assert (seen == 1).all()
    one = math.prod(min(length, size) for length, size in zip(target, shape, strict=True))
    assert largest <= max(budget, one)


@given(grids(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_boxes_of_some_chunks_are_those_that_they_reach_into(grid, random):
    shape, source, target, budget = grid
    source_axes = axes(shape, source)
    intervals = cut(axes(shape, target), source, budget)
    every = list(np.ndindex(*(axis.count for axis in source_axes)))
    some = random.sample(every, len(every) // 3)
    wanted = np.zeros(shape, bool)
    for chunk in some:
        edges = zip(chunk, source, strict=True)
        wanted[tuple(slice(n * step, (n + 1) * step) for n, step in edges)] = True
    expected = [box for box in all_boxes(intervals) if wanted[box].any()]
    assert boxes_of(iter(some), source_axes, intervals) == expected


@given(st.integers(1, 200), st.integers(1, 50), st.integers(1, 50))
@settings(max_examples=60)
def test_decodings_are_counted(size, length, chunk):
    touched = {(i // length, i // chunk) for i in range(size)}
    assert decodings(size, length, chunk) == len(touched)


def test_growth_spares_decoding_where_memory_allows():
    rows, columns = (1, 1000), (1000, 1)
    intervals = cut(axes((1000, 1000), columns), rows, 100_000)
    times = math.prod(decodings(1000, intervals[d].length, rows[d]) for d in range(2))
    assert times <= 1000 * 16  # ten columns of memory for a hundred; powers of two
    intervals = cut(axes((1000, 1000), (10, 10)), (15, 15), 1000)
    assert [interval.length % 30 for interval in intervals] == [0, 0]


class Uneven(ChunkAxis):
    """Chunks of lengths that differ."""

    def __init__(self, lengths):
        self.edges = np.cumsum([0, *lengths])
        self.size, self.count = int(self.edges[-1]), len(lengths)

    def start(self, chunk):
        return int(self.edges[chunk])

    def length(self, chunk):
        return int(self.edges[chunk + 1] - self.edges[chunk])

    def chunk_of(self, element):
        return int(np.searchsorted(self.edges, element, "right")) - 1

    def chunks_of(self, elements):
        return np.searchsorted(self.edges, elements, "right") - 1


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 60))
@settings(max_examples=60)
def test_stored_objects_of_differing_lengths_are_taken_whole(lengths, budget):
    axis = Uneven(lengths)
    (interval,) = cut([axis], [4], budget)
    parts = [interval[number] for number in range(interval.count)]
    assert parts[0].start == 0
    assert parts[-1].stop == axis.size
    assert all(one.stop == other.start for one, other in pairwise(parts))
    assert {part.start for part in parts} <= set(axis.edges.tolist())
    assert max(part.stop - part.start for part in parts) <= max(budget, *lengths)
    for element in range(axis.size):
        part = parts[interval.of(element)]
        assert part.start <= element < part.stop
