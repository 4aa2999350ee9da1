"""Drawings of chunk grids."""

import re
import xml.etree.ElementTree

import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_display.axis_scale import CLOSEST, edges
from zarr_display.grid_picture import grid_picture


def drawn(**options):
    array = zarr.create_array(dtype="int8", **options)
    inner = array.stored.inner_codecs.decoded.shape if array.stored.is_sharded else None
    names = [it or "" for it in array.dimension_names or [""] * array.ndim]
    picture = grid_picture(names, array.stored.axes, inner)
    assert len(picture.svg) < 12_000
    return xml.etree.ElementTree.fromstring(picture.svg), picture.notes


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(1, 9)), min_size=1, max_size=6),
    st.integers(0, 400),
)
def test_lines_are_separate_edges(runs, overhang):
    ends, end = [], 0
    for length, count in runs:
        for _ in range(count):
            end += length
            ends.append(end)
    size = max(1, end - min(overhang, runs[-1][0] - 1))
    found, thinned = edges(runs, size, 200.0)
    true = [it * 200 / size for it in ends if it < size]
    assert all(any(abs(x - it) < 1e-6 for it in true) for x in found)
    gaps = [after - before for before, after in zip((0.0, *found), found, strict=False)]
    assert all(gap > CLOSEST - 1e-6 for gap in gaps)
    assert thinned == (len(found) < len(true))
    left_out = [it for it in true if not any(abs(x - it) < 1e-6 for x in found)]
    assert all(any(it - 2 * CLOSEST < x < it for x in (0, *found)) for it in left_out)
    if not thinned:
        assert found == pytest.approx(true)


def test_many_chunks_are_fast():
    found, thinned = edges([(1, 10**15)], 10**15, 240.0)
    assert thinned
    assert 50 < len(found) < 240 / CLOSEST + 1


def segments(element):
    """Ends of the lines of a path, as ((x, y), (x, y))."""
    pairs = re.findall(r"M([\d.-]+) ([\d.-]+)L([\d.-]+) ([\d.-]+)", element.get("d"))
    return [((float(a), float(b)), (float(c), float(d))) for a, b, c, d in pairs]


def lines(svg, width):
    return [
        it
        for path in svg.iter("path")
        if path.get("stroke-width") == width and not path.get("d").endswith("z")
        for it in segments(path)
    ]


LIGHT, BOLD = "0.8", "1.4"


def test_shards_have_bold_lines():
    svg, notes = drawn(shape=(180, 240), chunks=(45, 30), shards=(90, 120))
    assert not notes
    assert {x for (x, _), (end, _) in lines(svg, LIGHT) if x == end} == {
        30,
        60,
        90,
        120,
        150,
        180,
        210,
    }
    assert {y for (_, y), (_, end) in lines(svg, LIGHT) if y == end} == {45, 90, 135}
    assert lines(svg, BOLD) == [((120, 0), (120, 180)), ((0, 90), (240, 90))]


def test_chunks_of_different_lengths():
    svg, notes = drawn(shape=(90, 120), chunks=[[10, 50, 30], [60, 60]])
    assert not notes
    assert lines(svg, LIGHT) == [
        ((120, 0), (120, 180)),
        ((0, 20), (240, 20)),
        ((0, 120), (240, 120)),
    ]


def test_three_dimensions():
    svg, notes = drawn(shape=(100, 100, 100), chunks=(50, 100, 25), dimension_names=["t", "y", "x"])
    assert not notes
    assert [it.text for it in svg.iter("text")] == ["t 100", "y 100", "x 100", "a chunk"]
    # On the front three edges, on top these and one, on the side one: all along their faces.
    assert len(lines(svg, LIGHT)) == 3 + 4 + 1
    slanted = {(c - a, d - b) for (a, b), (c, d) in lines(svg, LIGHT) if a != c and b != d}
    assert len(slanted) == 1


def test_notes_on_scale():
    assert drawn(shape=10**9, chunks=10, dimension_names=["time"])[1] == [
        "100,000,000 chunks along time: some edges are not drawn"
    ]
    assert "sides are drawn to different scales" in drawn(shape=(3, 100_000), chunks=(3, 50_000))[1]
    assert drawn(shape=(0, 4))[1] == ["the array has no elements"]
    assert drawn(shape=(2,) * 20)[1] == ["12 more dimensions before these"]


def test_more_than_three_dimensions():
    svg, _ = drawn(shape=(4, 6, 20, 20, 20), chunks=(2, 6, 20, 20, 20))
    assert [it.text for it in svg.iter("text")][:2] == ["4", "6"]
    assert lines(svg, LIGHT) == [((65, 0), (65, 16))]


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 0, 0), (1, 1), (10**12, 1), (1, 10**12, 1)])
def test_drawing_fits_the_picture(shape):
    svg, _ = drawn(shape=shape, chunks=[max(1, it // 3) for it in shape])
    width, height = float(svg.get("width")), float(svg.get("height"))
    assert 20 < width < 520
    assert 20 < height < 400
    for group in svg.iter("g"):
        x, y = map(float, re.findall(r"[\d.-]+", group.get("transform")))
        for path in group.iter("path"):
            numbers = [float(it) for it in re.findall(r"-?[\d.]+", path.get("d"))]
            assert min(numbers[::2]) + x >= 0
            assert max(numbers[::2]) + x <= width
            assert min(numbers[1::2]) + y >= 0
            assert max(numbers[1::2]) + y <= height
