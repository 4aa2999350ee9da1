"""Metadata documents and chunk keys of N5."""

import json

import pytest
from zarr_core.errors import MetadataValidationError
from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    GroupMetadata,
    Location,
)
from zarr_formats.n5.chunk_keys import N5Encoding
from zarr_formats.n5.compression import codec_of, compression_of
from zarr_formats.n5.format import N5

DOCUMENT = {
    "mine": {"deep": [1, 2.5]},
    "dataType": "uint16",
    "dimensions": [3, 4, 5],
    "compression": {"type": "gzip", "level": -1},
    "blockSize": [1, 2, 3],
    "n5": "1.0.0",
}


def read(document):
    return N5().from_json({"attributes.json": document}, Location("here"))


def written(metadata):
    return N5().to_json(metadata)["attributes.json"]


@pytest.mark.parametrize(
    "document",
    [
        DOCUMENT,
        DOCUMENT | {"compression": {"type": "lz4", "id": "lz4", "acceleration": 1}},
        DOCUMENT | {"compression": {"type": "raw", "what": "ever"}, "compressionType": "gzip"},
        {key: DOCUMENT[key] for key in ("dimensions", "blockSize", "dataType")}
        | {"compressionType": "bzip2"},
        DOCUMENT | {"compression": {"type": "jpeg", "quality": 90}},
        DOCUMENT | {"axes": ["x", "", "z"]},
        DOCUMENT | {"axes": "no list"},
        DOCUMENT | {"dataType": "bool"},
        {"a": 1, "n5": "4.0.0", "b": float("inf")},
        {"dimensions": "an attribute of a group"},
        {},
    ],
)
def test_unchanged_metadata_is_preserved(document):
    metadata = read(document)
    assert json.dumps(written(metadata)) == json.dumps(document)
    changed = metadata.replace(attributes=metadata.attributes | {"new": 1})
    assert json.dumps(written(changed)) == json.dumps({**document, "new": 1})
    emptied = written(metadata.replace(attributes={}))
    kept = set(document) - set(metadata.attributes)
    assert emptied == {key: document[key] for key in document if key in kept}
    if isinstance(metadata, ArrayMetadata):
        grown = written(metadata.replace(shape=(7, 8, 9)))
        assert json.dumps(grown) == json.dumps(document | {"dimensions": [9, 8, 7]})


def test_a_group_without_a_document_has_none_until_it_has_attributes():
    group = N5().from_json({}, Location("here"))
    assert group == GroupMetadata()
    assert N5().to_json(group) == {}
    assert N5().to_json(group.replace(attributes={"a": 1})) == {"attributes.json": {"a": 1}}
    assert N5().to_json(GroupMetadata()) == {"attributes.json": {}}


def test_names_of_dimensions_are_labels():
    assert read(DOCUMENT | {"axes": ["x", "", "z"]}).dimension_names == ("z", None, "x")
    for axes in (["x", "y"], ["", "", ""], ["x", 1, "z"], "xyz", None):
        assert read(DOCUMENT | {"axes": axes}).dimension_names is None
    named = read(DOCUMENT).replace(dimension_names=("z", None, "x"))
    assert written(named)["axes"] == ["x", "", "z"]
    # The attribute is equivalent.
    other = read(DOCUMENT | {"axes": ["x", "", "z"]})
    renamed = written(other.replace(attributes={"axes": ["a", "b", "c"]}))
    assert renamed["axes"] == ["a", "b", "c"]
    with pytest.raises(MetadataValidationError, match="axes"):
        written(
            read(DOCUMENT).replace(
                document=None, dimension_names=("a", "b", "c"), attributes={"axes": ["x", "y", "z"]}
            )
        )


