"""Chunk grids with storage transformers: sharding as a codec and as a storage transformer."""

import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import (
    DIALECT,
    EXTENSION,
    SPEC,
    TEXT,
    array_store,
    document_of,
    open_a,
    ramp,
    store_of,
)
from hypothesis import given
from hypothesis import strategies as st
from zarr_core.errors import MetadataError, StoreCapabilityError
from zarr_core.extension import ExtensionDefinition, Location, StorageTransformer
from zarr_core.registry.resolve import format_named

URIS = {
    "draft": f"{SPEC}extensions/storage_transformers/sharding/1.0",
    "draft-2021": f"{SPEC}storage_transformers/sharding/1.0",
}
ENTRIES = {"draft": TEXT, "draft-2021": DIALECT}
PREFIX = {"draft": "data/a/", "draft-2021": "data/root/a/"}
KEY = {"draft": "meta/a.array.json", "draft-2021": "meta/root/a.array.json"}


def sharding(*counts, uri=URIS["draft"], **changes):
    configuration = {"chunks_per_shard": list(counts)}
    return {"extension": uri, "type": "indexed", "configuration": configuration, **changes}


def sharded(name="draft", **changes):
    transformers = [sharding(2, 2, uri=URIS[name])]
    grid = {"type": "regular", "chunk_shape": [2, 2], "separator": "/"}
    given = {"storage_transformers": transformers, "chunk_grid": grid, **changes}
    return array_store(ENTRIES[name], **given)


@pytest.mark.parametrize("name", URIS)
def test_the_document_stays_that_of_a_transformer(name):
    store = sharded(name)
    before = document_of(store, KEY[name])
    array = open_a(store)
    assert [codec.name for codec in array.metadata.codecs] == ["sharding_indexed"]
    array.attrs["x"] = 1
    array.resize((8, 8))
    assert document_of(store, KEY[name]) == {**before, "attributes": {"x": 1}, "shape": [8, 8]}


@pytest.mark.parametrize("separator", "/.")
@pytest.mark.parametrize("name", URIS)
def test_new_arrays_with_shards_have_the_transformer(name, separator):
    store = store_of({}, None)
    array = zarr.create_array(
        store, path="a", data=ramp((9, 7)), chunks=(2, 3), shards=(4, 3), zarr_format=name,
        chunk_key_encoding={"name": "default", "separator": separator},
    )  # fmt: skip
    document = document_of(store, KEY[name])
    assert document["chunk_grid"]["chunk_shape"] == [2, 3]
    assert document["storage_transformers"] == [sharding(2, 1, uri=URIS[name])]
    assert {key for key in store.list() if key.startswith("data")} == {
        f"{PREFIX[name]}c{i}{separator}{j}" for i in range(3) for j in range(3)
    }
    for found in (array, open_a(store)):
        assert (found.chunks, found.shards) == ((2, 3), (4, 3))
        assert found[...].tolist() == ramp((9, 7)).tolist()


@pytest.mark.parametrize(
    "uri",
    [
        *URIS.values(),
        f"{SPEC}extensions/storage-transformers/sharding/1.0",
        f"{URIS['draft'][:-1]}5",
    ],
)
def test_all_uris_of_sharding_are_read(uri):
    for name in URIS:
        store = sharded(name, storage_transformers=[sharding(2, 2, uri=uri)])
        assert open_a(store).shards == (4, 4)


class Passing(StorageTransformer):
    @classmethod
    def from_definition(cls, definition):
        assert dict(definition.configuration) == {"type": "x", "level": 1}
        return cls()

    def transform(self, store, prefix):
        return store


def test_sharding_behind_another_transformer_is_not_supported():
    other = {"extension": EXTENSION, "type": "x", "configuration": {"level": 1}}
    store = sharded(storage_transformers=[other, sharding(2, 2)])
    with pytest.raises(StoreCapabilityError, match="behind another storage transformer"):
        open_a(store, extensions={"storage_transformer": {EXTENSION: Passing}})
    document = document_of(store, KEY["draft"])
    metadata = format_named("draft").from_json({"array": document}, Location("test"))
    assert [item.name for item in metadata.storage_transformers] == [EXTENSION, "sharding"]
    assert format_named("draft").to_json(metadata)["array"] == document


