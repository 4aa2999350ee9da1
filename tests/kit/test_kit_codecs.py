"""The test kit for authors, applied to every codec of this repository."""

import json
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.resources import files

import numpy as np
import pytest
import zarr_core
from hypothesis import strategies as st
from zarr_conformance.kit import (
    ArrayToArrayCodecTests,
    ArrayToBytesCodecTests,
    BytesToBytesCodecTests,
)
from zarr_core.extension import ArrayToArrayCodec, ArrayToBytesCodec, BytesToBytesCodec

OURS = ("zarr_codecs.", "zarr_core.", "zarr_formats.", "zarr_sharding.")
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
FLOATS = ("float32", "float64")


def close(tolerance):
    return lambda self, decoded, original: np.allclose(decoded, original, tolerance, tolerance)


def smooth(self, data_type, shape):
    """Numbers of moderate size with small differences."""
    size = int(np.prod(shape))
    return st.integers(-50, 50).map(
        lambda first: (first + np.arange(size) / 4).astype(data_type.numpy_dtype).reshape(shape)
    )


def fixed(*lengths):
    return lambda self, configuration: st.just(lengths)


def by_configuration(names):
    """The data types that a member of the configuration requires."""
    return lambda self, configuration: names(configuration)


def typestr(configuration):
    name = np.dtype(configuration.get("dtype", "<f8")).name
    return [name]


def object_arrays(items, shape):
    """Arrays of objects, which NumPy must not convert to arrays of more dimensions."""
    size = int(np.prod(shape))

    def filled(found):
        array = np.empty(size, object)
        for number, item in enumerate(found):
            array[number] = item
        return array.reshape(shape)

    return st.lists(items, min_size=size, max_size=size).map(filled)


def texts(self, data_type, shape):
    return object_arrays(st.sampled_from(["female", "male", ""]), shape)


def objects(self, data_type, shape):
    leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3)
    return object_arrays(st.lists(leaves, max_size=3), shape)


def vectors(self, data_type, shape):
    numbers = st.lists(st.integers(-9, 9), max_size=3)
    return object_arrays(numbers.map(lambda found: np.array(found, "<i4")), shape)


def same_vectors(self, decoded, original):
    pairs = zip(np.ravel(decoded), np.ravel(original), strict=True)
    return decoded.shape == original.shape and all(np.array_equal(a, b) for a, b in pairs)


UNWRITABLE = {
    # Names that do not occur in version 3; other formats use them.
    "test_metadata_is_preserved": None,
    "test_array_round_trip": None,
    "test_shard_round_trip": None,
}
OBJECTS = {"data_types": ["v2.object"], **UNWRITABLE}
NUMBERS = {"data_types": ["int32", "int64", "float32", "float64"], "values": smooth}
LOSSY = {**NUMBERS, "lossless": False}

