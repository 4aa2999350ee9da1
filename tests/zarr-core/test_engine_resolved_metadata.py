"""Opening an array whose extensions fail in ways that their interfaces do not allow."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
import zarr_core as zarr
from plain_codecs import Negate
from zarr_core.chunk_grids import RegularGrid
from zarr_core.chunk_key_encodings import DefaultEncoding
from zarr_core.data_types.integer import Integer
from zarr_core.errors import (
    CodecChainError,
    CodecError,
    CodecFaultError,
    MetadataValidationError,
    ZarrError,
)
from zarr_core.extension import (
    ArrayToBytesCodec,
    BytesToBytesCodec,
    ChunkDecodeError,
    PartialEncodeCodec,
)
from zarr_core.selection.projection import put, take

NAME = "acme.x"


class Whole(ArrayToBytesCodec):
    def encode(self, array, decoded):
        return array.tobytes()

    def decode(self, data, decoded):
        return np.frombuffer(data, decoded.data_type.numpy_dtype).reshape(decoded.shape)


class Parts(Whole, PartialEncodeCodec):
    def partial_decode(self, reader, decoded, selection, out):
        out[...] = take(self.decode(reader.read(0, reader.size), decoded), selection)

    def partial_encode(self, reader, decoded, selection, value):
        array = np.zeros(decoded.shape, decoded.data_type.numpy_dtype)
        if reader is not None:
            array[...] = self.decode(reader.read(0, reader.size), decoded)
        put(array, selection, value)
        return array.tobytes()


class Octets(BytesToBytesCodec):
    def encode(self, data, decoded_size):
        return bytes(data)

    def decode(self, data, decoded_size):
        return bytes(data)


class Grid(RegularGrid):
    __slots__ = ()

    @classmethod
    def from_definition(cls, definition):
        return cls((2,))


class Keys(DefaultEncoding):
    __slots__ = ()

    @classmethod
    def from_definition(cls, definition):
        return cls("/")


class Int32(Integer):
    __slots__ = ()

    @classmethod
    def from_definition(cls, definition):
        return cls("int32")


BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
PLACES = {
    Negate: ("codec", {"codecs": [NAME, BYTES]}),
    Whole: ("codec", {"codecs": [NAME]}),
    Parts: ("codec", {"codecs": [NAME]}),
    Octets: ("codec", {"codecs": [BYTES, NAME]}),
    Grid: ("chunk_grid", {"chunk_grid": NAME}),
    Keys: ("chunk_key_encoding", {"chunk_key_encoding": NAME}),
    Int32: ("data_type", {"data_type": NAME}),
}


def stored(member):
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": "default",
        "fill_value": 0,
        "codecs": [BYTES],
    }
    store = zarr.MemoryStore()
    store.set("zarr.json", json.dumps(document | member).encode())
    store.set("c/0", np.array([1, 2], "<i4").tobytes())
    return store


def fails(*_):
    raise KeyError("oops")


def nothing(*_):
    return None


USES = {
    "open": lambda array: array,
    "read": lambda array: array[1:3],
    "write": lambda array: array.__setitem__(slice(1, 3), 7),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("base", PLACES)
def test_undamaged_nodes_work(base, use):
    kind, member = PLACES[base]
    with zarr.override_extensions({kind: {NAME: base}}):
        USES[use](zarr.open_array(stored(member), mode="r+"))


@pytest.mark.parametrize(
    ("base", "method", "use", "expected"),
    [
        (Negate, "encoded_representation", "open", CodecChainError),
        (Whole, "check", "open", CodecChainError),
        (Whole, "encoded_size", "open", CodecChainError),
        (Whole, "memory_dtype", "open", CodecChainError),
        (Parts, "supports_partial", "open", CodecChainError),
        (Parts, "partial_decode", "read", ChunkDecodeError),
        (Parts, "partial_encode", "write", CodecError),
        (Octets, "encoded_size", "open", CodecChainError),
        (Grid, "axes", "open", MetadataValidationError),
        (Keys, "check", "open", MetadataValidationError),
        (Keys, "affixes", "open", MetadataValidationError),
        (Int32, "numpy_dtype", "open", MetadataValidationError),
        (Int32, "fill_value_from_json", "open", MetadataValidationError),
    ],
)
def test_a_failure_is_named_and_its_cause_kept(base, method, use, expected):
    failing = type("Failing", (base,), {"__slots__": (), method: fails})
    if method == "numpy_dtype":
        failing.numpy_dtype = property(fails)
    kind, member = PLACES[base]
    with (
        zarr.override_extensions({kind: {NAME: failing}}),
        pytest.raises(expected, match="KeyError: 'oops'") as caught,
    ):
        USES[use](zarr.open_array(stored(member), mode="r+"))
    place = f"/{next(iter(member))}" if kind != "codec" else NAME
    if method == "fill_value_from_json":
        place = "/fill_value"
    assert place in str(caught.value)
    causes, error = [], caught.value
    while error is not None:
        causes.append(type(error))
        error = error.__cause__
    assert KeyError in causes


@pytest.mark.parametrize(
    ("base", "method"),
    [
        (Negate, "encoded_representation"),
        (Grid, "axes"),
        (Int32, "numpy_dtype"),
        (Int32, "fill_value_from_json"),
    ],
)
def test_so_is_the_lack_of_a_result(base, method):
    kind, member = PLACES[base]
    failing = type("Forgetful", (base,), {"__slots__": (), method: nothing})
    if method == "numpy_dtype":
        failing.numpy_dtype = property(nothing)
    with zarr.override_extensions({kind: {NAME: failing}}), pytest.raises(ZarrError, match="None"):
        zarr.open_array(stored(member))


@pytest.mark.parametrize("method", ["complete", "to_configuration"])
@pytest.mark.parametrize("does", [fails, nothing])
def test_failing_codec_is_isolated_at_creation(method, does):
    failing = type("Failing", (Octets,), {method: does})
    said = "KeyError: 'oops'" if does is fails else "returned None"
    with zarr.override_extensions({"codec": {NAME: failing}}):
        for compressor in (NAME, failing()):
            with pytest.raises(CodecChainError, match=f"{NAME}.*{said}"):
                zarr.create_array(shape=4, compressors=compressor)


def test_a_codec_can_support_parts_of_some_chunks_only():
    class Long(Parts):
        def supports_partial(self, decoded):
            return decoded.shape[0] > 2

        def partial_decode(self, reader, decoded, selection, out):
            raise AssertionError("not for chunks of this length")

        partial_encode = partial_decode

    kind, member = PLACES[Parts]
    with zarr.override_extensions({kind: {NAME: Long}}):
        array = zarr.open_array(stored(member), mode="r+")
        assert not array.stored.codecs.supports_partial_encode
        before = array[:]
        array[1:2] = 5
        assert array[1] == 5
        assert (array[2:] == before[2:]).all()
        long = zarr.create_array(shape=6, chunks=3, dtype="u1", serializer=NAME, compressors=None)
        assert long.stored.codecs.supports_partial_encode


def test_a_wrong_length_of_decoded_bytes_is_damage():
    with pytest.raises(ChunkDecodeError, match="decodes to 3 bytes instead of 4"):
        Octets().decode_into(b"abc", memoryview(bytearray(4)))


def test_an_error_of_the_store_stays_one():
    class Reading(Parts):
        def partial_decode(self, reader, decoded, selection, out):
            raise ConnectionResetError("by the peer")

    kind, member = PLACES[Parts]
    with zarr.override_extensions({kind: {NAME: Reading}}), pytest.raises(ConnectionResetError):
        zarr.open_array(stored(member))[1:3]


# --- faults of codecs, and damaged chunks ---


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
