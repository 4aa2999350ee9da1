"""Projections compared with NumPy: every element once, at the right position."""

from __future__ import annotations

import tracemalloc
from itertools import product

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from chunk_axes import even, uneven
from hypothesis import given, settings
from zarr_core.interfaces.selection import (
    BasicIndexer,
    CoordinateIndexer,
    MaskIndexer,
    OrthogonalIndexer,
)
from zarr_core.selection import array_projection
from zarr_core.selection.projection import project, project_dimension, put, take


@st.composite
def axes_of(draw, size: int):
    if draw(st.booleans()):
        return even(size, draw(st.integers(1, size + 3)))
    lengths: list[int] = []
    while sum(lengths) < size:
        lengths.append(draw(st.integers(1, size + 2)))
    return uneven(size, lengths)


@st.composite
def slices(draw, size: int) -> slice:
    if draw(st.booleans()):  # so that complete chunks occur in several dimensions
        return slice(0, size, 1)
    start = draw(st.integers(0, size))
    return slice(start, draw(st.integers(start, size)), draw(st.integers(1, size + 2)))


def indices(size: int, count: int | None = None):
    lengths = {"min_size": count or 0, "max_size": 12 if count is None else count}
    elements = st.integers(0, size - 1) if size else st.nothing()
    if not size:
        return st.just(np.zeros(0, np.intp))
    kinds = st.one_of(
        st.lists(elements, **lengths),
        st.lists(elements, **lengths).map(sorted),
        st.permutations(range(size)) if count is None else st.lists(elements, **lengths),
    )
    return kinds.map(lambda items: np.array(items, np.intp))


@st.composite
def cases(draw, kind: str):
    least = 1 if kind != "box" else 0
    shape = tuple(draw(st.lists(st.integers(0, 8), min_size=least, max_size=4)))
    axes = tuple(draw(axes_of(size)) for size in shape)
    if kind == "box":
        return shape, axes, BasicIndexer(tuple(draw(slices(size)) for size in shape))
    if kind == "outer":
        index = [draw(slices(size) | indices(size)) for size in shape]
        place = draw(st.integers(0, len(shape) - 1))
        index[place] = draw(indices(shape[place]))
        return shape, axes, OrthogonalIndexer(tuple(index))
    if kind == "mask":
        return shape, axes, MaskIndexer(draw(hnp.arrays(bool, shape)))
    count = 0 if 0 in shape else draw(st.integers(0, 20))
    return (
        shape,
        axes,
        CoordinateIndexer(tuple(draw(indices(size, count))[:count] for size in shape)),
    )


def direct(array: np.ndarray, selection) -> np.ndarray:
    """The selected elements, computed from explicit coordinates."""
    if isinstance(selection, MaskIndexer):
        return array[selection.mask]
    if isinstance(selection, CoordinateIndexer):
        return array[selection.index] if selection.index else array.reshape(1)
    coordinates = [
        np.arange(size)[item] for size, item in zip(array.shape, selection.index, strict=True)
    ]
    return array[np.ix_(*coordinates)] if coordinates else array


def encoded_chunk(array: np.ndarray, axes, chunk) -> np.ndarray:
    """A chunk at its encoded shape; -1 beyond the array."""
    starts = [axis.start(number) for axis, number in zip(axes, chunk, strict=True)]
    lengths = [axis.length(number) for axis, number in zip(axes, chunk, strict=True)]
    whole = np.full(lengths, -1)
    inside = array[
        tuple(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))
    ]
    whole[tuple(slice(0, length) for length in inside.shape)] = inside
    return whole


