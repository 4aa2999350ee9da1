"""Mistakes in codecs are not reported as damaged chunks, nor damaged chunks as mistakes."""

from dataclasses import dataclass

import numpy as np
import pytest
import zarr_core as zarr
from plain_codecs import Negate
from zarr_core.errors import CodecError, CodecFaultError
from zarr_core.extension import BytesToBytesCodec, ChunkDecodeError


@dataclass(frozen=True)
class Raises(BytesToBytesCodec):
    error: str = ""

    def encode(self, data, decoded_size):
        return data

    def decode(self, data, decoded_size):
        raise {
            "key": KeyError("x"),
            "attribute": AttributeError("no attribute"),
            "value": ValueError("bad bytes"),
            "own": ChunkDecodeError("bad header"),
            "system": EOFError("short"),
            "library": CodecError("a library is missing"),
        }[self.error]


@pytest.fixture(autouse=True)
def _names():
    with zarr.override_extensions({"codec": {"acme.raises": Raises, "acme.negate": Negate}}):
        yield


@pytest.mark.parametrize("error", ["key", "attribute", "value", "own", "system"])
@pytest.mark.parametrize("shards", [None, 8])
def test_mistakes_in_decode_are_not_damage(error, shards):
    array = zarr.create_array(
        shape=8, chunks=4, shards=shards, dtype="uint16", compressors=Raises(error)
    )
    array[:] = 3
    with pytest.raises(ChunkDecodeError) as caught:
        array[:]
    is_ordinary_error = error in ("key", "attribute")
    assert isinstance(caught.value, CodecFaultError) is is_ordinary_error
    assert ("damaged chunk" in str(caught.value)) is not is_ordinary_error
    assert "c/0" in str(caught.value)
    assert "acme.raises" in str(caught.value) or error == "own"


@pytest.mark.parametrize("shards", [None, 8])
def test_errors_that_are_not_damage_name_the_chunk(shards):
    codec = Raises("library")
    array = zarr.create_array(shape=8, chunks=4, shards=shards, dtype="u2", compressors=codec)
    array[:] = 3
    for use in (lambda: array[:], lambda: array[5], lambda: array.__setitem__(5, 4)):
        with pytest.raises(CodecError, match=r"^memory://.* 'c/.*a library is missing") as caught:
            use()
        assert not isinstance(caught.value, ChunkDecodeError)


@pytest.mark.parametrize("dtype", ["int16", "float64"])
def test_scalars_instead_of_arrays_are_explained(dtype):
    array = zarr.create_array(shape=(), dtype=dtype, filters=Negate())
    with pytest.raises(
        CodecError, match=rf"a scalar of NumPy, dtype {dtype} \(use numpy.asarray\)"
    ):
        array[()] = 3
    array = zarr.create_array(data=np.arange(3, dtype=dtype), filters=Negate())
    assert array[2] == 2
