"""Stored chunks that contradict the metadata."""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from functools import partial

import numpy as np
import pytest
import zarr_core as zarr
from reliability_data import codec, document, everything, regular, run, stored
from zarr_core.errors import ChecksumError, ChunkDecodeError, StoreReadError, ZarrError

SIZE = 4096
VALUES = np.random.default_rng(3).integers(0, 256, SIZE, dtype="u1").tobytes()
ZEROS = bytes(SIZE)
BLOSC = codec("blosc", cname="lz4", clevel=5, shuffle="noshuffle", typesize=1, blocksize=0)
CODECS = {
    "raw": ["bytes"],
    "gzip": ["bytes", codec("gzip", level=5)],
    "zstd": ["bytes", codec("zstd", level=1)],
    "zstd checksum": ["bytes", codec("zstd", level=1, checksum=True)],
    "blosc": ["bytes", BLOSC],
    "crc32c": ["bytes", "crc32c"],
    "gzip crc32c": ["bytes", codec("gzip", level=5), "crc32c"],
}
BOMB_BYTES = 256 << 20
MAGIC = b"\x28\xb5\x2f\xfd"


def metadata(codecs: str, **changes):
    return document(shape=[3 * SIZE], chunk_grid=regular(SIZE), codecs=CODECS[codecs], **changes)


def encoded(codecs: str, values: bytes = VALUES) -> bytes:
    """The stored bytes of a chunk."""
    array = zarr.create_array(
        None,
        shape=(SIZE,),
        chunks=(SIZE,),
        dtype="u1",
        fill_value=255,
        filters=(),
        serializer="bytes",
        compressors=CODECS[codecs][1:],
    )
    array[...] = np.frombuffer(values, "u1")
    return bytes(array.store.get("c/0"))


def repeated(size: int) -> bytes:
    """A Zstandard frame of blocks that repeat a byte, with a content size."""
    block = (1 << 17) << 3 | 1 << 1
    count = size >> 17
    blocks = [block.to_bytes(3, "little") + b"\0"] * (count - 1)
    blocks.append((block | 1).to_bytes(3, "little") + b"\0")
    # Single segment, content size in 8 bytes: the window is the whole content.
    return MAGIC + bytes([0b1110_0000]) + struct.pack("<Q", size) + b"".join(blocks)


def undeclared(size: int) -> bytes:
    """The same, without a content size."""
    body = repeated(size)[13:]
    return MAGIC + bytes([0, 0x50]) + body


def gzip_bomb() -> bytes:
    compressor = zlib.compressobj(9, wbits=31)
    piece = bytes(1 << 20)
    return b"".join(
        [*(compressor.compress(piece) for _ in range(BOMB_BYTES >> 20)), compressor.flush()]
    )


def blosc_with(position: int, number: int) -> bytes:
    frame = bytearray(encoded("blosc", ZEROS))
    struct.pack_into("<I", frame, position, number)
    return bytes(frame)


def flipped(data: bytes, position: int) -> bytes:
    damaged = bytearray(data)
    damaged[position] ^= 0x10
    return bytes(damaged)