# Requirements of codecs; codecs without requirements are not listed.
SPECIAL = {
    "bitround": {**LOSSY, "data_types": FLOATS, "same": close(1e-3)},
    "cast_value": {
        **LOSSY,
        "configurations": [
            {"data_type": "int16", "rounding": "nearest-even", "out_of_range": "wrap"}
        ],
        "same": close(1),
    },
    "numcodecs.lzma": {"configurations": [{"preset": 0}], "working_memory": 1 << 27},
    "n5.block": UNWRITABLE,
    "n5.lz4": UNWRITABLE,
    "n5_default": {
        "shapes": fixed(3, 2),
        "data_types": ["int8", "uint8", "int16", "uint32", "int64", "float32", "float64"],
    },
    "numcodecs.astype": {**LOSSY, "data_types": ["float64"], "same": close(1e-6)},
    "numcodecs.bitround": {**LOSSY, "data_types": FLOATS, "same": close(1e-3)},
    "numcodecs.categorize": {**OBJECTS, "values": texts},
    "numcodecs.delta": {**NUMBERS, "data_types_of": by_configuration(typestr)},
    "numcodecs.fixedscaleoffset": {
        **LOSSY,
        "configurations": [{"scale": 4, "offset": -50, "dtype": "<f8", "astype": "<i4"}],
        "data_types": ["float64"],
    },
    "numcodecs.json2": {**OBJECTS, "values": objects, "shapes": fixed(3)},
    "numcodecs.msgpack2": {**OBJECTS, "values": objects, "shapes": fixed(3)},
    "numcodecs.packbits": {"data_types": ["bool"]},
    "numcodecs.pcodec": NUMBERS,
    "numcodecs.quantize": {**LOSSY, "data_types": ["float64"], "same": close(1e-3)},
    "numcodecs.shuffle": {
        "data_types": ["int32", "float32"],
        "contents": lambda self, configuration: st.binary(max_size=20).map(lambda part: part * 4),
    },
    "numcodecs.vlen-array": {
        **OBJECTS,
        "values": vectors,
        "shapes": fixed(3),
        "same": same_vectors,
    },
    "numcodecs.zfpy": {**LOSSY, "data_types": FLOATS, "same": close(1e-2), "shapes": fixed(3, 4)},
    "packbits": {
        "configurations": [{"padding_encoding": p} for p in ("none", "first_byte", "last_byte")],
        "data_types": ["bool", "uint4", "int2"],
    },
    "reshape": {"configurations": [{"shape": [[0, 1], [2]]}], "shapes": fixed(2, 3, 2)},
    "scale_offset": {**LOSSY, "data_types": FLOATS, "same": close(1e-3)},
    "sharding_indexed": {
        "configurations": [
            {
                "chunk_shape": [2, 3],
                "codecs": [BYTES],
                "index_codecs": [BYTES, {"name": "crc32c"}],
                "index_location": place,
            }
            for place in ("start", "end")
        ],
        "shapes": fixed(4, 6),
    },
    "transpose": {
        "configurations": [{"order": [1, 0]}, {"order": [2, 0, 1]}],
        "shapes": lambda self, configuration: st.just((3, 2, 4)[: len(configuration["order"])]),
    },
    "v2.filters": {**NUMBERS, **UNWRITABLE, "data_types": ["int32"]},
    "vlen-bytes": {"data_types": ["bytes"]},
    "vlen-utf8": {"data_types": ["string"]},
    "zfp": {
        **LOSSY,
        "configurations": [{"mode": "reversible"}],
        "shapes": fixed(4, 5),
        "data_types": FLOATS,
    },
}

BASES = {
    ArrayToArrayCodec: ArrayToArrayCodecTests,
    ArrayToBytesCodec: ArrayToBytesCodecTests,
}


def test_class(name, extension):
    base = next((BASES[kind] for kind in BASES if issubclass(extension, kind)), None)
    file = files(extension.__module__.partition(".")[0]) / f"schemas/codec/{name}.json"
    given = {"configurations": json.loads(file.read_text())["examples"]}
    special = {"name": name, "examples": 5, **given, **SPECIAL.get(name, {})}
    title = "Test" + "".join(part.title() for part in name.replace("-", ".").split("."))
    return title, type(title, (base or BytesToBytesCodecTests,), special)


test_class.__test__ = False

for entry in entry_points(group="zarr_core.codec"):
    if entry.value.startswith(OURS):
        title, made = test_class(entry.name, entry.load())
        globals()[title] = made


@dataclass(frozen=True, slots=True)
class Invert(BytesToBytesCodec):
    """Has no configuration and no schema."""

    def encode(self, data, decoded_size):
        return bytes(byte ^ 0xFF for byte in memoryview(data).cast("B"))

    def decode(self, data, decoded_size):
        return self.encode(data, None)


class TestWithoutSchema(BytesToBytesCodecTests):
    name = "acme.invert"
    extension = Invert
    examples = 5


def test_a_codec_with_something_to_configure_needs_a_schema():
    @dataclass(frozen=True, slots=True)
    class Shift(Invert):
        by: int = 1

    class TestShift(TestWithoutSchema):
        name = "acme.shift"

    missing = pytest.raises(
        pytest.fail.Exception, match="the schema of the configuration is missing"
    )
    with zarr_core.override_extensions({"codec": {"acme.shift": Shift}}), missing:
        TestShift().schema(Shift())
