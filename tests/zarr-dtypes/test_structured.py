"""structured, and schemas of data types."""

import base64
import json
from importlib.metadata import entry_points
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.extension import ExtensionDefinition, create_extension, data_type_for
from zarr_dtypes.struct import Struct
from zarr_transfer import convert

DTYPE = np.dtype([("x", "i2"), ("in", [("y", "f8"), ("s", "S2")])])
INNER = {
    "name": "structured",
    "configuration": {
        "fields": [
            ["y", "float64"],
            ["s", {"name": "null_terminated_bytes", "configuration": {"length_bytes": 2}}],
        ]
    },
}
DEFINITION = {"name": "structured", "configuration": {"fields": [["x", "int16"], ["in", INNER]]}}
VALUES = np.array([(1, (2.5, b"ab")), (-3, (4.5, b"c")), (5, (6.5, b""))], DTYPE)


def stored(codec, chunk, fill_value="AQI" + "A" * 13):
    """An array with such a codec, whose one chunk holds these bytes."""
    document = {
        "zarr_format": 3, "node_type": "array", "shape": [3], "data_type": DEFINITION,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill_value, "codecs": [codec],
    }  # fmt: skip
    store = zarr.MemoryStore()
    store.set("zarr.json", json.dumps(document).encode())
    if chunk is not None:
        store.set("c/0", chunk)
    return zarr.open_array(store)


def sharded(*codecs, chunk_shape=(1, 1)):
    index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    configuration = {"chunk_shape": [*chunk_shape], "codecs": codecs, "index_codecs": index}
    return {"name": "sharding_indexed", "configuration": configuration}


TRANSPOSE = {"name": "transpose", "configuration": {"order": [1, 0]}}
AROUND = {
    "nothing": lambda elements: [elements],
    "transpose": lambda elements: [TRANSPOSE, elements, {"name": "crc32c"}],
    "a shard": lambda elements: [sharded(elements)],
    "a shard in a shard": lambda elements: [
        TRANSPOSE,
        sharded(sharded(TRANSPOSE, elements, {"name": "crc32c"}), chunk_shape=(2, 1)),
    ],
    "blocks of N5": lambda elements: [
        {"name": "n5.block", "configuration": {"codecs": [elements]}}
    ],
}


class OtherName(BytesCodec):
    pass


@pytest.mark.parametrize("name", ["bytes", "acme.elements"])
@pytest.mark.parametrize(
    ("endian", "order", "around"),
    [
        (endian, order, around)
        for endian, order in [("little", "<"), ("big", ">"), (None, "<")]
        for around in AROUND
        if endian == "big" or around != "blocks of N5"
    ],
)
def test_packed_fill_values_have_the_byte_order_of_the_elements(endian, order, name, around):
    fill = np.array((7, 0.5), [("a", f"{order}i4"), ("b", f"{order}f8")])
    elements = {"name": name, "configuration": {"endian": endian} if endian else {}}
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [2, 2],
        "data_type": {
            "name": "structured",
            "configuration": {"fields": [["a", "int32"], ["b", "float64"]]},
        },
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": base64.b64encode(fill.tobytes()).decode(),
        "codecs": AROUND[around](elements),
    }
    store = {"zarr.json": json.dumps(document).encode()}
    with zarr.override_extensions({"codec": {"acme.elements": OtherName}}):
        array = zarr.open(store, mode="r+")
        assert array.fill_value.tolist() == (7, 0.5)
        array[0, 0] = np.array((-1, 2.5), array.dtype)
        found = zarr.open(store, mode="r")[...]
    assert found.tolist() == [[(-1, 2.5), (7, 0.5)], [(7, 0.5)] * 2]


def test_packed_fill_values_are_converted():
    packed = VALUES[1:2].astype(DTYPE.newbyteorder(">")).tobytes()
    codec = {"name": "bytes", "configuration": {"endian": "big"}}
    array = stored(codec, None, base64.b64encode(packed).decode())
    dest = zarr.MemoryStore()
    convert(array.store, dest, zarr_format=2)
    assert zarr.open(dest)[...].tolist() == [VALUES[1].item()] * 3


def test_new_arrays_are_struct():
    assert type(data_type_for(DTYPE)) is Struct
    array = zarr.create_array(data=VALUES, dtype=DEFINITION, compressors=None)
    document = json.loads(array.store.get("zarr.json"))
    assert document["data_type"]["name"] == "struct"
    assert document["data_type"]["configuration"]["fields"][1]["data_type"]["name"] == "struct"
    assert document["codecs"][0]["configuration"]["endian"] in ("little", "big")
    assert array[...].tobytes() == VALUES.tobytes()
    assert zarr.open(array.store)[...].tobytes() == VALUES.tobytes()


LINES = {
    entry.name: entry
    for entry in entry_points(group="zarr_core.data_type")
    if entry.value.startswith("zarr_dtypes.")
}
SMALL_FLOATS = {
    "bfloat16", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3",
    "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
}  # fmt: skip


def schema_of(name):
    return json.loads((files("zarr_dtypes") / f"schemas/data_type/{name}.json").read_text())


def test_all_are_there():
    assert set(LINES) == {
        "bytes", "fixed_length_utf32", "null_terminated_bytes", "numpy.datetime64",
        "numpy.timedelta64", "raw_bytes", "string", "struct", "structured",
        "variable_length_bytes",
        *SMALL_FLOATS, "float8_e4m3fn", "int2", "int4", "uint2", "uint4",
        *(f"complex_{part}" for part in {*SMALL_FLOATS, "float16", "float32", "float64"}),
    }  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_forms_of_fill_values(name):
    schema = schema_of(name)
    forms = {"$defs": schema["$defs"], "$ref": "#/$defs/fill_value"}
    configuration = schema["examples"][0]
    if name in ("struct", "structured"):
        fields = [["x", "float32"], ["y", "float32"]]
        if name == "struct":
            fields = [{"name": key, "data_type": value} for key, value in fields]
        configuration = {"fields": fields}
    made = create_extension("data_type", ExtensionDefinition(name, configuration))
    for example in schema["$defs"]["fill_value"]["examples"]:
        jsonschema.validate(example, forms)
        value = made.fill_value_from_json(example)
        assert value.shape == ()
        assert value.dtype == made.numpy_dtype
        written = made.fill_value_to_json(value)
        jsonschema.validate(written, forms)
        assert made.fill_value_from_json(written).tobytes() == value.tobytes() or (
            made.item_size is None and made.fill_value_from_json(written) == value
        )