def cases():
    """Name, codecs, stored bytes or a function that returns them, class of the error."""
    yield "c01 short raw", "raw", VALUES[:-1], ChunkDecodeError
    yield "c02 long raw", "raw", VALUES + b"x", ChunkDecodeError
    yield "c03 gzip bomb", "gzip", gzip_bomb, ChunkDecodeError
    claims = bytearray(repeated(1 << 18))
    struct.pack_into("<Q", claims, 5, 1 << 40)
    yield "c04 zstd claims 1 TiB", "zstd", bytes(claims), ChunkDecodeError
    yield "c04b zstd bomb", "zstd", partial(repeated, BOMB_BYTES), ChunkDecodeError
    yield (
        "c04c zstd bomb, size not declared",
        "zstd",
        partial(undeclared, BOMB_BYTES),
        ChunkDecodeError,
    )
    yield "c05 blosc nbytes", "blosc", blosc_with(4, 1 << 30), ChunkDecodeError
    yield "c05a blosc nbytes 1 less", "blosc", blosc_with(4, SIZE - 1), ChunkDecodeError
    yield "c05b blosc cbytes", "blosc", blosc_with(12, 1 << 30), ChunkDecodeError
    for length in (5, 15, 16, 17, 40, SIZE // 2, SIZE + 15):
        yield f"c05c blosc cut to {length}", "blosc", encoded("blosc")[:length], ChunkDecodeError
    yield "c05e blosc block size 0", "blosc", blosc_with(8, 0), ChunkDecodeError
    yield "c05f blosc block size 2^32-1", "blosc", blosc_with(8, 0xFFFFFFFF), ChunkDecodeError
    yield "c05g blosc offset of block", "blosc", blosc_with(16, 0x7FFFFFF0), ChunkDecodeError
    yield "c06 crc32c flip", "crc32c", flipped(encoded("crc32c"), 100), ChecksumError
    yield "c06a crc32c flip in checksum", "crc32c", flipped(encoded("crc32c"), -1), ChecksumError
    yield "c06b crc32c 3 bytes", "crc32c", b"abc", ChunkDecodeError
    yield "c06c crc32c after gzip", "gzip crc32c", flipped(encoded("gzip crc32c"), 9), ChecksumError
    yield "c07 cut gzip", "gzip", encoded("gzip")[:-9], ChunkDecodeError
    yield "c07a gzip header only", "gzip", encoded("gzip")[:10], ChunkDecodeError
    yield "c07b gzip + trailing", "gzip", encoded("gzip") + b"trailing", ChunkDecodeError
    yield "c07d gzip flip", "gzip", flipped(encoded("gzip"), -6), ChecksumError
    yield "c07e gzip too much", "gzip", gzip.compress(VALUES + b"x"), ChunkDecodeError
    yield "c07f gzip too little", "gzip", gzip.compress(VALUES[:-1]), ChunkDecodeError
    yield (
        "c11 zstd checksum flip",
        "zstd checksum",
        flipped(encoded("zstd checksum"), -1),
        (ChecksumError),
    )
    yield "zstd cut", "zstd", encoded("zstd")[:-3], ChunkDecodeError
    yield "zstd + trailing", "zstd", encoded("zstd") + b"trailing", ChunkDecodeError
    for codecs in CODECS:
        yield f"c10 0 bytes, {codecs}", codecs, b"", ChunkDecodeError
        yield f"c10a 1 byte, {codecs}", codecs, b"\x28", ChunkDecodeError
        # Only after gzip, the position of a checksum is not fixed.
        text = ChecksumError if codecs == "gzip crc32c" else ChunkDecodeError
        yield f"text, {codecs}", codecs, b"<html>403 Forbidden</html>" * 9, text


CASES = {name: rest for name, *rest in cases()}


@pytest.mark.parametrize("case", CASES)
def test_damaged_chunk_is_reported_and_others_are_read(tmp_path, case):
    codecs, bad, error = CASES[case]
    bad = bad() if callable(bad) else bad
    good = encoded(codecs)
    array = stored(tmp_path, metadata(codecs), {"c/0": good, "c/1": bad, "c/2": good})
    values = np.frombuffer(VALUES, "u1")
    before = everything(tmp_path)
    reads = {
        "whole chunk": slice(SIZE, 2 * SIZE),
        "one cell": SIZE + 5,
        "part": slice(SIZE + 5, SIZE + 50),
        "all": ...,
        "steps": slice(None, None, 100),
        "backwards": slice(2 * SIZE - 1, SIZE, -3),
        "cells": [1, SIZE + 1, 2 * SIZE + 1],
    }
    for selection in reads.values():
        with pytest.raises(error) as caught:
            array[selection]
        assert type(caught.value) is error
        assert f"{tmp_path} 'c/1'" in str(caught.value)
    with pytest.raises(error, match="c/1"):
        array[SIZE + 3] = 1  # the remaining elements cannot be kept
    assert everything(tmp_path) == before
    assert (array[:SIZE] == values).all()
    assert (array[2 * SIZE :] == values).all()
    array[SIZE : 2 * SIZE] = values  # as in the message
    assert (array[SIZE : 2 * SIZE] == values).all()


def test_two_gzip_members_are_one_chunk(tmp_path):
    data = gzip.compress(VALUES[:1000]) + gzip.compress(VALUES[1000:])
    array = stored(tmp_path, metadata("gzip"), {"c/1": data})
    assert array[SIZE : 2 * SIZE].tobytes() == VALUES


@pytest.mark.parametrize("octet", [2, 255])
@pytest.mark.parametrize("codecs", ["raw", "gzip", "crc32c"])
def test_a_byte_that_is_not_a_bool(tmp_path, codecs, octet):
    values = bytes([1, 0]) * (SIZE // 2)
    bad = values[:-1] + bytes([octet])
    array = stored(
        tmp_path,
        metadata(codecs, data_type="bool", fill_value=False),
        {"c/0": encoded(codecs, values), "c/1": encoded(codecs, bad)},
    )
    assert array[:SIZE].sum() == SIZE // 2
    with pytest.raises(ChunkDecodeError, match=f"c/1.*byte {octet} is not a bool"):
        array[SIZE : 2 * SIZE]
    with pytest.raises(ChunkDecodeError, match="c/1"):
        array[...]
    if codecs == "gzip":
        with pytest.raises(ChunkDecodeError, match="c/1"):
            array[2 * SIZE - 1]


def test_a_directory_in_the_place_of_a_chunk_is_not_missing(tmp_path):
    array = stored(tmp_path, metadata("raw"), {"c/1/inside": b""})
    for selection in (slice(SIZE, 2 * SIZE), SIZE, ...):
        with pytest.raises(StoreReadError, match="c/1"):
            array[selection]
    with pytest.raises(ZarrError, match="c/1"):
        array[SIZE : 2 * SIZE] = 1
    with pytest.raises(ZarrError, match="c/1"):
        array[SIZE] = 1
    assert array[0] == 7


def test_a_link_out_of_the_store_is_not_followed(tmp_path):
    (tmp_path / "secret").write_bytes(VALUES)
    root = tmp_path / "a"
    array = stored(root, metadata("raw"), {"c/0": VALUES})
    (root / "c/1").symlink_to(tmp_path / "secret")
    (root / "c/2").symlink_to(root / "c/0")
    for selection in (slice(SIZE, 2 * SIZE), SIZE):
        with pytest.raises(StoreReadError, match="c/1"):
            array[selection]
    assert array[2 * SIZE :].tobytes() == VALUES
    array[SIZE : 2 * SIZE] = 1  # replaces the link, not its target
    assert (tmp_path / "secret").read_bytes() == VALUES
    assert array[SIZE] == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_in_the_place_of_a_chunk_does_not_hang(tmp_path):
    array = stored(tmp_path, metadata("raw"), {"c/0": VALUES})
    os.mkfifo(tmp_path / "c/1")
    for selection in (slice(SIZE, 2 * SIZE), SIZE):
        with pytest.raises(StoreReadError, match="c/1"):
            array[selection]


def test_a_key_with_a_file_above_it_is_missing(tmp_path):
    array = stored(tmp_path, metadata("raw"), {"c": b"a file where a directory should be"})
    assert array[SIZE] == 7
    with pytest.raises(ZarrError, match="c/1"):
        array[SIZE] = 1


def test_big_endian_shorts_of_an_odd_number_of_bytes(tmp_path):
    array = stored(
        tmp_path,
        document(
            shape=[8],
            chunk_grid=regular(4),
            data_type="int16",
            codecs=[codec("bytes", endian="big"), codec("gzip", level=1)],
        ),
        {"c/0": gzip.compress(b"\1" * 7), "c/1": gzip.compress(b"\0\1" * 4)},
    )
    with pytest.raises(ChunkDecodeError, match="c/0"):
        array[0]
    assert array[4:].tolist() == [1] * 4


PEAK = """
import resource, sys
from pathlib import Path
import zarr_core as zarr
from reliability_data import put, stored
from test_bad_chunks import CASES, SIZE, metadata
root = Path(sys.argv[1])
arrays = {}
for number, (name, (codecs, bad, _)) in enumerate(CASES.items()):
    bad = bad() if callable(bad) else bad
    arrays[name] = stored(root / str(number), metadata(codecs), {"c/1": bad})
bad = CASES = None
def use(array):
    for work in (
        lambda: array[SIZE : 2 * SIZE],
        lambda: array[SIZE],
        lambda: array.__setitem__(SIZE, 1),
    ):
        try:
            work()
        except zarr.errors.ChunkDecodeError:
            continue
        raise SystemExit(name)
for name, array in arrays.items():  # import everything, have all the buffers
    if "bomb" not in name and "claims" not in name:
        use(array)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name, array in arrays.items():
    use(array)
    # A bomb of 256 MiB in a chunk of 4 KiB.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if peak > 2048:
        raise SystemExit(f"{name}: {peak} KiB")
"""


def test_bombs_cost_no_memory(tmp_path):
    run(PEAK, tmp_path)
