"""The module ``zarr.codecs.numcodecs``: codecs under the class names of numcodecs."""

from __future__ import annotations

from functools import partial

from zarr_compat.codecs import Codec

__all__ = [
    "BZ2",
    "CRC32",
    "CRC32C",
    "LZ4",
    "LZMA",
    "ZFPY",
    "Adler32",
    "AsType",
    "BitRound",
    "Blosc",
    "Delta",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "JenkinsLookup3",
    "PCodec",
    "PackBits",
    "Quantize",
    "Shuffle",
    "Zlib",
    "Zstd",
]

BZ2 = partial(Codec, "numcodecs.bz2")
CRC32 = partial(Codec, "numcodecs.crc32")
CRC32C = partial(Codec, "numcodecs.crc32c")
LZ4 = partial(Codec, "numcodecs.lz4")
LZMA = partial(Codec, "numcodecs.lzma")
ZFPY = partial(Codec, "numcodecs.zfpy")
Adler32 = partial(Codec, "numcodecs.adler32")
AsType = partial(Codec, "numcodecs.astype")
BitRound = partial(Codec, "numcodecs.bitround")
Blosc = partial(Codec, "numcodecs.blosc")
Delta = partial(Codec, "numcodecs.delta")
FixedScaleOffset = partial(Codec, "numcodecs.fixedscaleoffset")
Fletcher32 = partial(Codec, "numcodecs.fletcher32")
GZip = partial(Codec, "numcodecs.gzip")
JenkinsLookup3 = partial(Codec, "numcodecs.jenkins_lookup3")
PCodec = partial(Codec, "numcodecs.pcodec")
PackBits = partial(Codec, "numcodecs.packbits")
Quantize = partial(Codec, "numcodecs.quantize")
Shuffle = partial(Codec, "numcodecs.shuffle")
Zlib = partial(Codec, "numcodecs.zlib")
Zstd = partial(Codec, "numcodecs.zstd")
