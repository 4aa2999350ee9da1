"""The index of a shard: nothing that it claims is believed unchecked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import ChunkDecodeError
from zarr_core.extension import BufferByteReader
from zarr_sharding.codec import ShardingCodec
from zarr_sharding.index import EMPTY, ShardIndex

EXTREMES = [0, 1, 16, 99, 100, 101, 2**31, 2**32, 2**62, 2**63, 2**64 - 100, 2**64 - 2, EMPTY]


def index_from(entries, low=16, high=100):
    table = np.array(entries, np.uint64).reshape(-1, 2)
    return ShardIndex(table, low, high, (len(table),))


def expected(offset, nbytes, low=16, high=100):
    """What an entry means, in integers that do not wrap around."""
    if offset == nbytes == EMPTY:
        return "empty"
    return "found" if low <= offset and offset + nbytes <= high else "broken"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(EXTREMES), st.sampled_from(EXTREMES)), min_size=1))
def test_entries_mean_the_same_together_and_alone(entries):
    index = index_from(entries)
    meanings = [expected(*entry) for entry in entries]
    for number, (entry, meaning) in enumerate(zip(entries, meanings, strict=True)):
        if meaning == "broken":
            with pytest.raises(ChunkDecodeError):
                index.locate_one(number)
        else:
            assert index.locate_one(number) == (None if meaning == "empty" else entry)
    numbers = np.arange(len(entries))
    if "broken" in meanings:
        with pytest.raises(ChunkDecodeError, match=rf"\({meanings.index('broken')},\)"):
            index.locate(numbers)
        numbers = numbers[[meaning != "broken" for meaning in meanings]]
    found, empty = index.locate(numbers)
    assert sorted(found) == found or [it[0] for it in found] == sorted(it[0] for it in found)
    assert {position: (offset, nbytes) for offset, nbytes, position in found} == {
        position: entries[number]
        for position, number in enumerate(numbers)
        if meanings[number] == "found"
    }
    assert empty == [p for p, number in enumerate(numbers) if meanings[number] == "empty"]


def test_error_messages():
    index = index_from([(EMPTY, 5), (90, 20), (3, 4)])
    with pytest.raises(ChunkDecodeError, match="has an invalid entry"):
        index.locate_one(0)
    with pytest.raises(ChunkDecodeError, match="at byte 90 with length 20"):
        index.locate_one(1)
    with pytest.raises(ChunkDecodeError, match="between bytes 16 and 100"):
        index.locate_one(2)


@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize(("endian", "checksum"), [("little", False), ("big", False), ("big", True)])
def test_one_entry_is_found_as_all_are(rep, counting, location, endian, checksum):
    plain = {"name": "bytes", "configuration": {"endian": "little"}}
    codecs = [{"name": "bytes", "configuration": {"endian": endian}}, *["crc32c"] * checksum]
    codec = ShardingCodec((2,), [plain], codecs, location)
    decoded = rep((10,))
    array = np.array([1, 1, 0, 0, 2, 2, 0, 0, 3, 4], "int32")
    data = b"".join(codec.encode(array, decoded))
    index = codec._shard(decoded).index
    for number in range(5):
        reader = counting(data)
        assert index.read_one(reader, number) == index.read(counting(data)).locate_one(number)
        # Without a checksum nothing but the entry is read.
        assert reader.nbytes == (84 if checksum else 16)


def test_entries_of_a_transposed_index(rep):
    order = {"name": "transpose", "configuration": {"order": [1, 0]}}
    big = {"name": "bytes", "configuration": {"endian": "big"}}
    codec = ShardingCodec((2,), ["bytes"], [order, big, "crc32c"])
    decoded = rep((6,), "uint8")
    data = b"".join(codec.encode(np.arange(1, 7, dtype=np.uint8), decoded))
    assert data[6:-4] == np.array([[0, 2, 4], [2, 2, 2]], ">u8").tobytes()  # offsets, lengths
    index = codec._shard(decoded).index
    assert [index.read_one(BufferByteReader(data), n) for n in (1, 2)] == [(2, 2), (4, 2)]
    assert codec.decode(data, decoded).tolist() == [1, 2, 3, 4, 5, 6]


def test_sizes_of_inner_chunks_come_from_the_index_alone(rep, counting):
    codec = ShardingCodec((2, 4), ["bytes", "crc32c"]).complete(rep((4, 8)))
    decoded = rep((4, 8))
    array = np.zeros((4, 8), decoded.data_type.numpy_dtype)
    array[:2, 4:] = np.arange(8).reshape(2, 4)
    array[2:, :4] = 1
    stored = b"".join(codec.encode(array, decoded))
    reader = counting(stored)
    sizes = codec.inner_chunk_sizes(reader, decoded)
    assert sizes.tolist()[0][0] == sizes.tolist()[1][1] == -1
    index = codec._shard(decoded).index.read(BufferByteReader(stored))
    assert sizes[0, 1] == index.locate_one(1)[1]
    assert sizes[1, 0] == index.locate_one(2)[1]
    assert reader.nbytes == codec._shard(decoded).index.size
    assert index_from([(EMPTY, 5), (90, 2**63 + 5), (20, 9)]).sizes().tolist() == [5, 100, 9]
