"""Automatic chunk shapes, and the forms of the arguments."""

import time
from math import prod

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.normalize.chunk_shapes import CHUNK_BYTES, SHARD_BYTES, chunk_and_shard_shape

SHAPES = st.lists(st.integers(0, 10**6), max_size=4).map(tuple)
SIZES = st.sampled_from([1, 2, 4, 8, 16, 1000])


@settings(max_examples=100, deadline=None)
@given(shape=SHAPES, size=SIZES)
def test_automatic_chunks(shape, size):
    chunks, shards = chunk_and_shard_shape(shape, size)
    assert shards is None
    assert len(chunks) == len(shape)
    assert all(1 <= chunk <= max(1, length) for chunk, length in zip(chunks, shape, strict=True))
    assert prod(chunks) * size <= CHUNK_BYTES
    whole = prod(max(1, length) for length in shape) * size
    assert whole <= CHUNK_BYTES or prod(chunks) * size > CHUNK_BYTES / 2 - 2**19


@settings(max_examples=100, deadline=None)
@given(shape=SHAPES, size=SIZES)
def test_automatic_shards(shape, size):
    chunks, shards = chunk_and_shard_shape(shape, size, shards="auto")
    assert (chunks, None) == chunk_and_shard_shape(shape, size)
    assert all(shard % chunk == 0 for shard, chunk in zip(shards, chunks, strict=True))
    assert prod(shards) * size <= max(SHARD_BYTES, prod(chunks) * size)
    assert all(
        shard < 2 * max(length, chunk)
        for shard, chunk, length in zip(shards, chunks, shape, strict=True)
    )


@settings(max_examples=100, deadline=None)
@given(shards=st.lists(st.integers(1, 5000), min_size=1, max_size=3).map(tuple), size=SIZES)
def test_automatic_chunks_of_given_shards(shards, size):
    chunks, same = chunk_and_shard_shape((10**6,) * len(shards), size, "auto", shards)
    assert same == shards
    assert all(shard % chunk == 0 for shard, chunk in zip(shards, chunks, strict=True))
    assert prod(chunks) * size <= CHUNK_BYTES


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (5, (5, 5)), (-1, (10, 20)), (None, (10, 20)), (False, (10, 20)), ((5, -1), (5, 20)),
        ((None, 4), (10, 4)), ([3, 4], (3, 4)), (np.array([3, 4]), (3, 4)), (np.int64(7), (7, 7)),
        (True, (10, 20)), ("auto", (10, 20)), ((100, 100), (100, 100)),
    ],
)  # fmt: skip
def test_forms_of_chunks(chunks, expected):
    assert chunk_and_shard_shape((10, 20), 1, chunks) == (expected, None)
    assert zarr.create_array(shape=(10, 20), dtype="int8", chunks=chunks).chunks == expected


@pytest.mark.parametrize(
    ("shards", "expected"),
    [(None, None), (False, None), (6, (6, 6)), ((-1, 4), (10, 4)), (True, (16, 32))],
)
def test_forms_of_shards(shards, expected):
    assert chunk_and_shard_shape((10, 20), 1, 2, shards) == ((2, 2), expected)


@pytest.mark.parametrize(
    ("chunks", "shards", "message"),
    [
        (0, None, "at least 1"),
        ((5, -2), None, "at least 1"),
        ((5,), None, r"1 lengths for 2 dimensions \(shape \(10, 20\)\)"),
        ((5, 5, 5), None, "3 lengths for 2"),
        ((5.0, 5), None, "lengths must be integers"),
        (2.5, None, "lengths must be integers"),
        (((5, 0, 5), 5), None, "at least 1"),
        (((5, 4), 5), None, r"add up to 9, not to 10"),
        (((), 5), None, "at least 1"),
        (((5, 5.0), 5), None, "lengths must be integers"),
        ((((5, 5), 5), 5), None, "lengths must be integers"),
        (("55", 5), None, "lengths must be integers"),
        (((5, 5), 5), 10, "chunks within shards must have one length"),
        (4, ((6, 4), 20), "not multiples of chunks"),
        (4, ((4, 8), (8, 4, 9)), "not multiples of chunks"),
        ("big", None, 'integers or "auto"'),
        (4, 6, "not multiples of chunks"),
        (4, (8, 6), "not multiples of chunks"),
        (4, "big", "shards must be integers"),
        ("auto", 0, "at least 1"),
    ],
)
def test_invalid_chunk_shape(chunks, shards, message):
    with pytest.raises(ValueError, match=message):
        chunk_and_shard_shape((10, 20), 1, chunks, shards)


@pytest.mark.parametrize(
    ("chunks", "shards", "expected"),
    [
        ([[3, 7], -1], None, (((3, 7), 20), None)),
        (((5, 5), np.array([12, 8])), None, (((5, 5), (12, 8)), None)),
        # Longer than the array: the last chunk ends beyond it.
        ([[6, 6], 5], None, (((6, 6), 5), None)),
        (2, [[4, 6], 20], ((2, 2), ((4, 6), 20))),
        # A shard that ends with the array is rounded up to whole chunks.
        (3, [[6, 4], [9, 11]], ((3, 3), ((6, 6), (9, 12)))),
        ("auto", [[4, 6], 20], ((2, 20), ((4, 6), 20))),
    ],
)
def test_lengths_that_differ(chunks, shards, expected):
    assert chunk_and_shard_shape((10, 20), 1, chunks, shards) == expected


def test_no_dimensions():
    for chunks in ("auto", (), -1, 5, None):
        assert chunk_and_shard_shape((), 8, chunks, "auto") == ((), ())
    assert chunk_and_shard_shape((0, 3), 8, -1, 6) == ((1, 3), (6, 6))


@pytest.mark.parametrize("prime", [2**31 - 1, 999999000001, 2**61 - 1])
def test_shards_that_nothing_divides_take_no_time(prime):
    started = time.thread_time()
    chunks, shards = chunk_and_shard_shape((2**62,), 8, "auto", prime)
    assert time.thread_time() - started < 5
    assert shards == (prime,)
    assert prime % chunks[0] == 0
    assert chunks[0] < prime