def test_transformers_behind_sharding_stay():
    store = sharded(storage_transformers=[sharding(2, 2), sharding(1, 2)])
    array = open_a(store)
    assert array.metadata.chunk_grid.configuration == {"chunk_shape": [4, 4]}
    array[...] = ramp((4, 6)) + 1
    assert [key for key in store.list() if key.startswith("data")] == ["data/a/c0/0"]
    assert open_a(store)[...].tolist() == (ramp((4, 6)) + 1).tolist()
    format_ = format_named("draft")
    again = format_.to_format(array.metadata, Location("test"))
    assert again == array.metadata
    assert format_.to_json(again)["array"]["storage_transformers"] == [
        sharding(2, 2), sharding(1, 2),
    ]  # fmt: skip


def test_under_an_extension_layout_sharding_is_a_transformer():
    layout = {"extension": EXTENSION, "type": "z"}
    store = sharded(chunk_memory_layout=layout)
    format_ = format_named("draft")
    document = document_of(store, KEY["draft"])
    metadata = format_.from_json({"array": document}, Location("test"))
    assert [item.name for item in metadata.storage_transformers] == ["sharding"]
    written = format_.to_json(metadata.replace(document=None))["array"]
    assert {**document, "codecs": []} == {"codecs": [], **written}


@pytest.mark.parametrize("counts", [[], [1]])
def test_zarr_python_counts_without_dimensions(counts):
    grid = {"type": "regular", "chunk_shape": [], "separator": "/"}
    store = sharded(
        "draft-2021", shape=[], chunk_grid=grid,
        storage_transformers=[sharding(*counts, uri=URIS["draft-2021"])],
    )  # fmt: skip
    open_a(store)[...] = 5
    assert bytes(store.get("data/root/a/c0")) == (5).to_bytes(4, "little") + bytes(8) + (
        4
    ).to_bytes(8, "little")
    assert open_a(store)[...] == 5


def test_zarr_python_counts_only_the_first_dimensions():
    """The dimensions of a subarray data type are the last, and are omitted."""
    store = sharded("draft-2021", storage_transformers=[sharding(2, uri=URIS["draft-2021"])])
    assert open_a(store).shards == (4, 2)


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(1, 3), st.integers(1, 3)), max_size=3),
    st.sampled_from(["draft", "draft-2021"]),
    st.booleans(),
)
def test_codec_and_transformer_read_the_same(dimensions, name, written_by_codec):
    shape, chunk, counts = ([item[n] for item in dimensions] for n in range(3))
    grid = {"type": "regular", "chunk_shape": chunk, "separator": "/"}
    document = document_of(
        sharded(
            name, shape=shape, chunk_grid=grid,
            storage_transformers=[sharding(*counts, uri=URIS[name])],
        ),
        KEY[name],
    )  # fmt: skip
    format_ = format_named(name)
    by_codec = format_.from_json({"array": document}, Location("test"))
    plain = {key: value for key, value in document.items() if key != "storage_transformers"}
    transformer = ExtensionDefinition("sharding", {"type": "indexed", "chunks_per_shard": counts})
    by_transformer = format_.from_json({"array": plain}, Location("test")).replace(
        storage_transformers=(transformer,), document=None
    )
    from zarr_core.engine.resolved_metadata import resolve_metadata
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.selection import parse

    store = store_of({}, None)
    values = ramp(shape) + 1
    metadata = (by_codec, by_transformer) if written_by_codec else (by_transformer, by_codec)
    writer, reader = (
        StoredArray(store, "a", format_, item, resolve_metadata(item, Location("test")))
        for item in metadata
    )
    everything = parse.basic((), tuple(shape))
    writer.write(everything.selection, everything.broadcast(values))
    found = np.empty(shape, "i4")
    reader.read(everything.selection, found)
    assert found.tolist() == values.tolist()


def test_an_index_with_checksum_is_rejected():
    codec = ExtensionDefinition(
        "sharding_indexed",
        {
            "chunk_shape": [2, 2],
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [
                {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"},
            ],
        },
    )  # fmt: skip
    format_ = format_named("draft")
    metadata = open_a(array_store()).metadata.replace(
        codecs=(codec,), chunk_grid=ExtensionDefinition("regular", {"chunk_shape": [4, 4]})
    )
    with pytest.raises(MetadataError, match="without checksum"):
        format_.to_json(metadata)
    beside = metadata.replace(codecs=(codec, ExtensionDefinition("gzip", {"level": 1})))
    with pytest.raises(MetadataError, match="must be the only codec"):
        format_.to_json(beside)
    expressed = format_.to_format(metadata, Location("test"))
    assert expressed.codecs[0].configuration["index_codecs"] == [
        {"name": "bytes", "configuration": {"endian": "little"}}
    ]
