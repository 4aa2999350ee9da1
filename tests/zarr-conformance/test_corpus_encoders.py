"""The encoders of the corpus agree with numcodecs and reference vectors."""

import struct

import numpy as np
import pytest
from numcodecs.vlen import VLenBytes, VLenUTF8
from numcodecs.zstd import decompress
from zarr_conformance.corpus.ext_n5_default import block
from zarr_conformance.corpus.ext_packbits import packed
from zarr_conformance.corpus.ext_rectilinear import parts
from zarr_conformance.corpus.ext_vlen import OCTETS, STRINGS, encoded
from zarr_conformance.corpus.ext_zstd import frame, xxh64


def test_xxh64():
    # Test vectors of the reference implementation of xxHash.
    assert xxh64(b"") == 0xEF46DB3751D8E999
    assert xxh64(b"abc") == 0x44BC2CF5AD770999


@pytest.mark.parametrize("length", [1, 31, 32, 100])
@pytest.mark.parametrize("checksum", [False, True])
def test_zstd_frames(length, checksum):
    data = bytes(range(length))
    assert decompress(frame(data, checksum=checksum)) == data
    assert decompress(frame(data, checksum=checksum, blocks=(length // 2,))) == data


def test_zstd_frame_with_an_rle_block():
    assert decompress(frame(b"x", size=1000, repeated=1000)) == b"x" * 1000


def test_vlen_encoding_is_that_of_numcodecs():
    encoded_strings = encoded([it.encode() for it in STRINGS])
    assert encoded_strings == VLenUTF8().encode(np.array(STRINGS, object))
    assert encoded(OCTETS) == VLenBytes().encode(np.array(OCTETS, object))


def test_packbits():
    booleans = [1, 0, 1, 1, 0, 0, 0, 1, 1]
    assert packed(booleans, 1) == np.packbits(booleans, bitorder="little").tobytes()
    assert packed(booleans, 1, "first_byte")[0] == packed(booleans, 1, "last_byte")[-1] == 7
    assert packed([1, 2, 3], 16) == struct.pack("<3H", 1, 2, 3)


def test_n5_blocks_are_column_major():
    values = np.array([[1, 2, 3], [4, 5, 6]], "i2")
    assert block(values) == struct.pack(">HHII6h", 0, 2, 2, 3, 1, 4, 2, 5, 3, 6)


def test_rectilinear_chunks():
    chunks = parts(np.arange(5), [[1, 2, 4]], fill=-1)
    assert [it.tolist() for it in chunks.values()] == [[0], [1, 2], [3, 4, -1, -1]]
