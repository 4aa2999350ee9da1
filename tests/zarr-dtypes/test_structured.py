"""structured: what zarr-python wrote before struct had a specification."""

import base64
import json

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.extension import data_type_for
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
    convert(array.store, zarr_format=2)
    assert zarr.open(array.store, zarr_format=2)[...].tolist() == [VALUES[1].item()] * 3


def test_new_arrays_are_struct():
    assert type(data_type_for(DTYPE)) is Struct
    array = zarr.create_array(data=VALUES, dtype=DEFINITION, compressors=None)
    document = json.loads(array.store.get("zarr.json"))
    assert document["data_type"]["name"] == "struct"
    assert document["data_type"]["configuration"]["fields"][1]["data_type"]["name"] == "struct"
    assert document["codecs"][0]["configuration"]["endian"] in ("little", "big")
    assert array[...].tobytes() == VALUES.tobytes()
    assert zarr.open(array.store)[...].tobytes() == VALUES.tobytes()
