"""Selections, their division into blocks, and output formats."""

import csv
import io
import json
from math import prod

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_cli.cat import writers
from zarr_cli.cat.blocks import blocks, read_blocks
from zarr_cli.cat.elements import as_json, as_text
from zarr_cli.cat.npy import NpyTypeError, npy_header, npy_parts
from zarr_cli.cat.preview import preview
from zarr_cli.cat.selection import SelectionTextError, as_index, lengths, parse_selection


@st.composite
def selections(draw):
    """Draw a shape, chunks, a selection as text, and the same selection for NumPy."""
    shape = draw(st.lists(st.integers(0, 7), min_size=0, max_size=3))
    bound = st.none() | st.integers(-9, 9)
    words, index = [], []
    for length in shape:
        if length and draw(st.booleans()):
            number = draw(st.integers(-length, length - 1))
            words.append(str(number))
            index.append(number)
        else:
            start, stop = draw(bound), draw(bound)
            step = draw(st.none() | st.integers(-3, 3).filter(bool))
            start_, stop_, step_ = ("" if it is None else it for it in (start, stop, step))
            words.append(f"{start_}:{stop_}" + (f":{step_}" if step is not None else ""))
            index.append(slice(start, stop, step))
    chunks = tuple(draw(st.integers(1, 4)) for _ in shape)
    return tuple(shape), chunks, ",".join(words), tuple(index)


@settings(max_examples=30)
@given(selections(), st.sampled_from([1, 8, 50, 10**6]))
def test_blocks_cover_the_selection_in_order(selection, budget):
    shape, chunks, text, index = selection
    values = np.arange(prod(shape), dtype="int16").reshape(shape)
    array = zarr.create_array(shape=shape, chunks=chunks, dtype="int16")
    array[...] = values
    wanted = values[index]
    parts = parse_selection(text, shape)
    assert lengths(parts) == wanted.shape
    assert np.array_equal(values[as_index(parts)], wanted)

    cut = list(read_blocks(array, parts, budget))
    assert all(block.nbytes <= max(budget, 2) for block in cut)
    joined = np.concatenate([block.reshape(-1) for block in cut]) if cut else np.empty(0)
    assert joined.tolist() == wanted.reshape(-1).tolist()

    assert json.loads("".join(writers.json_lines(cut, wanted.shape))) == wanted.tolist()
    lines = "".join(writers.text_lines(cut, wanted.shape))
    assert lines.split() == [str(value) for value in wanted.reshape(-1)]
    if wanted.size and wanted.ndim == 2:
        assert len(lines.splitlines()) == len(wanted)
    names = [str(number) for number in range(wanted.ndim)]
    table = [*csv.reader(io.StringIO("".join(writers.csv_lines(cut, wanted.shape, names, None))))]
    if wanted.size and wanted.ndim == 2:
        assert table == wanted.astype(str).tolist()
    if wanted.ndim == 3:
        assert table[0] == [*names, "value"]
        for row in table[1:]:
            *at, value = map(int, row)
            assert wanted[tuple(at)] == value
        assert len(table) == 1 + wanted.size
    packed = b"".join(map(bytes, npy_parts(npy_header(wanted.shape, wanted.dtype), cut)))
    assert np.array_equal(np.load(io.BytesIO(packed)), wanted)


def test_blocks_end_at_chunk_boundaries():
    def starts(shape, chunks, budget):
        whole = tuple(map(range, shape))
        return [block[0].start for block in blocks(whole, chunks, 1, budget)]

    assert starts((10,), (4,), 5) == [0, 4, 8]
    assert starts((10,), (4,), 3) == [0, 3, 4, 7]
    assert starts((10,), ((3, 5, 2),), 9) == [0, 8]
    assert starts((6, 10), (2, 5), 25) == [0, 2, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,3", "3 items, but the array has 2 dimensions"),
        ("...,...", "more than once"),
        ("a", "'a' is not an index"),
        ("1:2:0", "the step cannot be 0"),
        ("5", "5 is out of bounds: dimension 'y' has 4"),
        ("x=7", "7 is out of bounds: dimension 'x' has 6"),
        ("z=0", "the dimensions are y, x"),
    ],
)
def test_invalid_selections(text, message):
    with pytest.raises(SelectionTextError, match=message):
        parse_selection(text, (4, 6), ("y", "x"))


def test_selections_by_name_and_ellipsis():
    assert parse_selection("x=1:3", (4, 6), ("y", "x")) == (range(4), range(1, 3))
    assert parse_selection("...,2", (4, 5, 6)) == (range(4), range(5), 2)
    assert parse_selection("1,...", (4, 5, 6)) == (1, range(5), range(6))
    assert parse_selection("1,...,2", (4, 6)) == (1, 2)


@pytest.mark.parametrize(
    ("values", "text", "as_documents"),
    [
        (np.array([0.1, np.nan, -np.inf], "f4"), ["0.1", "nan", "-inf"], [0.1, "NaN", "-Infinity"]),
        (np.array([2**64 - 1], "u8"), ["18446744073709551615"], [2**64 - 1]),
        (np.array([1 + 2j]), ["(1+2j)"], [[1.0, 2.0]]),
        (np.array([True]), ["True"], [True]),
        (np.array([b"a\xff"]), ["a\\xff"], ["a\\xff"]),
        (np.array([b"\0\xff"], "V2"), ["00ff"], ["00ff"]),
        (np.array([3], "m8[h]"), ["3 hours"], ["3 hours"]),
        (np.array(['ä"'], "U2"), ['ä"'], ['ä"']),
        (np.array([None, np.array([1, 2]), {"a": 1}, b"\1"], object),
         ["None", "[1 2]", "{'a': 1}", "01"], [None, [1, 2], {"a": 1}, "01"]),
        (np.array([[(1, (2.5,))]], [("a", "i4"), ("b", [("c", "f8")])]), ["(1, (2.5))"],
         [{"a": 1, "b": {"c": 2.5}}]),
    ],
)  # fmt: skip
def test_elements_as_text_and_json(values, text, as_documents):
    assert as_text(values) == text
    assert [json.loads(word) for word in as_json(values)] == as_documents


def test_bfloat16_round_trip():
    types = pytest.importorskip("ml_dtypes")
    values = np.array([0.5, 3.0], types.bfloat16)
    assert as_text(values) == ["0.5", "3"] or as_text(values) == ["0.5", "3.0"]
    with pytest.raises(NpyTypeError, match="bfloat16"):
        npy_header((2,), values.dtype)


def test_preview_reads_only_the_corners():
    array = zarr.create_array(shape=(10**6, 10**6), chunks=(10, 10), dtype="uint8", fill_value=7)
    array[0, -1] = 1
    array[500:600, 500:600] = 3
    assert preview(array, parse_selection("", array.shape)).splitlines()[0] == "[[7 7 7 ... 7 7 1]"
    assert preview(array, parse_selection("505,500:503", array.shape)) == "[3 3 3]"
    assert preview(array, parse_selection("0,999000:", array.shape)).endswith("7 7 1]")