@pytest.mark.parametrize(
    ("compression", "name", "configuration"),
    [
        ({"type": "gzip"}, "gzip", {"level": 6}),
        ({"type": "gzip", "level": 0, "useZlib": False}, "gzip", {"level": 0}),
        ({"type": "gzip", "level": 2, "useZlib": True}, "numcodecs.zlib", {"level": 2}),
        ({"type": "bzip2"}, "numcodecs.bz2", {"level": 9}),
        ({"type": "bzip2", "blockSize": 3}, "numcodecs.bz2", {"level": 3}),
        ({"type": "xz"}, "numcodecs.lzma",
         {"format": 1, "check": -1, "preset": 6, "filters": None}),
        ({"type": "lzma", "format": 2, "check": -1, "preset": 1, "filters": None},
         "numcodecs.lzma", {"format": 2, "check": -1, "preset": 1, "filters": None}),
        ({"type": "lz4"}, "n5.lz4", {"blockSize": 65536}),
        ({"type": "lz4", "blockSize": 128}, "n5.lz4", {"blockSize": 128}),
        ({"type": "lz4", "id": "lz4", "acceleration": 3}, "n5.lz4", {"acceleration": 3}),
        ({"type": "zstd"}, "zstd", {"level": 3, "checksum": False}),
        ({"type": "zstd", "id": "zstd", "level": 1, "checksum": True}, "zstd",
         {"level": 1, "checksum": True}),
        ({"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "nthreads": 4}, "blosc",
         {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0}),
        ({"type": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 2, "blocksize": 64}, "blosc",
         {"cname": "zstd", "clevel": 5, "shuffle": "bitshuffle", "typesize": 2, "blocksize": 64}),
        ({"type": "jpeg", "quality": 90}, "n5.jpeg", {"quality": 90}),
        ({"type": "snappy", "id": "snappy"}, "numcodecs.snappy", {}),
    ],
)  # fmt: skip
def test_compressions_are_codecs(compression, name, configuration):
    assert read(DOCUMENT | {"compression": compression})
    assert codec_of(compression, 2) == ExtensionDefinition(name, configuration)


def test_types_of_one_byte_are_shuffled_by_bits_if_that_is_left_open():
    compression = {"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1}
    assert codec_of(compression, 1).configuration["shuffle"] == "bitshuffle"


@pytest.mark.parametrize(
    ("codec", "compression"),
    [
        (None, {"type": "raw"}),
        (("gzip", {"level": 2}), {"type": "gzip", "level": 2, "useZlib": False}),
        (("numcodecs.gzip", {"level": 2}), {"type": "gzip", "level": 2, "useZlib": False}),
        (("numcodecs.zlib", {"level": 2}), {"type": "gzip", "level": 2, "useZlib": True}),
        (("numcodecs.bz2", {"level": 2}), {"type": "bzip2", "blockSize": 2}),
        (("numcodecs.lzma", {"preset": 2}), {"type": "xz", "preset": 2}),
        (("numcodecs.lzma", {"preset": None, "check": 4}), {"type": "xz", "preset": 6}),
        (("numcodecs.lz4", {"acceleration": 1}), {"type": "lz4", "blockSize": 65536}),
        (("n5.lz4", {"acceleration": 1}), {"type": "lz4", "id": "lz4", "acceleration": 1}),
        (("zstd", {"level": 3, "checksum": True}), {"type": "zstd", "level": 3}),
        (("blosc", {"cname": "lz4", "clevel": 1, "shuffle": "bitshuffle", "blocksize": 0}),
         {"type": "blosc", "cname": "lz4", "clevel": 1, "shuffle": 2, "blocksize": 0}),
        (("n5.jpeg", {"quality": 90}), {"type": "jpeg", "quality": 90}),
    ],
)  # fmt: skip
def test_codecs_are_compressions(codec, compression):
    assert compression_of(codec and ExtensionDefinition(*codec)) == compression


@pytest.mark.parametrize(
    "codec",
    [("crc32c", {}), ("numcodecs.lzma", {"format": 3}), ("numcodecs.lzma", {"check": 0}),
     ("n5.block", {}), ("numcodecs.shuffle", {"elementsize": 2})],
)  # fmt: skip
def test_codecs_that_n5_does_not_have(codec):
    with pytest.raises(ValueError, match="N5 does not support the compressor"):
        compression_of(ExtensionDefinition(*codec))


def test_blocks_are_reported_without_their_codecs():
    blocks = read(DOCUMENT).replace(document=None, codecs=(ExtensionDefinition("n5.block"),))
    assert written(blocks)["compression"] == {"type": "raw"}


@pytest.mark.parametrize(
    "document", [None, [], "x", {"attributes.json": []}, {"attributes.json": None}]
)
def test_metadata_keys_of_no_node(document):
    with pytest.raises(MetadataValidationError, match="must be an object"):
        N5().from_json(document, Location("here"))


@pytest.mark.parametrize(
    ("chunk", "key"), [((), "0"), ((7,), "7"), ((1, 23, 45), "45/23/1"), ((0, 0), "0/0")]
)
def test_keys(chunk, key):
    assert N5Encoding().encode(chunk) == key
    assert N5Encoding().decode(key, len(chunk)) == chunk
