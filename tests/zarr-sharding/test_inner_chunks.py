"""Putting reads together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import StoreReadError
from zarr_core.extension import BufferByteReader
from zarr_core.interfaces.byte_reader import WrapperReader
from zarr_sharding import inner_chunks
from zarr_sharding.inner_chunks import batches, iter_inner_chunks, subrange

VALUE = bytes(it * 7 % 251 for it in range(4000))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3900), st.integers(0, 100)), max_size=30),
    st.integers(1, 10),
    st.integers(0, 200),
    st.integers(50, 1000),
)
def test_every_inner_chunk_comes_out_whole(counting, places, max_items, gap, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inner_chunks, "GAP_BYTES", gap)
        patch.setattr(inner_chunks, "BATCH_BYTES", size)
        found = [(*place, number) for number, place in enumerate(sorted(places))]
        made = batches(found, max_items)
        assert [item[3] for batch in made for item in batch.items] == list(range(len(found)))
        for batch in made:
            assert len(batch.items) <= max_items
            assert batch.nbytes <= size or len(batch.items) == 1
            assert batch.nbytes == sum(stop - start for start, stop in batch.extents)
        for reader in (BufferByteReader(VALUE), counting(VALUE)):
            got = {
                number: bytes(piece)
                for batch in made
                for piece, number in iter_inner_chunks(reader, batch)
            }
            assert got == {number: VALUE[a : a + n] for a, n, number in found}


def test_neighbours_are_one_read():
    (batch,) = batches([(0, 10, 0), (10, 10, 1), (20, 5, 2)], 100)
    assert batch.extents == [[0, 25]]


def test_distant_inner_chunks_are_read_in_one_call():
    far = 2 * inner_chunks.GAP_BYTES
    (batch,) = batches([(0, 10, 0), (far, 10, 1)], 100)
    assert batch.extents == [[0, 10], [far, far + 10]]


def test_overlapping_inner_chunks_are_read_once():
    (batch,) = batches([(0, 100, 0), (10, 20, 1), (50, 60, 2)], 100)
    assert batch.nbytes == 110


def test_many_overlapping_entries_do_not_multiply_memory(counting):
    reader = counting(VALUE)
    (batch,) = batches([(0, 4000, number) for number in range(1000)], 10**6)
    assert batch.nbytes == 4000
    assert sum(1 for _ in iter_inner_chunks(reader, batch)) == 1000
    assert reader.nbytes == 4000


def test_subrange(counting):
    reader = counting(VALUE)
    part = subrange(reader, 100, 50)
    assert isinstance(part, WrapperReader)
    assert part.size == 50
    assert bytes(part.read(10, 5)) == VALUE[110:115]
    buffer = memoryview(bytearray(3))
    part.read_into([(47, buffer)])
    assert bytes(buffer) == VALUE[147:150]


def test_subrange_of_memory_is_not_copied():
    part = subrange(BufferByteReader(VALUE), 100, 50)
    assert isinstance(part, BufferByteReader)
    assert part.size == 50
    assert bytes(part.read(10, 5)) == VALUE[110:115]
    with pytest.raises(StoreReadError):
        part.read(49, 2)


@pytest.mark.parametrize("persistent", [False, True])
def test_reads_of_several_extents_have_their_lengths(counting, monkeypatch, persistent):
    monkeypatch.setattr(inner_chunks, "GAP_BYTES", 5)
    found = [(100, 10, 0), (110, 7, 1), (300, 20, 2), (1000, 30, 3)]
    (batch,) = batches(found, 100, gap_nbytes=5)
    reader = counting(VALUE)
    pieces = iter_inner_chunks(reader, batch, persistent)
    pieces = list(pieces) if persistent else pieces  # valid after the last of them
    assert [bytes(piece) for piece, _ in pieces] == [
        VALUE[start : start + length] for start, length, _ in found
    ]
    assert reader.reads == [[(100, 17), (300, 20), (1000, 30)]]
