import json
import struct
import sys
from contextlib import suppress

import numcodecs
import numpy as np
import pytest
import zarr_core as zarr
from zarr_codecs import _numcodecs
from zarr_codecs.blosc import BloscCodec
from zarr_core.errors import ExtensionConfigurationError
from zarr_core.extension import (
    ArrayRepresentation,
    ChunkDecodeError,
    CodecError,
)

NOISE = np.random.default_rng(5).bytes(4096)  # stored by c-blosc as it is
RAMP = np.arange(20_000, dtype="<i4").tobytes()


class Elements:
    """As much of a data type as the codec looks at."""

    def __init__(self, item_size):
        self.item_size = item_size


def chunk_of(item_size):
    return ArrayRepresentation((10,), Elements(item_size), np.zeros(()))


def frame(content, cname="lz4", shuffle=1):
    return numcodecs.Blosc(cname, 5, shuffle, typesize=4).encode(content)


def changed(data, offset, value, form="<I"):
    data = bytearray(data)
    struct.pack_into(form, data, offset, value)
    return bytes(data)


@pytest.mark.parametrize("cname", ["lz4", "lz4hc", "blosclz", "zstd", "zlib"])
@pytest.mark.parametrize("shuffle", ["noshuffle", "shuffle", "bitshuffle"])
@pytest.mark.parametrize("clevel", [0, 1, 9])
def test_other_libraries_read_the_bytes(cname, shuffle, clevel):
    encoded = BloscCodec(cname, clevel, shuffle, 4).encode(RAMP, None)
    assert numcodecs.Blosc().decode(encoded) == RAMP


def test_configuration_reaches_c_blosc():
    sizes = {
        len(BloscCodec(*settings).encode(RAMP, None))
        for settings in [
            ("lz4", 5, "noshuffle", 4),
            ("lz4", 5, "shuffle", 4),
            ("lz4", 5, "shuffle", 2),
            ("lz4", 5, "bitshuffle", 4),
            ("zstd", 5, "shuffle", 4),
            ("zstd", 1, "shuffle", 4),
            ("lz4", 5, "shuffle", 4, 1024),
        ]
    }
    assert len(sizes) == 7


def test_element_size_that_does_not_fit_into_the_header():
    codec = BloscCodec("lz4", 5, "shuffle", 400)
    assert codec.decode(codec.encode(RAMP, None), len(RAMP)) == RAMP


def test_c_blosc_uses_no_threads_of_its_own():
    BloscCodec().encode(RAMP, None)
    assert numcodecs.blosc.use_threads is False


# --- invalid headers ---

SIZE, BLOCK, LENGTH = 4, 8, 12  # offsets in the header


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes are too few for a header of 16 bytes"),
        (b"\x02\x01!\x04\0", "5 bytes are too few for a header"),
        (frame(RAMP) + b"\0", r"the header declares \d+ bytes instead of"),
        (changed(frame(RAMP), LENGTH, 10), "declares 10 bytes instead of"),
        (changed(frame(RAMP), SIZE, 10), "block size"),
        (changed(frame(NOISE), SIZE, 10), "10 uncompressed bytes in a frame"),
        (changed(frame(RAMP), SIZE, len(RAMP) + 4), "declares 80004 bytes instead of 80000"),
        (changed(frame(RAMP), SIZE, 0x7FFFFFFF), "the limit is 2 GiB"),
        (changed(frame(RAMP), SIZE, 0x7FFFFFEF), "cannot decode to|instead of"),
        (changed(frame(RAMP), BLOCK, 0), "block size 0 "),
        (changed(frame(RAMP), BLOCK, 1), "cannot decode to"),
        (changed(frame(RAMP), BLOCK, 0xFFFFFFFF), "block size"),
        (changed(frame(RAMP), 0, 5, "B"), "format version 5 instead of 2"),
        (changed(frame(RAMP), 3, 0, "B"), "element size 0"),
        (changed(frame(RAMP), 2, 0xE1, "B"), "compressor number 7"),
        (changed(frame(RAMP), 16, 0x7FFFFFF0), "c-blosc cannot decompress the frame"),
        (changed(frame(RAMP), 16, 0), "c-blosc cannot decompress the frame"),
        (changed(frame(RAMP), 16, -5, "<i"), "c-blosc cannot decompress the frame"),
    ],
)
def test_error_messages(data, message):
    for decode in (
        lambda: BloscCodec().decode_into(data, memoryview(bytearray(len(RAMP)))),
        lambda: BloscCodec().decode(data, len(RAMP)),
    ):
        with pytest.raises(ChunkDecodeError, match=message) as caught:
            decode()
        assert caught.value.codec == "blosc"


@pytest.mark.parametrize("promised", [16, None])
def test_declared_size_allocates_no_memory(at_most, promised):
    claim = changed(frame(RAMP[:400]), SIZE, 2**31 - 17)
    BloscCodec().encode(b"", None)  # imports numcodecs
    with at_most(100_000), pytest.raises(ChunkDecodeError):
        BloscCodec().decode(claim, promised)


def test_damage_does_not_write_beyond_the_memory_given():
    generator = np.random.default_rng(7)
    for cname in ("lz4", "blosclz", "zlib", "zstd"):
        encoded = frame(RAMP[:4000], cname)
        for _ in range(100):
            data = bytearray(encoded)
            for position in generator.integers(16, len(data), 3):
                data[position] = generator.integers(256)
            memory = bytearray(b"\xa5" * 4200)
            with suppress(ChunkDecodeError):
                BloscCodec().decode_into(bytes(data), memoryview(memory)[100:4100])
            assert memory[:100] == memory[4100:] == b"\xa5" * 100


# --- snappy, which the wheels of numcodecs do not contain ---


