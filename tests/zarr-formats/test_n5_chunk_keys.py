"""Chunk keys of N5: reversed chunk coordinates."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zarr_core.extension import ExtensionDefinition, Location, create_extension
from zarr_formats.n5.chunk_keys import N5Encoding


@pytest.mark.parametrize(
    ("chunk", "key"), [((), "0"), ((7,), "7"), ((1, 23, 45), "45/23/1"), ((0, 0), "0/0")]
)
def test_keys(chunk, key):
    assert N5Encoding().encode(chunk) == key
    assert N5Encoding().decode(key, len(chunk)) == chunk


@pytest.mark.parametrize(
    ("key", "ndim"),
    [("", 0), ("1", 0), ("0/0", 1), ("0", 2), ("01/0", 2), ("-1/0", 2), ("0//0", 2), ("a/0", 2),
     ("0.0", 2), ("٣/0", 2), ("attributes.json", 1), ("0/", 2)],
)  # fmt: skip
def test_invalid_key(key, ndim):
    assert N5Encoding().decode(key, ndim) is None


@given(st.lists(st.integers(0, 10**18), min_size=1, max_size=4).map(tuple))
def test_a_key_says_which_chunk_it_is(chunk):
    assert N5Encoding().decode(N5Encoding().encode(chunk), len(chunk)) == chunk


@pytest.mark.parametrize("chunk", [(), (3,), (4, 5)])
def test_affixes_match_encode(chunk):
    affixes = N5Encoding().affixes(len(chunk))
    if len(chunk) > 1:
        assert affixes is None
    else:
        before, between = affixes
        assert before + between.join(map(str, chunk)) == N5Encoding().encode(chunk)


def test_the_name_finds_it():
    made = create_extension(
        "chunk_key_encoding", ExtensionDefinition("n5"), Location("here", pointer="/x")
    )
    assert made == N5Encoding() == pickle.loads(pickle.dumps(made))
    assert made.to_definition() == ExtensionDefinition("n5")
