"""The module ``zarr.codecs.numcodecs``: codecs under the class names of numcodecs."""

from __future__ import annotations

from functools import partial

from zarr_compat.codecs import Codec

_NAMES = (
    "BZ2 CRC32 CRC32C LZ4 LZMA ZFPY Adler32 AsType BitRound Blosc Delta FixedScaleOffset "
    "Fletcher32 GZip PCodec PackBits Quantize Shuffle Zlib Zstd"
)
_CODECS = {name: partial(Codec, f"numcodecs.{name.lower()}") for name in _NAMES.split()}
_CODECS["JenkinsLookup3"] = partial(Codec, "numcodecs.jenkins_lookup3")

globals().update(_CODECS)
__all__ = [*_CODECS]
