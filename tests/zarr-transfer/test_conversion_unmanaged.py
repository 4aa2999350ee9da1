"""Unmanaged keys and nodes of other formats in a hierarchy are always reported."""

from itertools import permutations

import numpy as np
import pytest
import zarr_core as zarr
from zarr_transfer import ConversionError, convert, plan_conversion

VALUES = np.arange(12).reshape(3, 4)
FORMATS = [2, 3, "draft", "n5"]


def hierarchy(zarr_format):
    store = zarr.MemoryStore()
    group = zarr.create_group(store, zarr_format=zarr_format).create_group("g")
    group.create_array("a", data=VALUES, chunks=2)
    return store


def stranger(store, zarr_format):
    """An array that is not a member of the group, because another program wrote its metadata."""
    other = zarr.MemoryStore()
    zarr.create_array(other, path="g/x", data=VALUES, chunks=2, zarr_format=zarr_format)
    for key in other.list():
        if key.startswith("g/x/"):
            store.set(key, other.get(key))


@pytest.mark.parametrize(
    ("own", "other"), [pair for pair in permutations([1, 2, 3, "n5"], 2) if pair[0] != 1]
)
def test_members_of_other_formats_are_problems(own, other):
    store = hierarchy(own)
    stranger(store, other)
    target = 2 if own == 3 else 3
    named = {1: "v1", 2: "v2", 3: "v3"}.get(other, other)
    with pytest.raises(ConversionError, match=f"/g/x: has the format {named}.*zarr_format="):
        convert(store, dest := zarr.MemoryStore(), source_format=own, zarr_format=target)
    assert not list(dest.list())
    done = convert(store, dest, source_format=own, zarr_format=target, on_error="skip")
    assert "impossible" in str(done)
    assert [problem.pointer for problem in done.problems] == ["/g/x"]
    assert {path for path, _ in zarr.open_group(dest).members(max_depth=None)} == {"g", "g/a"}
    # As in the message: alone, then with all others.
    store.erase_prefix("g/x/") if other in (1, "n5") else convert(
        store, source_path="g/x", source_format=other, zarr_format=3, remove_source=True
    )
    if own == 3 and other == 2:
        done = convert(store, again := zarr.MemoryStore(), zarr_format=2)
        assert not done.problems
        assert np.array_equal(zarr.open(again)["g/x"][...], VALUES)


def test_converted_members_are_skipped_in_place():
    store = hierarchy(2)
    stranger(store, 3)
    assert not plan_conversion(store, source_format=2).problems
    convert(store, source_format=2)
    assert set(dict(zarr.open_group(store, zarr_format=3)["g"].members())) == {"a", "x"}
    stranger(store := hierarchy(3), 1)
    problems = plan_conversion(store, zarr_format=2, source_format=3).problems
    # The chunks of a would have other keys.
    assert [problem.pointer for problem in problems] == ["/g/x", "/g/a"]


@pytest.mark.parametrize("own", FORMATS)
def test_other_keys_are_named_where_they_stay_behind(own):
    store = hierarchy(own)
    below = "data/g/" if own == "draft" else "g/"
    for key in (
        "README.md",
        "notes/of/1999.txt",
        "a/why.txt",
        "a/.copying",
        "a/.copying-pieces/c/0",
    ):
        store.set(f"{below}{key}", b"text")
    target = 2 if own == 3 else 3
    done = convert(store, dest := zarr.MemoryStore(), zarr_format=target)
    assert not done.problems
    notes = [note for step in done.steps for note in step.notes if "unmanaged keys" in note]
    inner = f"'{below}notes/'"
    if own == "n5":  # every folder is a group
        inner = "'g/notes/of/1999.txt'"
    assert f"'{below}README.md'" in notes[0]
    assert any(inner in note for note in notes)
    assert notes[-1 if own != "n5" else 1].endswith(f": '{below}a/why.txt'")
    assert not [key for key in dest.list() if "README" in key]
    if own == 2:  # in place, nothing remains
        assert "unmanaged keys" not in str(convert(store))


@pytest.mark.parametrize("own", FORMATS)
def test_empty_report_is_silent(own):
    store = hierarchy(own)
    zarr.consolidate_metadata(store) if own in (2, 3) else None
    done = plan_conversion(store, zarr.MemoryStore(), zarr_format=2 if own == 3 else 3)
    assert not done.problems
    assert "unmanaged keys" not in str(done)
