"""Chunk keys are parsed in every format, and other keys are rejected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zarr_sharding.transformer.chunk_names import KeyFormat, parse_name, parse_prefix

FORMS = [KeyFormat(before, between) for before in ("", "c") for between in ("/", ".")]
FORMS += [KeyFormat("c/", "/"), KeyFormat("c.", ".")]
NUMBERS = st.integers(0, 10**19 - 1)


@given(st.sampled_from(FORMS), st.lists(NUMBERS, min_size=2, max_size=5))
def test_name_round_trip(form, numbers):
    assert parse_name(form.name(numbers), len(numbers)) == (form, numbers)
    for ndim in {0, 1, len(numbers) - 1, len(numbers) + 1} - {len(numbers)}:
        assert parse_name(form.name(numbers), ndim) is None


@given(st.sampled_from(FORMS), NUMBERS)
def test_one_number_needs_no_separator(form, number):
    found = parse_name(form.name([number]), 1)
    assert found is not None
    assert (found[0].leading, found[1]) == (form.leading, [number])


@given(st.sampled_from(FORMS), st.lists(NUMBERS, min_size=1, max_size=4))
def test_prefix_round_trip(form, numbers):
    prefix = form.prefix(numbers)
    expected = (form, numbers) if form.separator == "/" else None
    if prefix.endswith("/"):
        assert parse_prefix(prefix, len(numbers) + 1) == expected
        assert parse_prefix(prefix, len(numbers)) is None


@pytest.mark.parametrize("name", ["c", "c0", "0"])
def test_names_without_dimensions(name):
    assert parse_name(name, 0) == (KeyFormat(name, ""), [])


@pytest.mark.parametrize(
    ("name", "ndim"),
    [
        ("", 0), ("", 1), ("c", 1), ("c/", 1), ("c1", 0), ("zarr.json", 1), ("zarr.json", 2),
        ("c00", 1), ("c/01/0", 2), ("-1", 1), ("c+1", 1), ("c 1", 1), ("1_0", 1), ("c\u0661", 1),
        ("c0/0/", 2), ("c/0.0", 2), ("c.0/0", 2), ("c//0", 2), ("d0/0", 2), ("C0/0", 2),
        ("c0\n", 1), ("1" + "0" * 19, 1), ("c0/0.0", 3), ("cc0", 1),
    ],
)  # fmt: skip
def test_other_names(name, ndim):
    assert parse_name(name, ndim) is None


@pytest.mark.parametrize("prefix", ["c/", "c./", "c.0/", "c0.0/", "x/", "c0/x/", "00/", "c0//"])
def test_other_prefixes(prefix):
    assert parse_prefix(prefix, 3) is None