def check_parts(shape, axes, selection) -> None:
    array = np.arange(int(np.prod(shape))).reshape(shape)
    expected = direct(array, selection)
    assert selection.shape == expected.shape
    out = np.full(selection.shape, -2)
    times = np.zeros(selection.shape, int)
    parts = list(project(selection, axes))
    for part in parts:
        chunk = encoded_chunk(array, axes, part.chunk_coords)
        taken = take(chunk, part.chunk_selection)
        assert taken.shape == part.chunk_selection.shape
        assert taken.size
        assert out[part.out_selection].shape == taken.shape
        if isinstance(part.chunk_selection, BasicIndexer):  # the engine decodes into a view
            assert np.may_share_memory(out[part.out_selection], out)
        out[part.out_selection] = taken
        times[part.out_selection] += 1
        ordered = isinstance(part.chunk_selection, BasicIndexer) and taken.shape == chunk.shape
        if not isinstance(part.chunk_selection, CoordinateIndexer | MaskIndexer):
            assert part.is_whole_encoded_chunk == (ordered and bool((taken == chunk).all()))
        inside = set(chunk[chunk >= 0].tolist())
        assert part.is_complete_chunk == (set(taken.ravel().tolist()) == inside)
    np.testing.assert_array_equal(out, expected)
    assert (times == 1).all()
    chunks = [part.chunk_coords for part in parts]
    assert chunks == sorted(set(chunks))
    for part, other in zip(parts, project(selection, axes, complete=False), strict=True):
        assert part.is_complete_chunk or not other.is_complete_chunk
        assert part.is_whole_encoded_chunk == other.is_whole_encoded_chunk


@pytest.mark.parametrize("kind", ["box", "outer", "points", "mask"])
@given(data=st.data())
@settings(max_examples=150)
def test_parts_are_the_selection(kind, data):
    check_parts(*data.draw(cases(kind)))


@pytest.mark.parametrize("size", range(1, 6))
def test_every_slice_of_a_short_dimension(size):
    for length, start, step in product(range(1, size + 2), range(size), range(1, size + 2)):
        for stop in range(start, size + 1):
            box = BasicIndexer((slice(start, stop, step),))
            check_parts((size,), (even(size, length),), box)


@pytest.mark.parametrize(("name", "limit"), [("_BLOCK", 1), ("_BLOCK", 4), ("_LARGEST", 3)])
@given(case=st.sampled_from(["outer", "points"]).flatmap(cases))
def test_parts_of_many_points_or_large_grids(name, limit, case):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array_projection, name, limit)
        check_parts(*case)


