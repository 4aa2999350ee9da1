"""Encoding of shards, and bytes of the old shard that are kept."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.config import config
from zarr_core.engine.chain import PreparedCodecChain
from zarr_core.errors import ChecksumError, ChunkDecodeError
from zarr_core.extension import (
    BasicIndexer,
    BufferByteReader,
    BytesToBytesCodec,
    CoordinateIndexer,
    OrthogonalIndexer,
)
from zarr_core.registry.overrides import override_extensions
from zarr_sharding import writer as writing
from zarr_sharding.codec import ShardingCodec

EMPTY = 2**64 - 1


def box(*index):
    return BasicIndexer(
        tuple(slice(*part) if len(part) == 3 else slice(*part, 1) for part in index)
    )


def joined(pieces):
    return None if pieces is None else b"".join(pieces)


def peak_of(work):
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def pieces_of(entries, data):
    """Return the stored inner chunks by linear index."""
    return {
        number: data[offset : offset + nbytes]
        for number, (offset, nbytes) in enumerate(entries.tolist())
        if offset != EMPTY
    }


@pytest.fixture(params=["start", "end"])
def small(request, rep):
    decoded = rep((4, 6), "int16")
    codec = ShardingCodec((2, 2), ["bytes", "crc32c"], index_location=request.param)
    codec = codec.complete(decoded)
    values = np.arange(1, 25, dtype=np.int16).reshape(4, 6)
    return codec, decoded, values


def test_empty_inner_chunks_are_stored_with_write_empty_chunks(small, rep, index_of):
    codec, _, values = small
    decoded = rep((4, 6), "int16", write_empty_chunks=True)
    data = joined(codec.encode(np.zeros_like(values), decoded))
    assert len(pieces_of(index_of(codec, decoded, data), data)) == 6


def test_nothing_is_joined_into_one_buffer(small):
    codec, decoded, values = small
    assert len(codec.encode(values, decoded)) == 7


# --- changing a part ---


def test_untouched_inner_chunks_keep_their_bytes_even_if_damaged(small, index_of):
    codec, decoded, values = small
    data = bytearray(joined(codec.encode(values, decoded)))
    entries = index_of(codec, decoded, bytes(data))
    data[entries[5, 0]] ^= 1  # breaks the checksum of the last inner chunk
    data = bytes(data)
    before = pieces_of(entries, data)
    changed = joined(
        codec.partial_encode(BufferByteReader(data), decoded, box((1, 2), (1, 3)), values[:1, :2])
    )
    after = pieces_of(index_of(codec, decoded, changed), changed)
    assert {number for number in before if before[number] != after[number]} == {0, 1}
    assert len(changed) == len(data)  # what was replaced is gone
    with pytest.raises(ChecksumError, match=r"inner chunk \(1, 2\)"):
        codec.decode(changed, decoded)


def test_damaged_inner_chunk_can_be_replaced_but_not_changed(small, index_of):
    codec, decoded, values = small
    data = bytearray(joined(codec.encode(values, decoded)))
    data[index_of(codec, decoded, bytes(data))[5, 0]] ^= 1
    reader = BufferByteReader(bytes(data))
    with pytest.raises(ChecksumError, match=r"inner chunk \(1, 2\)"):
        codec.partial_encode(reader, decoded, box((3, 4), (5, 6)), values[3:, 5:])
    repaired = joined(codec.partial_encode(reader, decoded, box((2, 4), (4, 6)), values[2:, 4:]))
    np.testing.assert_array_equal(codec.decode(repaired, decoded), values)


def test_entry_out_of_the_shard_cannot_be_kept(small, index_of, reindexed):
    codec, decoded, values = small
    data = joined(codec.encode(values, decoded))
    entries = index_of(codec, decoded, data)
    entries[5] = (10**9, 12)
    reader = BufferByteReader(reindexed(codec, decoded, data, entries))
    with pytest.raises(ChunkDecodeError, match=r"inner chunk \(1, 2\)"):
        codec.partial_encode(reader, decoded, box((0, 1), (0, 1)), values[:1, :1])
    repaired = joined(codec.partial_encode(reader, decoded, box((2, 4), (4, 6)), values[2:, 4:]))
    np.testing.assert_array_equal(codec.decode(repaired, decoded), values)


@pytest.mark.parametrize("length", [0, 50])
def test_shard_without_an_index_cannot_be_changed(small, length):
    codec, decoded, values = small
    with pytest.raises(ChunkDecodeError, match="but its index requires"):
        codec.partial_encode(
            BufferByteReader(bytes(length)), decoded, box((0, 1), (0, 1)), values[:1, :1]
        )


def test_unused_bytes_do_not_survive_a_change(small, index_of, reindexed):
    codec, decoded, values = small
    data = joined(codec.encode(values, decoded))
    size = codec._shard(decoded).index.size
    entries = index_of(codec, decoded, data)
    if codec.index_location == "start":
        spaced = bytes(size) + bytes(500) + data[size:]
        entries[:, 0] += 500
    else:
        spaced = data[:-size] + bytes(500) + bytes(size)
    spaced = reindexed(codec, decoded, spaced, entries)
    changed = codec.partial_encode(
        BufferByteReader(spaced), decoded, box((0, 1), (0, 1)), values[:1, :1]
    )
    assert len(joined(changed)) == len(data)


def test_overlapping_entries_do_not_multiply_memory(rep, index_of, reindexed):
    decoded = rep((64, 4), "uint8")
    codec = ShardingCodec((1, 4))
    values = np.arange(256, dtype=np.uint8).reshape(64, 4)
    data = joined(codec.encode(values, decoded))
    entries = index_of(codec, decoded, data)
    entries[1:] = (0, 256)  # every inner chunk claims everything
    data = reindexed(codec, decoded, data, entries)
    changed = joined(
        codec.partial_encode(BufferByteReader(data), decoded, box((0, 1), (0, 4)), values[9:10])
    )
    assert len(changed) == len(data) + 4
    kept = pieces_of(index_of(codec, decoded, changed), changed)
    assert kept[5] == bytes(range(256))


def test_untouched_inner_chunks_are_read_once_and_not_decoded(rep, counting):
    decoded = rep((8, 4096), "int32")
    codec = ShardingCodec((1, 4096)).complete(decoded)
    values = np.arange(1, decoded.size + 1, dtype=np.int32).reshape(decoded.shape)
    data = joined(codec.encode(values, decoded))
    reader = counting(data)
    codec.partial_encode(reader, decoded, box((2, 3), (0, 4096)), values[:1])
    chunk = 4096 * 4
    assert sorted(reader.reads) == sorted(
        [[(8 * chunk, 8 * 16 + 4)], [(0, 2 * chunk), (3 * chunk, 5 * chunk)]]
    )


def test_nested_shard_keeps_unselected_inner_chunks(rep, index_of):
    decoded = rep((16, 16), "uint8")
    inner = ShardingCodec((2, 2), ["bytes", "crc32c"])
    codec = ShardingCodec((8, 8), [inner])
    values = np.arange(1, 257, dtype=np.uint16).reshape(16, 16).astype(np.uint8)
    data = bytearray(joined(codec.encode(values, decoded)))
    offset = int(index_of(codec, decoded, bytes(data))[0, 0])
    data[offset + 3 * 8] ^= 1  # damages the inner chunk (0, 3) of the inner shard (0, 0)
    reader = BufferByteReader(bytes(data))
    changed = joined(codec.partial_encode(reader, decoded, box((5, 6), (5, 6)), values[:1, :1]))
    values[5, 5] = values[0, 0]
    out = np.zeros((16, 8), np.uint8)
    codec.partial_decode(BufferByteReader(changed), decoded, box((0, 16), (8, 16)), out)
    np.testing.assert_array_equal(out, values[:, 8:])
    out = np.zeros((6, 8), np.uint8)
    codec.partial_decode(BufferByteReader(changed), decoded, box((2, 8), (0, 8)), out)
    np.testing.assert_array_equal(out, values[2:8, :8])
    with pytest.raises(ChecksumError, match=r"inner chunk \(0, 0\): inner chunk \(0, 3\)"):
        codec.decode(changed, decoded)


# --- reused memory must not be part of the stored value ---


@dataclass(frozen=True, slots=True)
class Same(BytesToBytesCodec):
    """Gives back the very memory that it gets, and does not say its size."""

    def encode(self, data, decoded_size):
        return memoryview(data)

    def decode(self, data, decoded_size):
        return data


@pytest.mark.parametrize("threads", [1, 2])
def test_codecs_may_return_views_of_what_they_get(rep, counting, threads):
    decoded = rep((64, 1024), "int32")
    values = np.arange(1, decoded.size + 1, dtype=np.int32).reshape(decoded.shape)
    with override_extensions({"codec": {"test.same": Same}}), config.set(threads=threads):
        for inner in (["bytes", "test.same"], [ShardingCodec((4, 16), ["bytes", "test.same"])]):
            codec = ShardingCodec((16, 256), inner).complete(decoded)
            data = joined(codec.encode(values, decoded))
            np.testing.assert_array_equal(codec.decode(data, decoded), values)
            part = box((3, 50), (7, 1000))
            new = values[part.index][::-1]
            changed = joined(codec.partial_encode(counting(data), decoded, part, new))
            expected = values.copy()
            expected[part.index] = new
            np.testing.assert_array_equal(codec.decode(changed, decoded), expected)


# --- any sequence of changes gives what NumPy gives ---

CHAINS = [
    ["bytes"],
    [{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"],
    [{"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes", "zstd"],
    [
        {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": [1, 2],
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "index_location": "start",
            },
        }
    ],
    [
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": [1, 1],
                "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
                "index_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"],
            },
        },
    ],
]


def random_selection(random, shape):
    kind = random.integers(3)
    if kind == 0:
        index = []
        for length in shape:
            start, stop = sorted(random.integers(0, length + 1, 2).tolist())
            index.append(slice(start, stop, int(random.integers(1, 4))))
        return BasicIndexer(tuple(index)), tuple(index)
    if kind == 1:
        rows = random.permutation(shape[0])[: random.integers(1, shape[0])]
        columns = slice(1, shape[1], int(random.integers(1, 4)))
        return OrthogonalIndexer((rows, columns)), (rows, columns)
    places = random.permutation(shape[0] * shape[1])[: random.integers(1, 9)]
    index = np.unravel_index(places, shape)
    return CoordinateIndexer(index), index


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from(CHAINS),
    st.sampled_from(["start", "end"]),
    st.sampled_from(["uint8", "int16", "float64", "complex64", "bool"]),
    st.booleans(),
)
def test_changes_agree_with_numpy(rep, counting, seed, chain, location, dtype, write_empty_chunks):
    random = np.random.default_rng(seed)
    shape = (6, 8)
    decoded = rep(shape, dtype, 0, write_empty_chunks)
    chunks = (3, 4) if seed % 2 else (2, 8)
    codec = ShardingCodec(chunks, chain, index_location=location).complete(decoded)
    model = np.zeros(shape, dtype)
    data = None
    for _ in range(6):
        selection, index = random_selection(random, shape)
        value = random.integers(0, 2, selection.shape).astype(dtype)
        if not value.size:
            continue
        source = BufferByteReader if random.integers(2) else counting
        reader = None if data is None else source(data)
        data = joined(codec.partial_encode(reader, decoded, selection, value))
        model[index] = value
        if data is None:
            assert not model.any()
        else:
            np.testing.assert_array_equal(codec.decode(data, decoded), model)
            whole = joined(codec.encode(model, decoded))
            if write_empty_chunks:
                assert len(data) <= len(whole)
            else:
                assert len(data) == len(whole)  # compact, and nothing empty is kept


def test_memory_stays_below_twice_a_shard(rep, counting):
    decoded = rep((128, 256, 256), "uint8")
    codec = ShardingCodec((32, 32, 32), ["bytes", "zstd"]).complete(decoded)
    values = np.random.default_rng(0).integers(1, 255, decoded.shape, np.uint8)
    data = joined(codec.encode(values, decoded))
    reader = counting(data)
    part = box((0, 128), (1, 255), (0, 256))
    out = np.empty(decoded.shape, np.uint8)

    reading, _ = peak_of(lambda: codec.partial_decode(reader, decoded, part, out[:, 1:255]))
    assert reading < 6 << 20  # a MiB or so for each thread
    writing, _ = peak_of(lambda: codec.encode(values, decoded))
    assert writing < 1.25 * values.nbytes
    changing, _ = peak_of(lambda: codec.partial_encode(reader, decoded, part, values[:, 1:255]))
    assert changing < 1.5 * values.nbytes


def test_a_shard_far_larger_than_its_array_takes_the_memory_of_the_array():
    count = 1 << 20
    array = zarr.create_array(
        shape=3 * count - 5, chunks=count, shards=count * count, dtype="u1", compressors=[]
    )
    values = np.arange(3 * count - 5).astype("u1")
    array[:] = values  # with all chunks of the shard it would be a TiB
    array[5:9] = values[5:9] = 1
    assert np.array_equal(array[:], values)
    assert array.nbytes_stored() == 3 * count + 16 * count + 4


# --- many inner chunks ---


@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize(
    ("dtype", "fill"),
    [("uint8", 0), ("int16", 3), ("float32", -0.0), ("float64", np.nan), ("complex64", 1j)],
)
def test_inner_chunks_without_compression_are_encoded_as_one_by_one(
    rep, monkeypatch, dtype, fill, location, endian
):
    monkeypatch.setattr(writing, "WINDOW", 7)
    decoded = rep((6, 4, 10), dtype, fill)
    bytes_codec = {"name": "bytes", "configuration": {"endian": endian}}
    codec = ShardingCodec((2, 1, 5), [bytes_codec], index_location=location)
    values = np.full(decoded.shape, fill, dtype)
    assert codec.encode(values, decoded) is None
    values[2:, 1:3, 3:7] = np.arange(32).reshape(4, 2, 4)
    values[0, 0, 0] = np.negative(values[0, 0, 0])
    # The same elements as points in any order are encoded one inner chunk at a time.
    points = CoordinateIndexer(np.unravel_index(np.arange(values.size), values.shape))
    one_by_one = codec.partial_encode(None, decoded, points, values.reshape(-1))
    for array in (values, np.asfortranarray(values)):
        assert joined(codec.encode(array, decoded)) == joined(one_by_one)


@pytest.mark.parametrize("codecs", [["bytes"], ["bytes", "crc32c"]])
def test_memory_for_many_inner_chunks(rep, counting, codecs):
    count = 1 << 15
    decoded = rep((count // 256 * 2, 512), "uint8")
    codec = ShardingCodec((2, 2), codecs)
    values = np.full(decoded.shape, 7, np.uint8)
    writing, data = peak_of(lambda: joined(codec.encode(values, decoded)))
    assert writing < 2 * len(data) + 100 * count  # joined makes a copy
    reader = counting(data)
    changing, _ = peak_of(
        lambda: codec.partial_encode(reader, decoded, box((5, 6), (5, 6)), values[:1, :1])
    )
    assert changing < len(data) + 100 * count


def test_many_inner_chunks_without_compression_take_few_calls(rep, monkeypatch):
    calls = []
    encode = PreparedCodecChain.encode
    monkeypatch.setattr(
        PreparedCodecChain,
        "encode",
        lambda self, *args: calls.append(self) or encode(self, *args),
    )
    decoded = rep((256, 256), "uint8")
    codec = ShardingCodec((1, 2))
    buffers = codec.encode(np.ones(decoded.shape, np.uint8), decoded)
    assert len(calls) == 1  # the index
    assert len(buffers) < 8


def test_entries_in_any_order_are_kept(rep, index_of, reindexed):
    decoded = rep((64,), "uint8")
    codec = ShardingCodec((4,))
    values = np.arange(1, 65, dtype=np.uint8)
    data = joined(codec.encode(values, decoded))
    order = np.random.default_rng(0).permutation(16)
    entries = index_of(codec, decoded, data)[order]
    data = reindexed(codec, decoded, data, entries)
    values = values.reshape(16, 4)[order].reshape(-1)
    changed = codec.partial_encode(BufferByteReader(data), decoded, box((9, 11)), values[:2])
    values[9:11] = values[:2]
    np.testing.assert_array_equal(codec.decode(joined(changed), decoded), values)


# --- inner chunks that the store copies ---


@pytest.mark.parametrize("location", ["start", "end"])
def test_part_of_a_large_shard_in_a_local_store_takes_little_memory(tmp_path, location):
    chunk, count = 1 << 20, 256
    index_codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    codec = ShardingCodec((chunk,), ["bytes"], index_codecs, index_location=location)
    array = zarr.create_array(
        tmp_path, shape=chunk * count, chunks=chunk * count, dtype="u1", serializer=codec,
        compressors=[], fill_value=9,
    )  # fmt: skip
    first = 16 * count if location == "start" else 0
    offsets = np.arange(count, dtype="<u8") * chunk + first
    index = np.stack([offsets, np.full(count, chunk, "<u8")], 1)
    path = tmp_path / "c" / "0"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate((16 + chunk) * count)  # zeros that take no space
        file.seek(0 if location == "start" else chunk * count)
        file.write(index.tobytes())

    def write():
        array[chunk * 100 + 5 : chunk * 101 + 5] = 7

    peak, _ = peak_of(write)
    assert peak < 6 * chunk
    assert path.stat().st_size == (16 + chunk) * count  # what was replaced is gone
    assert [*path.parent.iterdir()] == [path]
    for start, expected in ((100 * chunk, [0] * 5 + [7] * 5), (101 * chunk, [7] * 5 + [0] * 5)):
        assert array[start : start + 10].tolist() == expected
    assert array[:5].tolist() == array[-5:].tolist() == [0] * 5


def test_parts_of_shards_in_a_local_store_agree_with_numpy(tmp_path):
    random = np.random.default_rng(1)
    values = random.integers(1, 255, (512, 1024), np.uint8)
    array = zarr.create_array(
        tmp_path, data=values, chunks=(64, 128), shards=(256, 1024), compressors="crc32c"
    )
    for _ in range(8):
        (top, bottom), (left, right) = (np.sort(random.integers(0, n, 2)) for n in values.shape)
        value = random.integers(0, 2, (bottom - top, right - left), np.uint8)
        array[top:bottom, left:right] = values[top:bottom, left:right] = value
        assert np.array_equal(array[:], values)
