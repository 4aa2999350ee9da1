"""Third-party codecs that violate the interface."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import ChunkDecodeError, CodecError
from zarr_core.extension import ArrayToArrayCodec, ArrayToBytesCodec, BytesToBytesCodec
from zarr_core.stores.memory import MemoryStore

SHAPE = (4, 6)
VALUES = np.arange(24, dtype="i4").reshape(SHAPE)


class Bytes(BytesToBytesCodec):
    def to_configuration(self):
        return {}

    def encode(self, data, decoded_size):
        return type(self).encode_with(data) if self.encode_with else bytes(data)

    def decode(self, data, decoded_size):
        return type(self).decode_with(data) if self.decode_with else bytes(data)

    encode_with: ClassVar[Any] = None
    decode_with: ClassVar[Any] = None


class Fixed(Bytes):
    def encoded_size(self, decoded_size):
        return decoded_size


class Arrays(ArrayToArrayCodec):
    def to_configuration(self):
        return {}

    def encoded_representation(self, decoded):
        return decoded

    def encode(self, array, decoded):
        return type(self).encode_with(array) if self.encode_with else array + 1

    def decode(self, array, decoded):
        return type(self).decode_with(array) if self.decode_with else array - 1

    encode_with: ClassVar[Any] = None
    decode_with: ClassVar[Any] = None


class Serial(ArrayToBytesCodec):
    def to_configuration(self):
        return {}

    def encode(self, array, decoded):
        return type(self).encode_with(array) if self.encode_with else array.tobytes()

    def decode(self, data, decoded):
        if self.decode_with:
            return type(self).decode_with(data)
        return np.frombuffer(data, "i4").reshape(decoded.shape)

    encode_with: ClassVar[Any] = None
    decode_with: ClassVar[Any] = None


def raising(error):
    def work(_):
        raise error

    return work


def mutating_bytes(data):
    view = memoryview(data).cast("B")
    view[:] = bytes(len(view))
    return bytes(view)


def mutating_array(array):
    array += 1
    return array


KINDS = {
    "bytes": (Bytes, {"serializer": "bytes", "compressors": ["acme"]}),
    "fixed": (Fixed, {"serializer": "bytes", "compressors": ["acme"]}),
    "bytes in the middle": (Bytes, {"serializer": "bytes", "compressors": ["acme", "crc32c"]}),
    "arrays": (Arrays, {"filters": ["acme"], "serializer": "bytes", "compressors": ()}),
    "arrays, gzip": (Arrays, {"filters": ["acme"], "serializer": "bytes", "compressors": "gzip"}),
    "serial": (Serial, {"serializer": "acme", "compressors": ()}),
    "serial, gzip": (Serial, {"serializer": "acme", "compressors": "gzip"}),
}
LAYOUTS = {
    "chunks": {"chunks": (2, 3)},
    "shards": {"chunks": (2, 3), "shards": (4, 6)},
}

WRONG_BYTES = {
    "None": lambda _: None,
    "a string": lambda _: "x" * 24,
    "a number": lambda _: 24,
    "a list": lambda _: [0] * 24,
    "floats": lambda data: np.zeros(len(data), "f8"),
    "an object": lambda _: object(),
    "raises KeyError": raising(KeyError("key")),
    "raises ZeroDivisionError": raising(ZeroDivisionError()),
    "raises RecursionError": raising(RecursionError()),
    "raises MemoryError": raising(MemoryError()),
    "raises OSError": raising(OSError(5, "i/o")),
}
WRONG_LENGTH = {
    "nothing": lambda _: b"",
    "short": lambda data: bytes(data)[:-1],
    "long": lambda data: bytes(data) + b"x",
}
WRONG_ARRAYS = {
    "None": lambda _: None,
    "a string": lambda _: "x" * 24,
    "a list": lambda array: np.asarray(array).tolist(),
    "bytes": lambda _: b"x" * 24,
    "another dtype": lambda array: array.astype("f8"),
    "another size of item": lambda array: array.astype("i8"),
    "another shape": lambda array: array.reshape(-1),
    "another size": lambda array: array[:-1],
    "raises KeyError": raising(KeyError("key")),
    "raises StopIteration": raising(StopIteration()),
    "raises MemoryError": raising(MemoryError()),
}


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


@pytest.fixture
def made(request, layout, monkeypatch):
    """An array with a working third-party codec, and the class of the codec."""

    def make(kind):
        cls, options = KINDS[kind]
        cls = type("Acme", (cls,), {})
        with zarr.override_extensions({"codec": {"acme": cls}}):
            array = zarr.create_array(
                MemoryStore(), shape=SHAPE, dtype="i4", fill_value=-1, **layout, **options
            )
            array[...] = VALUES
            assert (array[...] == VALUES).all()
        return array, cls

    return make


def wrong(kind: str, encoding: bool):
    cls = KINDS[kind][0]
    if issubclass(cls, Arrays) or (cls is Serial and not encoding):
        return WRONG_ARRAYS
    if cls is Fixed or not encoding:
        return WRONG_BYTES | WRONG_LENGTH
    return WRONG_BYTES


# Nothing, so nothing is stored; several buffers.
ALLOWED = {("serial", "None"), ("serial, gzip", "None")}
ENCODING = [
    (kind, name) for kind in KINDS for name in wrong(kind, True) if (kind, name) not in ALLOWED
]
DECODING = [(kind, name) for kind in KINDS for name in wrong(kind, False)]


@pytest.mark.parametrize(("kind", "name"), ENCODING)
def test_wrong_encoder_results_are_not_stored(made, kind, name):
    array, cls = made(kind)
    before = dict(array.store._mapping)
    cls.encode_with = staticmethod(wrong(kind, True)[name])
    for selection in (..., (slice(1, 3), slice(1, 5)), (0, 0)):
        with pytest.raises(CodecError, match="acme"):
            array[selection] = 99
        assert array.store._mapping == before
    cls.encode_with = None
    assert (array[...] == VALUES).all()
    array[0] = 5
    assert array[0].tolist() == [5] * 6


@pytest.mark.parametrize(("kind", "name"), DECODING)
def test_wrong_decoder_results_are_rejected(made, kind, name):
    array, cls = made(kind)
    before = dict(array.store._mapping)
    cls.decode_with = staticmethod(wrong(kind, False)[name])
    # A chunk that does not fit into memory may be intact.
    error = CodecError if name == "raises MemoryError" else ChunkDecodeError
    for selection in (..., (slice(1, 3), slice(1, 5)), (0, 0), ([0, 3], [0, 3])):
        with pytest.raises(error, match=r"c/0/0.*acme") as caught:
            array[selection]
        assert ("damaged" in str(caught.value)) is (error is ChunkDecodeError)
    with pytest.raises(error, match="c/0/0"):
        array[0, 0] = 9
    assert array.store._mapping == before
    cls.decode_with = None
    assert (array[...] == VALUES).all()


@pytest.mark.parametrize("kind", ["arrays", "arrays, gzip", "serial"])
def test_a_codec_may_give_another_byte_order(made, kind):
    array, cls = made(kind)
    if issubclass(cls, Arrays):
        cls.encode_with = staticmethod(lambda array: array.astype(">i4"))
        cls.decode_with = staticmethod(lambda array: array.astype(">i4"))
    else:
        cls.decode_with = staticmethod(
            lambda data: np.frombuffer(data, "i4").reshape(2, 3).astype(">i4")
        )
    array[...] = VALUES[::-1]
    array[1:3, 1:5] = 7
    expected = VALUES[::-1].copy()
    expected[1:3, 1:5] = 7
    assert (array[...] == expected).all()


@pytest.mark.parametrize("kind", KINDS)
def test_codec_that_changes_its_input_is_isolated(made, kind):
    array, cls = made(kind)
    cls.encode_with = staticmethod(
        mutating_array if issubclass(cls, Arrays | Serial) else mutating_bytes
    )
    mine = VALUES + 100
    kept = mine.copy()
    with pytest.raises(CodecError, match="acme"):
        array[...] = mine
    assert (mine == kept).all()
    block = np.full((2, 3), 7, "i4")
    with pytest.raises(CodecError, match="acme"):
        array[:2, :3] = block
    assert (block == 7).all()
    cls.encode_with = None
    assert (array[...] == VALUES).all()


@pytest.mark.parametrize("kind", ["bytes", "fixed", "bytes in the middle"])
def test_a_codec_that_returns_a_view_of_its_input(made, kind):
    array, cls = made(kind)
    cls.encode_with = cls.decode_with = staticmethod(lambda data: memoryview(data)[:])
    mine = VALUES + 100
    array[...] = mine
    first = array[...]
    mine[...] = 0
    assert (first == VALUES + 100).all()
    assert (array[...] == first).all()
    first[...] = 0
    assert (array[...] == VALUES + 100).all()
    array[1:3, 1:5] = 0
    assert array[1:3, 1:5].sum() == 0
    assert array[0, 0] == 100


@pytest.mark.parametrize("kind", ["arrays", "arrays, gzip"])
def test_arrays_that_are_not_contiguous(made, kind):
    array, cls = made(kind)
    cls.encode_with = cls.decode_with = staticmethod(lambda array: array[::-1, ::-1])
    array[...] = VALUES
    assert (array[...] == VALUES).all()
    array[1:3, 1:5] = 0
    assert array[0].tolist() == VALUES[0].tolist()


@pytest.mark.parametrize("order", ["little", "big"])
def test_filters_see_native_byte_order(order):
    seen = []

    class Looks(Arrays):
        def decode(self, array, decoded):
            seen.append(array.dtype)
            return array - 1

    with zarr.override_extensions({"codec": {"acme": Looks}}):
        array = zarr.create_array(
            MemoryStore(),
            shape=SHAPE,
            chunks=(2, 3),
            dtype="i4",
            filters=["acme"],
            serializer={"name": "bytes", "configuration": {"endian": order}},
            compressors="gzip",
        )
        array[...] = VALUES
        assert (array[...] == VALUES).all()
    assert all(dtype.isnative for dtype in seen)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_codec_that_raises_in_a_thread_is_heard_once(threads):
    calls = []
    errors = []

    class Fails(Bytes):
        failing = False

        def encode(self, data, decoded_size):
            return self.decode(data, None)

        def decode(self, data, decoded_size):
            calls.append(threading.get_ident())
            if Fails.failing and 3 in bytes(data[:1]):
                raise ArithmeticError("not today")
            return bytes(data)

    threading.excepthook, kept = errors.append, threading.excepthook
    try:
        with (
            zarr.override_extensions({"codec": {"acme": Fails}}),
            zarr.config.set(threads=threads),
        ):
            array = zarr.create_array(
                MemoryStore(),
                shape=(16 << 17,),
                chunks=(1 << 17,),
                dtype="u1",
                serializer="bytes",
                compressors=["acme"],
            )
            values = np.repeat(np.arange(16, dtype="u1"), 1 << 17)
            array[...] = values
            Fails.failing = True
            with pytest.raises(ChunkDecodeError, match="c/3.*not today") as caught:
                array[...]
            cause = caught.value.__cause__
            while cause.__cause__ is not None:
                cause = cause.__cause__
            assert isinstance(cause, ArithmeticError)
            with pytest.raises(CodecError, match="c/3.*not today") as caught:
                array[...] = values
            assert isinstance(caught.value.__cause__, ArithmeticError | CodecError)
            assert (array[4 << 17 :] == values[4 << 17 :]).all()
            Fails.failing = False
            assert (array[...] == values).all()
            array[...] = 3
            assert (array[...] == 3).all()
    finally:
        threading.excepthook = kept
    assert not errors
    if threads == 1:
        assert set(calls) == {threading.get_ident()}
