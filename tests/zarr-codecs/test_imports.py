"""Listing or configuring codecs imports no compression library."""

import subprocess
import sys

PROGRAM = """
import sys
from zarr_codecs import blosc, bz2, checksums, crc32c, gzip, lz4, lzma, numcodecs_names, shuffle
from zarr_codecs import transpose, zlib, zstd
numcodecs_names.NumcodecsBloscCodec(), numcodecs_names.NumcodecsZstdCodec(), lz4.Lz4Codec()
shuffle.ShuffleCodec(4), checksums.Fletcher32Codec(), checksums.NumcodecsCrc32cCodec()
blosc.BloscCodec("lz4"), crc32c.Crc32cCodec(), gzip.GzipCodec(3), transpose.TransposeCodec([0]), zstd.ZstdCodec(1)
print(*sorted(sys.modules.keys() & {"numcodecs", "deflate", "fastcrc", "isal", "zstandard", "google_crc32c"}))
"""


def test_libraries_are_loaded_when_a_chunk_needs_them():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == ""


def test_missing_numcodecs_is_not_a_damaged_chunk():
    program = """
import sys
sys.modules["numcodecs"] = None
from zarr_codecs.blosc import BloscCodec
from zarr_core.extension import ChunkDecodeError, CodecError
try:
    BloscCodec().encode(b"abc", None)
except CodecError as error:
    assert not isinstance(error, ChunkDecodeError)
    print(error)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "cannot import numcodecs, which the codec requires" in run.stdout
