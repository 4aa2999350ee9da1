"""zfp and pco: the same bytes as numcodecs, and limits that the libraries lack."""

import numcodecs
import numpy as np
import pytest
from plain_data_type import plain_representation
from zarr_codecs.pcodec import PcodecCodec
from zarr_codecs.zfpy import ZfpyCodec
from zarr_core.extension import ChunkDecodeError

NUMBERS = np.cumsum(np.sin(np.arange(210)).reshape(7, 5, 6), axis=0) * 100

ZFP = [
    ZfpyCodec(),
    ZfpyCodec(4, tolerance=0.01),
    ZfpyCodec(2, rate=9),
    ZfpyCodec(3, precision=20),
]
PCO = [
    PcodecCodec(),
    PcodecCodec(0, "classic", "no_op", equal_pages_up_to=100),
    PcodecCodec(12, delta_spec="try_consecutive", delta_encoding_order=2),
    PcodecCodec(4, delta_spec="try_lookback"),
    PcodecCodec(4, delta_encoding_order=1),
]
CASES = [(codec, dtype) for codec in ZFP for dtype in ("f4", "f8")]
CASES += [(ZfpyCodec(), dtype) for dtype in ("i4", "i8")]
CASES += [(codec, dtype) for codec in PCO for dtype in ("i2", "u4", "i8", "f2", "f8")]
cases = pytest.mark.parametrize(("codec", "dtype"), CASES, ids=str)


def theirs(codec):
    name = "zfpy" if isinstance(codec, ZfpyCodec) else "pcodec"
    configuration = codec.to_configuration()
    if configuration.get("delta_spec") == "no_op":  # of which numcodecs 0.16 knows the old name
        configuration["delta_spec"] = "auto"
        configuration["delta_encoding_order"] = 0
    return numcodecs.get_codec({"id": name} | configuration)


@cases
@pytest.mark.parametrize("shape", [(7, 5, 6), (210,), (1, 210), (7, 1, 5, 6)], ids=str)
def test_as_numcodecs(codec, dtype, shape):
    array = (NUMBERS + 400).astype(dtype).reshape(shape)
    array.flags.writeable = False
    decoded = plain_representation(array)
    codec.check(decoded)
    encoded = bytes(codec.encode(array, decoded))
    if codec != PCO[1]:
        assert encoded == bytes(theirs(codec).encode(array))
    expected = theirs(codec).decode(encoded).reshape(shape)
    for data in (encoded, memoryview(bytearray(encoded))):
        back = codec.decode(data, decoded)
        assert (back.shape, back.dtype) == (shape, array.dtype)
        assert back.tobytes() == expected.tobytes()
    if codec not in ZFP[1:]:
        assert back.tobytes() == array.tobytes()
    assert codec.encode(np.asfortranarray(array), decoded) == encoded


@cases
def test_no_cut_gives_other_numbers(codec, dtype):
    array = (NUMBERS + 400).astype(dtype)
    decoded = plain_representation(array)
    encoded = bytes(codec.encode(array, decoded))
    whole = codec.decode(encoded, decoded)
    accepted = 0
    for length in range(len(encoded)):
        try:
            part = codec.decode(encoded[:length], decoded)
        except ChunkDecodeError:
            continue
        accepted += 1
        assert part.tobytes() == whole.tobytes()
    assert accepted <= 1  # the last word of zfp may hold nothing


@cases
def test_another_chunk_is_rejected(at_most, codec, dtype):
    encoded = bytes(codec.encode(*both((NUMBERS + 400).astype(dtype))))
    for other in (np.zeros((7, 5, 7), dtype), np.zeros((7, 5, 5), dtype)):
        with at_most(200_000), pytest.raises(ChunkDecodeError):
            codec.decode(encoded, plain_representation(other))
    other = np.zeros((7, 5, 6), "f4" if dtype != "f4" else "f8")
    with pytest.raises(ChunkDecodeError):
        codec.decode(encoded, plain_representation(other))


def both(array):
    return array, plain_representation(array)


@pytest.mark.parametrize(
    ("codec", "dtype", "shape"),
    [
        (ZfpyCodec(), "i2", (3,)),
        (ZfpyCodec(), "u4", (3,)),
        (ZfpyCodec(), "f8", ()),
        (ZfpyCodec(), "f8", (1, 1, 1, 1, 1)),
        (PcodecCodec(), "i1", (3,)),
        (PcodecCodec(), "c8", (3,)),
        (PcodecCodec(), "M8[s]", (3,)),
        (PcodecCodec(), "?", (3,)),
    ],
    ids=str,
)
def test_rejects_chunks(codec, dtype, shape):
    with pytest.raises(ValueError, match="only .* supported"):
        codec.check(plain_representation(np.zeros(shape, dtype)))


def test_rejects_settings():
    with pytest.raises(ValueError, match="mode must be"):
        ZfpyCodec(1)
    with pytest.raises(ValueError, match="requires delta_encoding_order"):
        PcodecCodec(delta_spec="try_consecutive")
    with pytest.raises(ValueError, match='requires delta_spec "try_consecutive"'):
        PcodecCodec(delta_spec="no_op", delta_encoding_order=1)


def test_redundant_member_of_numcodecs_is_ignored():
    codec = ZfpyCodec(4, 0.5, compression_kwargs={"tolerance": 0.5})
    assert codec == ZfpyCodec(4, 0.5)
    assert codec.to_configuration() == {"mode": 4, "tolerance": 0.5, "rate": -1, "precision": -1}
