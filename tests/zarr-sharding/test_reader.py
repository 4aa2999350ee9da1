"""Partial decoding of shards: only required bytes are read and validated."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.config import config
from zarr_core.errors import ChunkDecodeError
from zarr_core.extension import (
    BasicIndexer,
    BufferByteReader,
    CoordinateIndexer,
    OrthogonalIndexer,
    StoreReadError,
)
from zarr_sharding import reader as reading
from zarr_sharding import shard as shard_module
from zarr_sharding.codec import ShardingCodec

EMPTY = 2**64 - 1


def box(*index):
    return BasicIndexer(
        tuple(slice(*part) if len(part) == 3 else slice(*part, 1) for part in index)
    )


def read(codec, decoded, reader, selection):
    out = np.full(selection.shape, 99, decoded.data_type.numpy_dtype)
    codec.partial_decode(reader, decoded, selection, out)
    return out


@pytest.fixture(scope="module")
def large(rep):
    """A shard of 4 x 4 inner chunks of 8 KiB each, not compressed."""
    decoded = rep((128, 256), "int32")
    codec = ShardingCodec((32, 64)).complete(decoded)
    values = np.arange(decoded.size, dtype=np.int32).reshape(decoded.shape) + 1
    return codec, decoded, values, b"".join(codec.encode(values, decoded))


INDEX = 16 * 16 + 4
CHUNK = 8192


# --- bytes that are read ---


def test_one_inner_chunk_costs_the_index_and_itself(large, counting):
    codec, decoded, values, data = large
    reader = counting(data)
    out = read(codec, decoded, reader, box((40, 50), (70, 100)))
    np.testing.assert_array_equal(out, values[40:50, 70:100])
    assert reader.reads == [[(16 * CHUNK, INDEX)], [(5 * CHUNK, CHUNK)]]


def test_neighbours_are_read_together(large, counting):
    codec, decoded, values, data = large
    reader = counting(data)
    out = read(codec, decoded, reader, box((33, 34), (0, 256)))
    np.testing.assert_array_equal(out, values[33:34])
    assert reader.reads == [[(16 * CHUNK, INDEX)], [(4 * CHUNK, 4 * CHUNK)]]


def test_points_far_apart_do_not_read_what_is_between(large, counting):
    codec, decoded, values, data = large
    reader = counting(data)
    points = CoordinateIndexer((np.array([127, 0, 127]), np.array([255, 0, 254])))
    np.testing.assert_array_equal(read(codec, decoded, reader, points), values[points.index])
    assert reader.nbytes == INDEX + 2 * CHUNK


def test_most_of_a_small_shard_is_one_read(large, counting):
    codec, decoded, values, data = large
    reader = counting(data)
    np.testing.assert_array_equal(
        read(codec, decoded, reader, box((0, 128), (0, 255))), values[:, :255]
    )
    assert reader.reads == [[(0, len(data))]]


def test_large_shard_is_read_in_pieces_of_bounded_size(rep, counting):
    decoded = rep((64, 256, 256), "uint8")
    codec = ShardingCodec((32, 32, 32), ["bytes", "crc32c"])
    values = np.random.default_rng(1).integers(1, 255, decoded.shape, np.uint8)
    data = b"".join(codec.encode(values, decoded))
    reader = counting(data)
    np.testing.assert_array_equal(
        read(codec, decoded, reader, box((0, 64), (0, 256), (0, 256))), values
    )
    assert max(length for parts in reader.reads for _, length in parts) <= 1 << 20
    assert reader.nbytes == len(data)


@pytest.mark.parametrize("threads", [1, 2])
def test_raw_rows_are_read_straight_into_place(rep, counting, threads):
    decoded = rep((1 << 18,), "float64")
    codec = ShardingCodec((1 << 14,), ["bytes"]).complete(decoded)
    values = np.arange(decoded.size, dtype=np.float64)
    values[1 << 15 : 1 << 16] = 0  # two empty inner chunks
    data = b"".join(codec.encode(values, decoded))
    reader = counting(data)
    with config.set(threads=threads):
        np.testing.assert_array_equal(read(codec, decoded, reader, box((0, 1 << 18))), values)
    assert reader.nbytes == len(data)
    strided = np.zeros((1 << 18, 2))[:, 1]
    codec.partial_decode(counting(data), decoded, box((0, 1 << 18)), strided)
    np.testing.assert_array_equal(strided, values)


def test_raw_inner_chunk_of_another_size_raises(rep, index_of, reindexed):
    decoded = rep((8,), "uint8")
    codec = ShardingCodec((4,))
    data = b"".join(codec.encode(np.ones(8, np.uint8), decoded))
    entries = index_of(codec, decoded, data)
    entries[1, 1] = 3
    data = reindexed(codec, decoded, data, entries)
    for part in (box((0, 8)), box((5, 6)), box((4, 8)), box((1, 7))):
        with pytest.raises(ChunkDecodeError, match=r"inner chunk \(1,\): .*3 bytes instead of 4"):
            read(codec, decoded, BufferByteReader(data), part)
    assert read(codec, decoded, BufferByteReader(data), box((0, 4))).tolist() == [1] * 4


def nested(rep, location="end"):
    decoded = rep((256, 256), "int32")
    inner = {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [16, 16],
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"],
            "index_location": location,
        },
    }
    codec = ShardingCodec((128, 128), [inner], index_location=location)
    values = np.arange(decoded.size, dtype=np.int32).reshape(decoded.shape)
    values[128:, 128:] = 0  # an empty inner shard
    values[16:32, 16:32] = 0  # an empty inner chunk of an inner shard
    return codec, decoded, values, b"".join(codec.encode(values, decoded))


@pytest.mark.parametrize("location", ["start", "end"])
def test_part_of_a_shard_in_a_shard_reads_two_indexes_and_a_chunk(rep, counting, location):
    codec, decoded, values, data = nested(rep, location)
    reader = counting(data)
    out = read(codec, decoded, reader, box((130, 140), (5, 6)))
    np.testing.assert_array_equal(out, values[130:140, 5:6])
    assert [parts[0][1] for parts in reader.reads] == [4 * 16 + 4, 64 * 16 + 4, 16 * 16 * 4]


# --- empty inner chunks ---


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        ("float32", 0x7FC0BEEF),  # a NaN with a payload
        ("float32", 0x80000000),  # minus zero
        ("float64", 0xFFF8000000000001),
        ("uint16", 0xABCD),
    ],
)
def test_empty_inner_chunks_have_the_bits_of_the_fill_value(rep, dtype, bits):
    word = np.dtype(f"u{np.dtype(dtype).itemsize}")
    fill = np.array(bits, word).view(dtype)
    decoded = rep((4, 6), dtype, fill)
    codec = ShardingCodec((2, 3), ["bytes"]).complete(decoded)
    values = np.full((4, 6), fill)
    values[3, 5] = 1
    data = b"".join(codec.encode(values, decoded))
    for part in (box((0, 4), (0, 6)), box((0, 2), (0, 3)), box((1, 3), (1, 5))):
        out = read(codec, decoded, BufferByteReader(data), part)
        np.testing.assert_array_equal(out.view(word), values[part.index].view(word))


def test_index_of_empty_entries_only_is_all_fill(rep, index_of, reindexed):
    decoded = rep((4,), "uint8", 7)
    codec = ShardingCodec((2,))
    data = b"".join(codec.encode(np.ones(4, np.uint8), decoded))
    data = reindexed(codec, decoded, data, np.full((2, 2), EMPTY, np.uint64))
    assert codec.decode(data, decoded).tolist() == [7] * 4


# --- damaged shards ---


def test_damaged_inner_chunk_in_a_shard_in_a_shard_is_located(rep, index_of, counting):
    codec, decoded, _, data = nested(rep)
    offset = int(index_of(codec, decoded, data)[1, 0])
    nbytes = int(index_of(codec, decoded, data)[1, 1])
    broken = bytearray(data)
    broken[offset + nbytes - 1] ^= 1
    for part in (box((0, 10), (128, 140)), box((0, 10), (120, 140)), box((0, 256), (0, 256))):
        for reader in (BufferByteReader(bytes(broken)), counting(bytes(broken))):
            with pytest.raises(ChunkDecodeError, match=r"inner chunk \(0, 1\): shard index: "):
                read(codec, decoded, reader, part)


def test_store_error_is_not_a_damaged_chunk(large, counting):
    codec, decoded, _, data = large

    class Failing(counting):
        def read_into(self, parts):
            if self.reads:
                raise StoreReadError("the disk is on fire")
            super().read_into(parts)

    with pytest.raises(StoreReadError, match="on fire"):
        read(codec, decoded, Failing(data), box((33, 34), (0, 256)))


# --- every selection gives what NumPy gives ---


@st.composite
def selections(draw, shape):
    def indices(length, count):
        return np.array(draw(st.lists(st.integers(0, length - 1), min_size=count, max_size=count)))

    def part(length):
        start = draw(st.integers(0, length))
        stop = draw(st.integers(start, length))
        return slice(start, stop, draw(st.integers(1, 5)))

    kind = draw(st.sampled_from(["box", "outer", "points"]))
    if kind == "box":
        return BasicIndexer(tuple(part(length) for length in shape))
    if kind == "points":
        count = draw(st.integers(1, 8))
        return CoordinateIndexer(tuple(indices(length, count).astype(np.intp) for length in shape))
    count = draw(st.integers(1, 6))
    axis = draw(st.integers(0, len(shape) - 1))
    return OrthogonalIndexer(
        tuple(
            indices(length, count).astype(np.intp) if it == axis else part(length)
            for it, length in enumerate(shape)
        )
    )


def numpy_index(selection, shape):
    if isinstance(selection, OrthogonalIndexer):
        return np.ix_(*(np.arange(n)[part] for part, n in zip(selection.index, shape, strict=True)))
    return selection.index


def nested_bytes(chunk_shape):
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    members = {"chunk_shape": chunk_shape, "codecs": codecs, "index_codecs": codecs}
    return {"name": "sharding_indexed", "configuration": members}


CHAINS = [
    ["bytes"],
    [nested_bytes([1, 1])],
    [{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"],
    [{"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes", "zstd"],
]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_selections_agree_with_numpy(rep, counting, data):
    shape = (12, 20)
    decoded = rep(shape, "int16", -1)
    chunks = data.draw(st.sampled_from([(3, 4), (12, 20), (1, 1), (12, 5), (4, 20)]))
    codec = ShardingCodec(
        chunks,
        data.draw(st.sampled_from(CHAINS)),
        index_location=data.draw(st.sampled_from(["start", "end"])),
    ).complete(decoded)
    values = np.arange(240, dtype=np.int16).reshape(shape)
    values[data.draw(st.integers(0, 11)) :, : data.draw(st.integers(0, 19))] = -1
    stored = b"".join(codec.encode(values, decoded))
    selection = data.draw(selections(shape))
    expected = values[numpy_index(selection, shape)]
    for reader in (BufferByteReader(stored), counting(stored)):
        np.testing.assert_array_equal(read(codec, decoded, reader, selection), expected)


def test_plans_of_many_inner_chunks_are_created_in_windows(rep, counting, monkeypatch):
    monkeypatch.setattr(reading, "WINDOW", 7)
    decoded = rep((10, 10), "uint8")
    codec = ShardingCodec((1, 2), ["bytes", "crc32c"])
    values = np.arange(100, dtype=np.uint8).reshape(10, 10)
    values[4:6] = 0
    data = b"".join(codec.encode(values, decoded))
    for part in (box((0, 10), (0, 10)), box((1, 10), (0, 9))):
        for reader in (BufferByteReader(data), counting(data)):
            np.testing.assert_array_equal(read(codec, decoded, reader, part), values[part.index])


def test_threads_read_the_same(rep, counting):
    decoded = rep((64, 128, 64), "float32")
    codec = ShardingCodec((16, 32, 32), ["bytes", "zstd"]).complete(decoded)
    values = np.random.default_rng(0).integers(0, 9, decoded.shape).astype(np.float32)
    data = b"".join(codec.encode(values, decoded))
    everything = box((0, 64), (0, 128), (0, 64))
    with config.set(threads=3):
        assert b"".join(codec.encode(values, decoded)) == data
        for part in (everything, box((1, 64), (0, 127), (3, 60))):
            out = read(codec, decoded, counting(data), part)
            np.testing.assert_array_equal(out, values[part.index])


def test_empty_selection_reads_nothing(large, counting):
    codec, decoded, _, data = large
    reader = counting(data)
    assert read(codec, decoded, reader, box((3, 3), (0, 256))).shape == (0, 256)
    assert not reader.reads


# --- nested shards ---

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
INDEX_CODECS = [
    [LITTLE],
    [LITTLE, "crc32c"],
    [{"name": "bytes", "configuration": {"endian": "big"}}],
    [{"name": "transpose", "configuration": {"order": [2, 1, 0]}}, LITTLE, "crc32c"],
]


def halved(side, codecs, **options):
    """Shards of 2 x 2 shards, down to inner chunks of one element."""
    codec = None
    inner = 1
    while inner < side:
        codec = ShardingCodec((inner, inner), codecs if codec is None else [codec], **options)
        inner *= 2
    return codec


@pytest.mark.parametrize("codecs", [["bytes"], ["bytes", "crc32c"]])
@pytest.mark.parametrize("index_codecs", INDEX_CODECS)
@pytest.mark.parametrize("location", ["start", "end"])
def test_nested_shards_with_empty_inner_chunks(rep, counting, codecs, index_codecs, location):
    decoded = rep((16, 16), "int16", 5)
    codec = halved(16, codecs, index_codecs=index_codecs, index_location=location)
    codec = codec.complete(decoded)
    values = np.arange(256, dtype=np.int16).reshape(16, 16)
    values[4:, :8] = values[9, 9] = values[0, 1] = 5
    data = b"".join(codec.encode(values, decoded))
    np.testing.assert_array_equal(codec.decode(data, decoded), values)
    for reader in (BufferByteReader(data), counting(data)):
        out = read(codec, decoded, reader, box((0, 16), (0, 16)))
        np.testing.assert_array_equal(out, values)


def test_calls_for_nested_shards_grow_with_their_number(rep):
    def calls_per_shard(side):
        decoded = rep((side, side), "uint8")
        codec = halved(side, ["bytes"])
        data = b"".join(codec.encode(np.ones(decoded.shape, np.uint8), decoded))
        codec.decode(data, decoded)  # prepares the codecs
        calls = 0

        def count(frame, event, argument):
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            codec.decode(data, decoded)
        finally:
            sys.setprofile(None)
        return calls / ((side * side - 1) // 3)

    assert calls_per_shard(64) < 30
    assert calls_per_shard(64) < calls_per_shard(16)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_damaged_nested_index_names_the_inner_chunks(rep, level):
    decoded = rep((8, 8), "uint8")
    codec = halved(8, ["bytes"])
    values = np.arange(1, 65, dtype=np.uint8).reshape(8, 8)
    data = bytearray(b"".join(codec.encode(values, decoded)))
    # The last inner chunk of the last inner chunk ends just before the indices.
    data[len(data) - 68 * level - 1] ^= 1
    coordinates = r"inner chunk \(1, 1\): " * level
    with pytest.raises(ChunkDecodeError, match=rf"\): {coordinates}shard index: "):
        codec.decode(bytes(data), decoded)


@pytest.mark.parametrize("entry", [(0, 10**6), (10**6, 1), (2**64 - 1, 1), (2**63, 2**63)])
def test_invalid_entry_of_a_nested_shard_names_the_inner_chunk(rep, reindexed, index_of, entry):
    decoded, inner_decoded = rep((4, 4), "uint8"), rep((2, 2), "uint8")
    inner = ShardingCodec((1, 1))
    codec = ShardingCodec((2, 2), [inner])
    values = np.arange(1, 17, dtype=np.uint8).reshape(4, 4)
    data = b"".join(codec.encode(values, decoded))
    offset, size = index_of(codec, decoded, data)[1].tolist()
    part = data[offset : offset + size]
    entries = index_of(inner, inner_decoded, part)
    entries[2] = entry
    part = reindexed(inner, inner_decoded, part, entries)
    data = data[:offset] + part + data[offset + size :]
    with pytest.raises(
        ChunkDecodeError, match=r"chunk: inner chunk \(0, 1\): shard index: .*\(1, 0\)"
    ):
        codec.decode(data, decoded)


def test_nested_shard_that_is_too_short_raises(rep, index_of, reindexed):
    decoded = rep((4, 4), "uint8")
    codec = ShardingCodec((2, 2), [ShardingCodec((1, 1))])
    data = b"".join(codec.encode(np.ones((4, 4), np.uint8), decoded))
    entries = index_of(codec, decoded, data)
    entries[3, 1] = 5
    with pytest.raises(
        ChunkDecodeError, match=r"chunk: inner chunk \(1, 1\): the shard has 5 bytes"
    ):
        codec.decode(reindexed(codec, decoded, data, entries), decoded)


def test_nested_shards_with_many_innermost_chunks(rep, monkeypatch):
    monkeypatch.setattr(shard_module, "WINDOW", 20)
    decoded = rep((16, 16), "uint8")
    codec = halved(16, ["bytes"])
    values = np.arange(256, dtype=np.uint8).reshape(16, 16)
    data = b"".join(codec.encode(values, decoded))
    np.testing.assert_array_equal(codec.decode(data, decoded), values)
    assert codec._shard(decoded).flat is None