def snappy_frame(values, shuffle, blocksize):
    """A frame that TensorStore writes."""
    tensorstore = pytest.importorskip("tensorstore")
    compressor = {"id": "blosc", "cname": "snappy", "clevel": 5}
    metadata = {
        "compressor": {**compressor, "shuffle": shuffle, "blocksize": blocksize},
        "dtype": values.dtype.str, "shape": values.shape, "chunks": values.shape,
    }  # fmt: skip
    context = tensorstore.Context()
    array = tensorstore.open(
        {"driver": "zarr", "kvstore": "memory://", "metadata": metadata, "create": True},
        context=context,
    ).result()
    array.write(values).result()
    return tensorstore.KvStore.open("memory://", context=context).result().read("0").result().value


@pytest.mark.parametrize("shuffle", [0, 1, 2])
@pytest.mark.parametrize("blocksize", [0, 512, 4096])
@pytest.mark.parametrize("dtype", ["u1", "<i2", "<f4", "<c16"])
def test_snappy_with_pyarrow(dtype, shuffle, blocksize):
    pytest.importorskip("pyarrow")
    values = (np.arange(5003) ** 2 % 101).astype(dtype)
    values.view("u1")[:2000] = np.frombuffer(NOISE[:2000], "u1")  # streams that are not compressed
    data = snappy_frame(values, shuffle, blocksize)
    out = bytearray(values.nbytes)
    BloscCodec().decode_into(data, memoryview(out))
    assert bytes(out) == BloscCodec().decode(data, values.nbytes) == values.tobytes()


def test_damaged_frames_of_snappy(golden, content):
    pytest.importorskip("pyarrow")
    data = golden("blosc-snappy-shuffle-tensorstore")
    start = struct.unpack_from("<I", data, 16)[0]
    damages = [(16, start) for start in (0, 16, len(data) - 2, 2**31, 2**32 - 1)]
    damages += [(start, size) for size in (0, 5, 2**31, 2**32 - 1)]
    for offset, value in damages:
        with pytest.raises(ChunkDecodeError, match="a stream of the frame is damaged"):
            BloscCodec().decode(changed(data, offset, value), len(content))
    # A stream that declares another size than it has in the block.
    for declared in (b"\x00", b"\xff\xff\xff\xff\x0f"):
        stream = declared + data[start + 4 + len(declared) :]
        with pytest.raises(ChunkDecodeError, match="a stream of the frame is damaged"):
            BloscCodec().decode(data[: start + 4] + stream, len(content))


def test_snappy_without_pyarrow(golden, monkeypatch):
    if "snappy" in _numcodecs.blosc_libraries():
        pytest.skip("this numcodecs contains snappy")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CodecError, match=r"pip install 'zarr-codecs\[snappy\]'") as caught:
        BloscCodec().decode(golden("blosc-snappy-shuffle-tensorstore"), 2400)
    assert not isinstance(caught.value, ChunkDecodeError)  # the chunk is not damaged
    with pytest.raises(CodecError, match="does not contain the compressor snappy"):
        BloscCodec(cname="snappy").complete(chunk_of(4))


# --- configuration ---


@pytest.mark.parametrize(
    ("item_size", "typesize", "shuffle"),
    [
        (1, 1, "bitshuffle"),
        (2, 2, "shuffle"),
        (16, 16, "shuffle"),
        (255, 255, "shuffle"),
        (256, 1, "bitshuffle"),
        (None, 1, "bitshuffle"),
    ],
)
def test_choice_for_a_new_array(item_size, typesize, shuffle):
    resolved = BloscCodec().complete(chunk_of(item_size))
    assert resolved.to_configuration() == {
        "cname": "zstd",
        "clevel": 5,
        "shuffle": shuffle,
        "typesize": typesize,
        "blocksize": 0,
    }


def test_given_parameters_are_kept():
    codec = BloscCodec("lz4", 1, "noshuffle", 3, 8192)
    assert codec.complete(chunk_of(8)) == codec


def test_chunk_that_no_frame_can_hold():
    class Long(bytes):
        def __len__(self):
            return 2**31

    with pytest.raises(CodecError, match="choose smaller chunks"):
        BloscCodec().encode(Long(), None)


def test_strides_above_255_are_read_but_not_created():
    # zarr-python stores the size of large elements, which c-blosc takes for 1.
    codec = {
        "name": "blosc",
        "configuration": {
            "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 300, "blocksize": 0,
        },
    }  # fmt: skip
    with pytest.raises(ValueError, match="typesize must be 1 to 255, not 300"):
        zarr.create_array({}, shape=3, dtype="S300", compressors=[codec])
    store = {}
    data = np.array([b"a", b"b" * 300, b""], "S300")
    zarr.create_array(store, data=data, compressors=["blosc"])
    document = json.loads(bytes(store["zarr.json"]))
    assert document["codecs"][1]["configuration"]["typesize"] == 1
    document["codecs"][1] = codec
    store["zarr.json"] = json.dumps(document).encode()
    array = zarr.open_array(store, mode="r+")
    array[0] = b"c"
    assert array[...].tolist() == [b"c", b"b" * 300, b""]


@pytest.mark.parametrize("typesize", [2**31, 10**30])
def test_a_typesize_that_c_blosc_cannot_represent_is_an_error_when_opening(typesize):
    store = zarr.MemoryStore()
    zarr.create_array(store, shape=4, dtype="u2", compressors="blosc")
    document = json.loads(bytes(store.get("zarr.json")))
    document["codecs"][1]["configuration"]["typesize"] = typesize
    store.set("zarr.json", json.dumps(document).encode())
    with pytest.raises(ExtensionConfigurationError, match="typesize"):
        zarr.open_array(store)