@pytest.mark.parametrize("kind", ["random", "sorted", "mask"])
@pytest.mark.parametrize("ndim", [1, 2])
def test_points_take_at_most_24_bytes(kind, ndim):
    count, side = 400_000, 800_000 if ndim == 1 else 900
    axes = [even(side, side // 9)] * ndim
    index = tuple(np.random.default_rng(axis).integers(0, side, count) for axis in range(ndim))
    if kind == "sorted":
        index = tuple(np.sort(part) for part in index)
    selection = OrthogonalIndexer(index) if ndim == 1 else CoordinateIndexer(index)
    if kind == "mask":
        mask = np.zeros((side,) * ndim, bool)
        mask[index] = True
        selection = MaskIndexer(mask)
    tracemalloc.start()
    for _ in project(selection, axes, complete=False):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < count * {"random": 24, "sorted": 10, "mask": 4}[kind] + 500_000


def test_points_in_order_are_not_sorted(monkeypatch):
    monkeypatch.setattr(np, "unique", None)
    points = np.sort(np.random.default_rng(0).integers(0, 1000, 5000))
    for part in project(OrthogonalIndexer((points,)), [even(1000, 10)], complete=False):
        assert isinstance(part.out_selection[0], slice)
    for part in project(CoordinateIndexer((points, points)), [even(1000, 10)] * 2):
        assert isinstance(part.out_selection[0], slice)


@given(cases("box"))
def test_a_tuple_means_a_single_chunk(case):
    _, axes, box = case
    projections = project(box, axes)
    count = len(list(project(box, axes)))
    if isinstance(projections, tuple):
        assert len(projections) == count == 1
    else:
        # Only slices with a stop that is not minimal may be missed.
        tight = all(part.stop - 1 < part.start or part.step == 1 for part in box.index)
        assert count != 1 or not tight


@given(cases("box"))
def test_projections_with_keys_have_the_same_fields(case):
    _, axes, box = case
    for keyed, part in zip(project(box, axes, chunk_key=str), project(box, axes), strict=True):
        if type(keyed) is tuple:
            assert keyed == (str(part[0]), part.chunk_selection.index, *part[2:])
        else:  # a single chunk
            assert keyed == part


def test_take_and_put_mix_slices_with_several_arrays():
    array = np.arange(4 * 5 * 6).reshape(4, 5, 6)
    selection = OrthogonalIndexer((np.array([3, 0]), slice(1, 5, 2), np.array([5, 5, 2])))
    expected = array[[3, 0]][:, 1:5:2][:, :, [5, 5, 2]]
    np.testing.assert_array_equal(take(array, selection), expected)
    target = np.zeros_like(array)
    put(target, selection, np.array(7))
    assert target.sum() == 7 * 2 * 2 * 2
    assert (target[[3, 0]][:, 1:5:2][:, :, [5, 2]] == 7).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_many_points_of_a_chunk(order):
    array = np.asarray(np.arange(6 * 7 * 8).reshape(6, 7, 8), order=order)
    index = tuple(np.random.default_rng(0).integers(0, size, 1000) for size in array.shape)
    np.testing.assert_array_equal(take(array, CoordinateIndexer(index)), array[index])


def test_steps_longer_than_chunks_skip_chunks():
    axis = even(100, 10)
    assert [part[0] for part in project_dimension(slice(5, 100, 30), axis)] == [0, 3, 6, 9]


def test_sorted_runs_of_indices_become_slices():
    parts = project_dimension(np.array([1, 3, 5, 12, 13, 14, 20, 20], np.intp), even(30, 10))
    assert [part[1] for part in parts[:2]] == [slice(1, 6, 2), slice(2, 5, 1)]
    assert [part[2] for part in parts] == [
        slice(0, 3, 1),
        slice(3, 6, 1),
        slice(6, 8, 1),
    ]
    np.testing.assert_array_equal(parts[2][1], [0, 0])


def test_a_grid_of_more_chunks_than_an_integer_counts():
    side = 2**62
    axes = (even(side, 3), even(side, 5))
    points = CoordinateIndexer(
        (np.array([side - 1, 0, side - 1], np.intp), np.array([7, side - 1, 8], np.intp))
    )
    parts = list(project(points, axes))
    assert [part.chunk_coords for part in parts] == [(0, (side - 1) // 5), ((side - 1) // 3, 1)]
    np.testing.assert_array_equal(parts[1].out_selection[0], [0, 2])
    np.testing.assert_array_equal(parts[1].chunk_selection.index[1], [2, 3])
    corner = BasicIndexer((slice(side - 1, side, 1), slice(0, 1, 1)))
    assert isinstance(project(corner, axes), tuple)
    # Projections are computed one by one, so the first costs nothing.
    assert next(iter(project(BasicIndexer((slice(0, side, 1),)), axes[:1]))).chunk_coords == (0,)


def test_chunks_longer_than_an_integer_counts():
    axis = even(10, 2**70)
    ((coord, _, _, is_complete, _),) = project_dimension(np.array([3, 1], np.intp), axis)
    assert (coord, is_complete) == (0, False)
    ((_, _, _, is_complete, is_whole),) = project_dimension(slice(0, 10, 1), axis)
    assert (is_whole, is_complete) == (False, True)
    (point,) = project(CoordinateIndexer((np.array([4], np.intp),)), (axis,))
    assert point.chunk_coords == (0,)


def test_no_dimensions():
    (part,) = project(BasicIndexer(()), ())
    assert part == ((), BasicIndexer(()), (Ellipsis,), True, True)
    (part,) = project(CoordinateIndexer(()), ())
    out = np.zeros(1, int)
    out[part.out_selection] = take(np.array(5), part.chunk_selection)
    assert out.tolist() == [5]
    scalar = np.array(0)
    put(scalar, CoordinateIndexer(()), np.array([9]))
    assert scalar == 9


def test_a_selection_of_another_rank_is_our_own_mistake():
    with pytest.raises(ValueError, match="zip"):
        list(project(BasicIndexer((slice(0, 1, 1),)), (even(3, 1), even(3, 1))))
