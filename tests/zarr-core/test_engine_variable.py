"""Elements of variable size, whose chunks have no size in bytes."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
import zarr_core as zarr
from plain_data_type import Plain
from zarr_core.errors import ChunkDecodeError, CodecChainError, CodecError, MissingChunkError
from zarr_core.extension import (
    ArrayToBytesCodec,
    BytesToBytesCodec,
    ExtensionDefinition,
    StoreTraits,
)

STRINGS = np.dtypes.StringDType()


class Words(Plain):
    """Strings as NumPy's variable-length strings."""

    described = ("acme.words", STRINGS)

    def __init__(self):
        name, dtype = self.described
        super().__init__(dtype, name)

    @classmethod
    def from_definition(cls, definition):
        return cls()

    def default_serializer(self):
        return ExtensionDefinition("acme.lines")

    def default_fill_value(self):
        return self.fill_value_from_json("")

    def cast(self, value):
        return self.fill_value_from_json(value)


class Objects(Words):
    """The same as Python objects."""

    described = ("acme.objects", np.dtype(object))


@dataclass(frozen=True)
class Lines(ArrayToBytesCodec):
    """JSON strings."""

    def encode(self, array, decoded):
        assert not array.flags.writeable
        assert array.shape == decoded.shape
        return json.dumps(array.reshape(-1).tolist()).encode()

    def decode(self, data, decoded):
        array = np.array(json.loads(bytes(data)), decoded.data_type.numpy_dtype)
        return array.reshape(decoded.shape)


