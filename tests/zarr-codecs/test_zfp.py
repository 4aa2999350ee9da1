"""zfp: its five modes as the library has them, promotion of small types, damage."""

import pickle
import sys
from contextlib import suppress

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from registered_codecs import chain, data_type, made, round_trip
from zarr_codecs import _libzfp
from zarr_codecs.zfp import ZfpCodec
from zarr_core.config import config
from zarr_core.extension import ChunkDecodeError, CodecError, ExtensionConfigurationError
from zarr_core.registry import discovery

zfpy = pytest.importorskip("zfpy")

SMOOTH = np.add.outer(np.sin(np.arange(21) / 4), np.cos(np.arange(18) / 5)) * 1000
EXPERT = {"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 19, "minexp": -2}
LOSSY = [
    ({"mode": "fixed_accuracy", "tolerance": 0.05}, {"tolerance": 0.05}),
    ({"mode": "fixed_precision", "precision": 19}, {"precision": 19}),
    ({"mode": "fixed_rate", "rate": 10.5}, {"rate": 10.5}),
    ({"mode": "reversible"}, {}),
]
# What the modes are in terms of the parameters of experts (zfp, "Compression modes").
AS_EXPERT = [
    ({"mode": "fixed_accuracy", "tolerance": 2.0**-5}, (1, 16658, 64, -5)),
    ({"mode": "fixed_precision", "precision": 19}, (1, 16658, 19, -1074)),
    ({"mode": "fixed_rate", "rate": 10.5}, (168, 168, 64, -1074)),
    ({"mode": "reversible"}, (1, 16658, 64, -1075)),
]


@pytest.mark.parametrize(("configuration", "parameters"), LOSSY, ids=str)
@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
def test_is_the_stream_of_the_library_without_header(configuration, parameters, dtype):
    array = SMOOTH.astype(dtype)
    codec = pickle.loads(pickle.dumps(made("zfp", **configuration)))  # as other processes get it
    data, back = round_trip(codec, array)
    assert data == zfpy.compress_numpy(array, write_header=False, **parameters)
    with_header = zfpy.compress_numpy(array, **parameters)
    assert back.tobytes() == zfpy.decompress_numpy(with_header).tobytes()


@pytest.mark.parametrize(("configuration", "expert"), AS_EXPERT, ids=str)
@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
def test_expert_mode_says_every_other_mode(configuration, expert, dtype):
    array = SMOOTH.astype(dtype)
    names = ("minbits", "maxbits", "maxprec", "minexp")
    codec = made("zfp", mode="expert", **dict(zip(names, expert, strict=True)))
    data, back = round_trip(codec, array)
    plain, plain_back = round_trip(made("zfp", **configuration), array)
    assert data == plain
    assert back.tobytes() == plain_back.tobytes()


def test_expert_mode_limits_blocks():
    data, _ = round_trip(made("zfp", **EXPERT), SMOOTH)
    assert len(data) == -(-6 * 5 * 13 // 64) * 8


def test_keeps_the_tolerance():
    _, back = round_trip(made("zfp", mode="fixed_accuracy", tolerance=0.05), SMOOTH)
    assert 0 < np.abs(back - SMOOTH).max() <= 0.05


arrays = npst.arrays(
    st.sampled_from(["i1", "u1", "i2", "u2", "i4", "i8", "f2", "f4", "f8", "M8[ns]", "m8[s]"]),
    npst.array_shapes(min_dims=0, max_dims=4, max_side=6),
)


@settings(max_examples=60, deadline=None)
@given(array=arrays)
def test_nothing_is_lost_if_reversible(array):
    _, back = round_trip(ZfpCodec("reversible"), array)
    assert np.isnan(array).all() or (back[~np.isnan(array)] == array[~np.isnan(array)]).all()


def test_bfloat16():
    array = SMOOTH[0].astype(data_type("bfloat16").numpy_dtype)
    data, back = round_trip(ZfpCodec("reversible"), array)
    assert back.tobytes() == array.tobytes()
    assert data == zfpy.compress_numpy(array.astype("f4"), write_header=False)


@pytest.mark.parametrize(("dtype", "shift"), [("i1", 23), ("u1", 23), ("i2", 15), ("u2", 15)])
def test_promotion(dtype, shift):
    info = np.iinfo(dtype)
    array = np.array([info.min, info.max, 0, 1, 5], dtype)
    middle = 0 if dtype[0] == "i" else (info.max + 1) // 2
    promoted = (array.astype(np.int32) - middle) << shift
    assert round_trip(ZfpCodec("reversible"), array)[0] == zfpy.compress_numpy(
        promoted.astype(np.int32), write_header=False
    )


def test_demotion_stays_within_the_range():
    # With loss, numbers at the ends come out beyond them.
    array = np.where(np.arange(64) % 7 == 0, 255, 0).astype("u1")
    codec = ZfpCodec("fixed_precision", precision=3)
    _, back = round_trip(codec, array)
    assert np.abs(back.astype(int) - array).max() < 200


@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_unsigned_integers_as_those_with_a_sign(dtype):
    largest = np.iinfo(dtype).max // 2
    array = np.array([0, 1, largest], dtype)
    assert (round_trip(ZfpCodec("reversible"), array)[1] == array).all()
    array = np.array([largest + 1], dtype)
    bound = chain(ZfpCodec("reversible"), array)
    with pytest.raises(CodecError, match=f"{largest + 1} is out of range: uint.* is stored as int"):
        bound.encode(array)


@pytest.mark.parametrize(
    ("mode", "member"),
    [("reversible", {"rate": 1}), ("fixed_rate", {}), ("expert", {"minbits": 1})],
)
def test_constructor_requires_the_parameters_of_the_mode(mode, member):
    with pytest.raises(ValueError, match="does not accept rate|requires"):
        ZfpCodec(mode, **member)


@pytest.mark.parametrize(
    "configuration", [*(it for it, _ in LOSSY), EXPERT, EXPERT | {"maxbits": 900}], ids=str
)
def test_damage(configuration):
    bound = chain(made("zfp", **configuration), SMOOTH)
    data = bytes(bound.encode(SMOOTH))
    for wrong in (b"", data[:-1], data[: len(data) // 16 * 8], data[:8]):
        with pytest.raises(ChunkDecodeError):
            bound.decode(wrong)
    for bit in range(0, 8 * len(data), 97):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        with suppress(ChunkDecodeError):  # what zfp cannot notice is read as other numbers
            assert bound.decode(bytes(damaged)).shape == SMOOTH.shape


def test_streams_that_are_too_long_for_their_rate():
    bound = chain(made("zfp", mode="fixed_rate", rate=8), SMOOTH)
    with pytest.raises(ChunkDecodeError, match="are not a valid stream"):
        bound.decode(bytes(bound.encode(SMOOTH)) + bytes(8))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "int64"])
@pytest.mark.parametrize("shape", [(30,), (5, 9), (3, 4, 5), (2, 3, 4, 5)], ids=str)
def test_streams_with_a_header_are_refused_and_kept(dtype, shape):
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    store = zarr.MemoryStore()
    array = zarr.create_array(
        store, data=values, chunks=shape, serializer=ZfpCodec("reversible"), compressors=None
    )
    (key,) = list(store.list_prefix("c/"))
    stream = zfpy.compress_numpy(values, write_header=True)
    store.set(key, stream)
    for access in (lambda: array[...], lambda: array.__setitem__((0,) * len(shape), 1)):
        with pytest.raises(ChunkDecodeError, match="begins with a header of zfp"):
            access()
    assert store.get(key) == stream
    array[...] = values
    assert np.array_equal(array[...], values)


def test_missing_library_names_other_providers(tmp_path, monkeypatch):
    info = tmp_path / "other_zfp-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-zfp\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[zarr_core.codec]\nzfp = other_zfp:Zfp\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "zfpy", None)
    discovery.refresh()
    _libzfp._zfpy.cache_clear()
    try:
        with pytest.raises(CodecError, match=r"providers=\{'codec.zfp': 'other-zfp'\}"):
            _libzfp.compress(SMOOTH, _libzfp.REVERSIBLE)
        with (
            config.set(providers={"codec.zfp": "zarr-codecs"}),
            pytest.raises(ExtensionConfigurationError) as caught,
        ):
            made("zfp", mode="reversible", dims=2)
        assert "'zfp' of zarr-codecs " in str(caught.value)
        assert "providers={'codec.zfp': 'other-zfp'}" in str(caught.value)
    finally:
        monkeypatch.undo()
        discovery.refresh()
        _libzfp._zfpy.cache_clear()


def test_memory_of_the_configuration_is_limited(at_most):
    expert = {
        "mode": "expert",
        "minbits": 2**31 - 1,
        "maxbits": 2**31 - 1,
        "maxprec": 64,
        "minexp": 0,
    }
    bound = chain(made("zfp", **expert), SMOOTH)
    with at_most(1 << 20), pytest.raises(ChunkDecodeError, match="are not a valid stream"):
        bound.decode(bytes(80))


def test_build_without_exported_functions(monkeypatch):
    _libzfp._c_library.cache_clear()
    monkeypatch.setattr(_libzfp.ctypes, "CDLL", lambda path: object())
    try:
        bound = chain(made("zfp", **EXPERT), SMOOTH)
        for use in (lambda: bound.encode(SMOOTH), lambda: bound.decode(bytes(64))):
            with pytest.raises(CodecError, match="does not export the C functions"):
                use()
        for configuration, _ in LOSSY:  # the others need nothing more
            bound = chain(made("zfp", **configuration), SMOOTH)
            data = bytes(bound.encode(SMOOTH))
            assert np.allclose(bound.decode(data), SMOOTH, atol=1)
            with pytest.raises(ChunkDecodeError):
                bound.decode(data[: len(data) // 16 * 8])
        bound = chain(made("numcodecs.zfpy", mode=4, tolerance=0.05), SMOOTH)
        data = bytes(bound.encode(SMOOTH))
        assert np.allclose(bound.decode(data), SMOOTH, atol=0.05)
        with pytest.raises(ChunkDecodeError, match="truncated"):
            bound.decode(data[: len(data) // 16 * 8])
    finally:
        _libzfp._c_library.cache_clear()


@pytest.mark.filterwarnings("error")
def test_demotion_of_floats_beyond_the_range():
    array = np.where(np.arange(64) % 7 == 0, 65504, -65504).astype("f2")
    _, back = round_trip(ZfpCodec("fixed_precision", precision=2), array)
    assert np.isinf(back).any()
