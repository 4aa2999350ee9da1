"""Chunk grids with storage transformers: sharding as a codec and as a storage transformer."""

import pytest
from draft_stores import (
    DIALECT,
    EXTENSION,
    SPEC,
    TEXT,
    array_store,
    document_of,
    open_a,
    ramp,
)
from zarr_core.errors import MetadataError, StoreCapabilityError
from zarr_core.extension import ExtensionDefinition, Location, StorageTransformer
from zarr_core.registry.resolve import format_named

URIS = {
    "draft": f"{SPEC}extensions/storage_transformers/sharding/1.0",
    "draft-2021": f"{SPEC}storage_transformers/sharding/1.0",
}
ENTRIES = {"draft": TEXT, "draft-2021": DIALECT}
KEY = {"draft": "meta/a.array.json", "draft-2021": "meta/root/a.array.json"}


def sharding(*counts, uri=URIS["draft"], **changes):
    configuration = {"chunks_per_shard": list(counts)}
    return {"extension": uri, "type": "indexed", "configuration": configuration, **changes}


def sharded(name="draft", **changes):
    transformers = [sharding(2, 2, uri=URIS[name])]
    grid = {"type": "regular", "chunk_shape": [2, 2], "separator": "/"}
    given = {"storage_transformers": transformers, "chunk_grid": grid, **changes}
    return array_store(ENTRIES[name], **given)


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