class Doubled(BytesToBytesCodec):
    """A codec that stores all bytes twice."""

    def encode(self, data, decoded_size):
        return bytes(data) * 2

    def decode(self, data, decoded_size):
        assert decoded_size is None
        return bytes(data)[: len(data) // 2]


CODE = {
    "data_type": {"acme.words": Words, "acme.objects": Objects},
    "codec": {"acme.lines": Lines, "acme.doubled": Doubled},
}
VALUES = np.array([[f"{row}," * column for column in range(7)] for row in range(9)], STRINGS)


@pytest.fixture(params=["words", "objects"])
def kind(request):
    return f"acme.{request.param}"


@pytest.fixture(params=["memory", "local"])
def place(request, tmp_path):
    return zarr.MemoryStore() if request.param == "memory" else zarr.LocalStore(tmp_path)


@pytest.fixture(params=[None, (4, 6)], ids=["chunks", "shards"])
def shards(request):
    return request.param


def make(place, kind, **arguments):
    arguments = {"shape": VALUES.shape, "chunks": (4, 3), "compressors": None} | arguments
    return zarr.open_array(place, dtype=kind, mode="w", extensions=CODE, **arguments)


@pytest.mark.parametrize("compressors", [None, "acme.doubled"])
@pytest.mark.parametrize("threads", [1, 3])
def test_values_round_trip(place, kind, shards, compressors, threads):
    with zarr.config.set(threads=threads):
        array = make(place, kind, shards=shards, compressors=compressors)
        assert array.chunks == (4, 3)
        array[...] = VALUES
        assert array[...].tolist() == VALUES.tolist()
        again = zarr.open_array(place, extensions=CODE)
        assert again.dtype == array.dtype == (STRINGS if kind == "acme.words" else object)
        for selection in [(2, 3), (slice(1, 8, 3),), (slice(None, None, -2), 4), (-1,)]:
            read, expected = again[selection], VALUES[selection]
            assert getattr(read, "dtype", str) == (array.dtype if read is not str(read) else str)
            assert np.array_equal(np.asarray(read, STRINGS), np.asarray(expected, STRINGS))
        rows, columns = [8, 0, 3], [6, 1, 1]
        assert again.oindex[rows, columns].tolist() == VALUES[np.ix_(rows, columns)].tolist()
        assert again.vindex[rows, columns].tolist() == VALUES[rows, columns].tolist()
        assert again[2, 3] == VALUES[2, 3]
        assert isinstance(again[2, 3], str)


def test_parts_are_written(place, kind, shards):
    array = make(place, kind, shards=shards)
    expected = np.full(VALUES.shape, "", STRINGS)
    array[1:7, 2:5] = expected[1:7, 2:5] = VALUES[1:7, 2:5]
    array[8] = expected[8] = "all the same"
    array[0, 0] = expected[0, 0] = "x" * 5000
    array[:, 6] = expected[:, 6] = [f"{n}" for n in range(9)]
    array.oindex[[5, 1], [0, 4]] = expected[np.ix_([5, 1], [0, 4])] = [["a", "b"], ["c", "d"]]
    array.vindex[[5, 1], [0, 6]] = expected[[5, 1], [0, 6]] = ["e", "f"]
    assert array[...].tolist() == expected.tolist()
    array[0, 0] = expected[0, 0] = ""
    assert array[...].tolist() == expected.tolist()


def test_chunks_of_nothing_but_fill_are_not_stored(place, kind):
    array = make(place, kind, fill_value="none")
    assert array[...].tolist() == [["none"] * 7] * 9
    array[...] = VALUES
    assert array.nchunks_initialized == 9
    array[:4, :3] = "none"
    array[4:8, :3] = [["none"] * 3] * 4
    assert array.nchunks_initialized == 7
    assert array[0, 0] == array[7, 2] == "none"
    assert array.fill_value == "none"
    kept = make(zarr.MemoryStore(), kind, fill_value="none", config={"write_empty_chunks": True})
    kept[...] = "none"
    assert kept.nchunks_initialized == 9


def test_missing_chunks_can_be_an_error(place, kind):
    array = make(place, kind, config={"missing_chunks": "error"})
    array[:4] = VALUES[:4]
    assert array[3, 2] == VALUES[3, 2]
    with pytest.raises(MissingChunkError):
        array[...]


@pytest.mark.parametrize("value", ["x", ""])
def test_without_dimensions(place, kind, value):
    array = make(place, kind, shape=(), chunks=())
    assert array[()] == ""
    array[()] = value
    assert array[()] == value
    array[...] = value * 2
    assert array[...].shape == ()
    assert array[...][()] == value * 2
    array.vindex[()] = "v"
    assert array[()] == "v"


def test_without_elements(place, kind):
    array = make(place, kind, shape=(0, 3), chunks=(2, 2))
    array[...] = "x"
    assert array[...].shape == (0, 3)


def test_shapes_change(place, kind):
    array = make(place, kind, data=VALUES, shape=None)
    array.resize(5, 4)
    array.resize(9, 7)
    expected = np.full((9, 7), "", STRINGS)
    expected[:5, :4] = VALUES[:5, :4]
    assert array[...].tolist() == expected.tolist()
    array.append([["end"] * 7])
    assert array.shape == (10, 7)
    assert array[9].tolist() == ["end"] * 7


def test_written_values_are_cast(kind):
    array = make(zarr.MemoryStore(), kind, shape=2, chunks=2)
    array[...] = np.array(["ab", "c"], "U2")
    assert array[...].tolist() == ["ab", "c"]
    array[...] = np.array(["de", "f"], object)
    assert array[...].tolist() == ["de", "f"]
    array[...] = np.broadcast_to(np.array("same", object), 2)
    assert array[...].tolist() == ["same", "same"]
    out = np.empty(2, object)
    assert array.get_basic_selection(out=out) is out
    assert out.tolist() == ["same", "same"]


def test_read_values_are_not_shared(kind):
    array = make(zarr.MemoryStore(), kind, data=VALUES, shape=None)
    first = array[...]
    first[...] = "changed"
    assert array[...].tolist() == VALUES.tolist()


def test_damage_names_the_chunk(place, kind):
    array = make(place, kind, data=VALUES, shape=None)
    place.set("c/1/1", b"[]")
    with pytest.raises(ChunkDecodeError, match=r"c/1/1.*acme\.lines"):
        array[...]
    place.set("c/1/1", b"[1")
    with pytest.raises(ChunkDecodeError, match=r"c/1/1.*acme\.lines"):
        array[4, 3] = "part"
    assert array[0].tolist() == VALUES[0].tolist()
    array[4:8, 3:6] = VALUES[4:8, 3:6]
    assert array[...].tolist() == VALUES.tolist()


def test_elements_that_the_codec_cannot_encode():
    array = make(zarr.MemoryStore(), "acme.objects")
    with pytest.raises(CodecError, match=r"acme\.lines.*not JSON serializable"):
        array[0, 0] = b"bytes"
    with pytest.raises(CodecError, match=r"acme\.lines.*not JSON serializable"):
        array[...] = np.broadcast_to(np.array(b"bytes", object), VALUES.shape)
    assert array.nchunks_initialized == 0


def test_arrays_as_elements_are_stored_and_not_compared():
    array = make(zarr.MemoryStore(), "acme.objects", shape=2, chunks=1)
    value = np.empty(2, object)
    value[0], value[1] = np.arange(2), ""
    with pytest.raises(
        CodecError, match="ndarray"
    ):  # raised by the codec, not by an ambiguous comparison
        array[...] = value


class Other(Lines):
    """Decodes strings with another dtype than declared."""

    def decode(self, data, decoded):
        array = super().decode(data, decoded)
        return array.astype(np.dtypes.StringDType(na_object=None))


def test_decoding_to_other_strings_is_a_failure_of_the_codec():
    code = {**CODE, "codec": {"acme.lines": Other}}
    array = zarr.open_array(
        None, "w", shape=2, dtype="acme.words", extensions=code, compressors=None
    )
    array[0] = "a"
    with pytest.raises(ChunkDecodeError, match="instead of shape"):
        array[...]


def test_the_bytes_codec_rejects_them(kind):
    with pytest.raises(CodecChainError, match="fixed size only"):
        make(zarr.MemoryStore(), kind, serializer="bytes")


def test_many_threads_write_and_read_one_array(kind):
    array = make(zarr.MemoryStore(), kind, shape=(64, 8), chunks=(3, 8))

    def work(number):
        for turn in range(5):
            array[number::8] = [[f"{number} {turn} " * number] * 8] * 8
            assert array[number, 7] == f"{number} {turn} " * number

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    with zarr.config.set(threads=4):
        assert array[:, 0].tolist() == [f"{row % 8} 4 " * (row % 8) for row in range(64)]


def test_it_can_be_described_and_pickled(kind):
    array = make(zarr.MemoryStore(), kind, data=VALUES, shape=None)
    assert kind in f"{array.info}"
    assert array.nbytes == VALUES.size * array.dtype.itemsize
    # The data type is kept, which cannot be derived from the dtype object.
    copy = zarr.open_array(data=array, mode="w", extensions=CODE, compressors=None)
    assert copy.metadata.data_type.name == kind
    assert copy[...].tolist() == VALUES.tolist()
    with zarr.override_extensions(CODE):
        group = zarr.create_group()
        for _ in range(2):
            again = group.require_array("a", data=array, shape=None, dtype=None)
            assert again.metadata.data_type.name == kind


def test_stores_without_erasing_keep_a_chunk_of_fill(kind):
    store = zarr.MemoryStore()
    store.traits = StoreTraits(supports_erasing=False)
    array = make(store, kind, data=VALUES, shape=None, fill_value="f")
    array[:4, :3] = "f"
    array[5, 1] = "f"
    assert array[0, 0] == array[5, 1] == "f"
