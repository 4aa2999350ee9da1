"""Encoders of the corpus agree with what others have; clauses of the registry have cases."""

import struct

import numpy as np
import pytest
from numcodecs.vlen import VLenBytes, VLenUTF8
from numcodecs.zstd import decompress
from zarr_conformance.clauses.clause import specifications
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Reject
from zarr_conformance.corpus.ext_n5_default import block
from zarr_conformance.corpus.ext_packbits import packed
from zarr_conformance.corpus.ext_rectilinear import parts
from zarr_conformance.corpus.ext_vlen import OCTETS, STRINGS, encoded
from zarr_conformance.corpus.ext_zstd import frame, xxh64

# The draft demands something of extensions, and nobody has any: none can be accepted.
WITHOUT_EXAMPLE = {
    "v3-draft.other-encoding-object",
    "v3-draft.other-encoding-uri",
    "v3-draft.grid-extension-object",
    "v3-draft.layout-extension-object",
    "v3-draft.transformer-required",
}
TEXTS = ["v3-draft", "ext-codecs", "ext-data-types", "ext-grids", "ext-key-encodings"]


@pytest.mark.parametrize("text", TEXTS)
def test_clauses_have_cases(text):
    shown = {True: set(), False: set()}
    for case in all_cases():
        shown[isinstance(case.expect, Reject)].update(case.clauses)
    judged = [clause for clause in specifications()[text].clauses if clause.judged]
    assert {it.id for it in judged} - shown[False] == {
        it for it in WITHOUT_EXAMPLE if it.startswith(text)
    }
    assert {it.id for it in judged if it.negative} - shown[True] == set()


def test_checksum_of_frames():
    # Vectors of the reference implementation of xxHash.
    assert xxh64(b"") == 0xEF46DB3751D8E999
    assert xxh64(b"abc") == 0x44BC2CF5AD770999


@pytest.mark.parametrize("length", [1, 31, 32, 100])
@pytest.mark.parametrize("checksum", [False, True])
def test_frames_are_those_of_zstandard(length, checksum):
    data = bytes(range(length))
    assert decompress(frame(data, checksum=checksum)) == data
    assert decompress(frame(data, checksum=checksum, blocks=(length // 2,))) == data


def test_frames_of_one_byte():
    assert decompress(frame(b"x", size=1000, repeated=1000)) == b"x" * 1000


def test_elements_of_any_length_are_those_of_numcodecs():
    ours = encoded([it.encode() for it in STRINGS])
    assert ours == VLenUTF8().encode(np.array(STRINGS, object))
    assert encoded(OCTETS) == VLenBytes().encode(np.array(OCTETS, object))


def test_packed_bits():
    truths = [1, 0, 1, 1, 0, 0, 0, 1, 1]
    assert packed(truths, 1) == np.packbits(truths, bitorder="little").tobytes()
    assert packed(truths, 1, "first_byte")[0] == packed(truths, 1, "last_byte")[-1] == 7
    assert packed([1, 2, 3], 16) == struct.pack("<3H", 1, 2, 3)


def test_blocks_have_the_first_dimension_fastest():
    values = np.array([[1, 2, 3], [4, 5, 6]], "i2")
    assert block(values) == struct.pack(">HHII6h", 0, 2, 2, 3, 1, 4, 2, 5, 3, 6)


def test_chunks_of_differing_lengths():
    chunks = parts(np.arange(5), [[1, 2, 4]], fill=-1)
    assert [it.tolist() for it in chunks.values()] == [[0], [1, 2], [3, 4, -1, -1]]
