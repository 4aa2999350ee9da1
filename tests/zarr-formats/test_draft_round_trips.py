"""Round trips of any documents and arrays of both drafts."""

import json

import numpy as np
import zarr_core as zarr
from draft_stores import EXTENSION, SPEC, store_of
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.extension import Location
from zarr_core.registry.resolve import format_named
from zarr_core.stores.memory import MemoryStore

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=4)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
ATTRIBUTES = st.dictionaries(
    st.text(max_size=5).filter(lambda name: name != "filters"), JSON, max_size=3
)
NAMES = st.sampled_from(["draft", "draft-2021"])
GZIP = {"configuration": {"level": 1}}
CODECS = st.lists(
    st.sampled_from(
        [
            {"type": f"{SPEC}codecs/gzip/1.0", **GZIP},
            {"type": f"{SPEC}codec/gzip", **GZIP},
            {
                "type": f"{SPEC}codecs/blosc/1.0",
                "configuration": {"cname": "lz4", "clevel": 1, "shuffle": -1, "blocksize": 0},
            },
        ]
    ),
    max_size=2,
)
TEXT_TYPES = st.sampled_from(
    [
        ("int32", 7), ("<f8", "+Infinity"), (">i2", "0x0007"), ("bool", False), ("r16", "0x0102"),
        ("float32", "NaN"), ("complex64", [0, "-Infinity"]),
        ({"extension": f"{SPEC}extensions/data-types/datetime/1.0", "type": ">m8[s]"}, None),
        ({"extension": f"{SPEC}extensions/data-types/string/1.0", "type": "S4"}, "YQ=="),
        ({"extension": EXTENSION, "type": [1], "fallback": ["<i8", "r64"]}, {"any": 1}),
    ]
)  # fmt: skip
OLD_TYPES = st.sampled_from(
    [
        ("<i4", 7), ("bool", None), (">f8", "NaN"), ("u1", 0),
        ({"extension": "TODO: x", "type": ">U3", "fallback": None}, ""),
        ({"extension": "TODO: x", "type": [["a", ">i2"], ["b", ">f4"]], "fallback": None}, None),
    ]
)  # fmt: skip


@st.composite
def documents(draw, name):
    shape = draw(st.lists(st.integers(0, 5), max_size=3))
    data_type, fill_value = draw(TEXT_TYPES if name == "draft" else OLD_TYPES)
    members = {
        "shape": shape,
        "data_type": data_type,
        "chunk_grid": {
            "type": "regular",
            "chunk_shape": [draw(st.integers(1, 4)) for _ in shape],
            "separator": draw(st.sampled_from("/.")),
        },
        "chunk_memory_layout": draw(st.sampled_from("CF")),
        "fill_value": fill_value,
        "extensions": [{"extension": EXTENSION, "must_understand": False}]
        * draw(st.integers(0, 1)),
        "attributes": draw(ATTRIBUTES),
    }
    if name == "draft" and draw(st.booleans()):
        members["codecs"] = draw(CODECS)
    if name == "draft-2021" and draw(st.booleans()):
        members["compressor"] = {"codec": f"{SPEC}codec/gzip/1.0", "configuration": {"level": 5}}
    if draw(st.booleans()):
        extension = "extensions/" if name == "draft" else ""
        members["storage_transformers"] = [
            {
                "extension": f"{SPEC}{extension}storage_transformers/sharding/1.0",
                "type": "indexed",
                "configuration": {"chunks_per_shard": [draw(st.integers(1, 3)) for _ in shape]},
            }
        ]
    return {key: members[key] for key in draw(st.permutations(sorted(members)))}


NODES = NAMES.flatmap(lambda name: st.tuples(st.just(name), documents(name)))


@given(NODES, ATTRIBUTES)
@settings(max_examples=60)
def test_documents_are_lossless(node, attributes):
    name, document = node
    format_ = format_named(name)
    metadata = format_.from_json({"array": document}, Location("test"))
    assert json.dumps(format_.to_json(metadata)) == json.dumps({"array": document})
    changed = format_.to_json(metadata.replace(attributes=attributes))["array"]
    assert json.dumps(changed) == json.dumps({**document, "attributes": attributes})
    assert format_.from_json({"array": changed}, Location("test")).attributes == attributes
    longer = tuple(length + 1 for length in metadata.shape)
    grown = format_.to_json(metadata.replace(shape=longer))["array"]
    assert json.dumps(grown) == json.dumps({**document, "shape": list(longer)})


@given(NODES)
@settings(max_examples=60)
def test_new_documents_mean_the_same(node):
    name, document = node
    metadata = format_named(name).from_json({"array": document}, Location("test"))
    expressed = format_named(name).to_format(metadata, Location("test"))
    if not metadata.data_type_fallbacks:  # new documents have the one of the data type
        expressed = expressed.replace(data_type_fallbacks=())
    assert expressed == metadata
    assert expressed.document is not None


DTYPES = ["?", "<i4", ">u2", ">f8", "<c8", "S3", ">U2", "<M8[s]", ">m8[D]", "V2"]


@given(
    NAMES,
    st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4), st.integers(1, 2)), max_size=3),
    st.sampled_from(DTYPES),
    st.sampled_from("CF"),
    st.sampled_from("/."),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_arrays_round_trip(name, dimensions, dtype, order, separator, sharded, seed):
    shape, chunks, counts = (tuple(item[n] for item in dimensions) for n in range(3))
    dtype = np.dtype(dtype)
    values = np.random.default_rng(seed).integers(0, 2 if dtype == "?" else 99, shape)
    if dtype.kind == "V":
        values = values.astype("<u2").view("V2") if shape else np.array(b"ab", "V2")
    values = np.asarray(values).astype(dtype)
    shards = tuple(a * b for a, b in zip(chunks, counts, strict=True)) if sharded else None
    store = MemoryStore()
    zarr.create_array(
        store, path="x/a", data=values, dtype=dtype, chunks=chunks, shards=shards, order=order,
        zarr_format=name, chunk_key_encoding={"name": "default", "separator": separator},
    )  # fmt: skip
    array = zarr.open(store, path="x/a")
    assert array.stored.format.name == name
    found = array[...]
    assert (array.shape, array.chunks, array.shards) == (shape, chunks, shards)
    assert np.asarray(found).tobytes() == values.astype(array.dtype).tobytes()


@given(NAMES, st.dictionaries(st.sampled_from(["a", "a/b", "a/b/c", "d", "d/e"]), st.booleans()))
@settings(max_examples=40)
def test_hierarchies_round_trip(name, nodes):
    """Arrays and explicit groups, none below an array."""
    arrays = [path for path, is_array in nodes.items() if is_array]
    nodes = {
        path: is_array
        for path, is_array in nodes.items()
        if not any(path.startswith(f"{array}/") for array in arrays)
    }
    store = store_of({}, None)
    for path, is_array in sorted(nodes.items()):
        if is_array:
            zarr.create_array(store, path=path, data=np.arange(3), zarr_format=name)
        else:
            zarr.create_group(store, path=path, zarr_format=name, attributes={"path": path})
    if not nodes:
        return
    found = dict(zarr.open_group(store).members(max_depth=None))
    implied = {path.rpartition("/")[0] for path in nodes} | {
        "a" for path in nodes if "a/b/" in path
    }
    assert set(found) == set(nodes) | (implied - {""})
    for path, node in found.items():
        assert isinstance(node, zarr.Array) is nodes.get(path, False)
        if not isinstance(node, zarr.Array):
            assert dict(node.attrs) == ({"path": path} if path in nodes else {})
