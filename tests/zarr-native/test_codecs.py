"""Native forms of codecs: the same bytes as the Python codecs, and nothing behind the end."""

import numpy as np
import pytest
from zarr_codecs.blosc import BloscCodec
from zarr_codecs.crc32c import Crc32cCodec
from zarr_codecs.gzip import GzipCodec
from zarr_codecs.lz4 import Lz4Codec
from zarr_codecs.shuffle import ShuffleCodec
from zarr_codecs.zlib import ZlibCodec
from zarr_codecs.zstd import ZstdCodec
from zarr_core.errors import CodecError
from zarr_native import _native, libraries
from zarr_native.codecs import FORMS, native_form

CODECS = [
    *(BloscCodec(cname, 5, shuffle, 4, 0) for cname in ("lz4", "zstd", "blosclz", "zlib") for shuffle in ("noshuffle", "shuffle", "bitshuffle")),
    BloscCodec("lz4hc", 9, "shuffle", 8, 256),
    Crc32cCodec(),
    GzipCodec(0), GzipCodec(5), GzipCodec(9),
    Lz4Codec(1), Lz4Codec(20),
    ShuffleCodec(0), ShuffleCodec(4), ShuffleCodec(16),
    ZlibCodec(-1), ZlibCodec(1), ZlibCodec(9),
    ZstdCodec(0, True), ZstdCodec(-5, False), ZstdCodec(19, True),
]  # fmt: skip
NUMBERS = np.random.default_rng(0).integers(0, 9, 4096, "int32")
CONTENTS = {
    "numbers": NUMBERS.tobytes(),
    "short": bytes(range(64)),
    "noise": np.random.default_rng(1).bytes(1024),
    "zeros": bytes(100_000),
    # Two versions of zstd encode this differently.
    "walk": np.random.default_rng(2).normal(size=1 << 18).cumsum().astype("float32").tobytes(),
}
each_codec = pytest.mark.parametrize("codec", CODECS, ids=str)


def capsule_of(codec):
    capsule, reason = native_form(codec, None)
    assert capsule is not None, reason
    return capsule


def test_every_form_is_tested():
    tested = {f"{type(it).__module__}.{type(it).__qualname__}" for it in CODECS}
    assert tested == FORMS.keys()


@each_codec
@pytest.mark.parametrize("content", CONTENTS)
def test_python_and_native_code_read_each_other(codec, content):
    data, capsule = CONTENTS[content], capsule_of(codec)
    encoded = bytes(codec.encode(data, len(data)))
    assert _native.decode(capsule, encoded, len(data)) == data
    by_native = _native.encode(capsule, data)
    assert bytes(codec.decode(by_native, len(data))) == data
    # A linked library can have another version than that of Python.
    origins = libraries.origins()
    others = {"zstd": ZstdCodec, "deflate": GzipCodec}
    if not any(origins[name] == "linked" and isinstance(codec, it) for name, it in others.items()):
        assert by_native == encoded


@each_codec
def test_too_little_room_and_cut_frames_are_left_to_python(codec):
    data, capsule = CONTENTS["numbers"], capsule_of(codec)
    encoded = bytes(codec.encode(data, len(data)))
    assert _native.decode(capsule, encoded, len(data) - 1) is None
    assert _native.decode(capsule, encoded + encoded, len(data)) is None
    for length in (0, 1, 3, 4, 8, 15, 16, len(encoded) // 2, len(encoded) - 1):
        if isinstance(codec, ShuffleCodec):
            assert len(_native.decode(capsule, encoded[:length], len(data)) or b"") <= length
        else:
            assert _native.decode(capsule, encoded[:length], len(data)) is None


@each_codec
def test_damage_is_never_decoded_differently(codec):
    """What native code decodes, Python decodes to the same; what Python refuses is left to it."""
    rng = np.random.default_rng(2)
    data, capsule = CONTENTS["short"] * 8, capsule_of(codec)
    original = bytes(codec.encode(data, len(data)))
    for _ in range(300):
        encoded = bytearray(original)
        for at in rng.integers(0, min(len(encoded), 40), rng.integers(1, 4)):
            encoded[at] = rng.integers(0, 256)
        found = _native.decode(capsule, bytes(encoded), len(data))
        try:
            expected = bytes(codec.decode(bytes(encoded), len(data)))
        except CodecError:
            expected = None
        if found is not None and len(found) == len(data):
            assert found == expected


def test_the_empty_chunk_is_not_special():
    for codec in (GzipCodec(1), ZlibCodec(1), Crc32cCodec()):
        assert _native.decode(capsule_of(codec), bytes(codec.encode(b"", 0)), 0) == b""


def test_parameters_that_are_not_supported_have_no_form():
    assert _native.codec("zstd", (99, 1)) is None
    assert _native.codec("blosc", (1, 10, 1, 4, 0)) is None
    assert _native.codec("zstd", (1,)) is None
    assert _native.codec("unknown", ()) is None
    assert "no native form" in native_form(object(), 4)[1]


def test_libraries_are_found_without_importing_their_packages():
    import subprocess
    import sys

    program = (
        "import sys; from zarr_native.libraries import origins; found = origins()\n"
        "assert not any(it.partition('.')[0] in ('numcodecs', 'deflate') for it in sys.modules)\n"
        "print(found)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    found = eval(done.stdout)
    assert found.keys() == {*libraries.MODULES, "zlib"}
    assert all(it.startswith(("found in", "linked")) for it in found.values()), found


@pytest.mark.parametrize("name", libraries.MODULES)
def test_another_library_is_refused(name, tmp_path):
    assert "does not export" in _native.load_library(name, _native.__file__)
    assert _native.load_library(name, tmp_path / "nothing.so") == "cannot be loaded"
    assert _native.load_library("other", "") == "is not known"
    # What was loaded before is still used.
    assert libraries.problem(name) == ""
    assert _native.codec("zstd", (1, 1)) is not None
