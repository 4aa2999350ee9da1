"""Metadata documents that are too large are rejected before they use memory."""

import json
import os
import tracemalloc
import zipfile

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    MetadataDecodeError,
    MetadataValidationError,
    NodeNotFoundError,
    ZarrError,
)
from zarr_core.extension import read_metadata
from zarr_core.interfaces.metadata_document import read_metadata_from

LIMIT = 100_000
MANY = {f"k{number}": "x" * 100 for number in range(2 * LIMIT // 100)}


@pytest.fixture
def limited():
    with zarr.config.set(max_metadata_nbytes=LIMIT):
        yield


def test_the_default_fits_many_nodes_and_no_bomb():
    limit = zarr.config.settings.max_metadata_nbytes
    assert 100_000 * 2_000 < limit < 1 << 29


def test_a_document_within_the_limit_is_read(limited):
    store = zarr.MemoryStore({"zarr.json": b"x" * LIMIT})
    assert read_metadata(store, "zarr.json") == b"x" * LIMIT
    assert read_metadata(store, "missing") is None


@pytest.mark.parametrize(
    ("zarr_format", "key", "document"),
    [
        (3, "zarr.json", {"zarr_format": 3, "node_type": "group", "attributes": MANY}),
        (2, ".zattrs", MANY),
        (2, ".zmetadata", {"zarr_consolidated_format": 1, "metadata": {".zattrs": MANY}}),
        ("n5", "attributes.json", MANY | {"n5": "4.0.0"}),
        ("v1", "attrs", MANY),
        ("draft", "meta/group.json", {"attributes": MANY}),
        ("draft", "zarr.json", MANY),
    ],
)
def test_every_format_rejects_large_documents(zarr_format, key, document, limited):
    store = zarr.MemoryStore()
    if zarr_format == "v1":
        zarr.create_array(store, shape=2, dtype="i2", zarr_format="v1")
    else:
        zarr.create_group(store, zarr_format=zarr_format)
    zarr.open(store, "r", zarr_format=zarr_format)
    store.set(key, json.dumps(document).encode())
    with pytest.raises(MetadataDecodeError, match=r"max_metadata_nbytes=\.\.\.") as refused:
        zarr.open(store, "r", zarr_format=zarr_format)
    assert f"{len(json.dumps(document)):,} bytes, more than the limit of 100,000" in str(
        refused.value
    )
    assert repr(key) in str(refused.value)


@pytest.mark.parametrize("zarr_format", [3, 2, "n5", "v1"])
def test_a_document_that_has_grown_is_not_changed(zarr_format):
    store = zarr.MemoryStore()
    node = zarr.create_array(store, shape=2, dtype="i2", zarr_format=zarr_format)
    node.attrs["text"] = "x" * 1000
    before = dict(store.list_sizes(""))
    with zarr.config.set(max_metadata_nbytes=500), pytest.raises(MetadataDecodeError):
        node.attrs["text"] = ""
    assert dict(store.list_sizes("")) == before


def test_no_limit():
    document = {"zarr_format": 3, "node_type": "group", "attributes": MANY}
    store = zarr.MemoryStore({"zarr.json": json.dumps(document).encode()})
    with zarr.config.set(max_metadata_nbytes=None):
        assert len(zarr.open_group(store, mode="r").attrs) == len(MANY)


def refused_peak(place, error=MetadataDecodeError, match="more than the limit"):
    """The peak of allocated bytes while opening the root of a store fails."""
    tracemalloc.start()
    try:
        with pytest.raises(error, match=match):
            zarr.open(place, "r")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_bomb_in_a_zip_archive_takes_no_memory(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zarr.json", b" " * 20_000_000)
    with zarr.config.set(max_metadata_nbytes=10_000_000):
        assert refused_peak(tmp_path / "bomb.zip") < 5_000_000


def test_a_sparse_file_takes_no_memory(tmp_path):
    (tmp_path / "zarr.json").touch()
    os.truncate(tmp_path / "zarr.json", 1 << 33)
    assert refused_peak(tmp_path) < 5_000_000


def test_millions_of_tiny_arrays_are_refused_before_they_are_parsed():
    document = b'{"zarr_format":3,"node_type":"group","attributes":{"a":[%s0]}}'
    for part in (b"[],", b'[{"":0}],'):
        content = document % (part * (6_000_000 // len(part)))
        store = zarr.MemoryStore({"zarr.json": content})
        assert refused_peak(store, match="too many; store their values") < 3 * len(content)
    store = zarr.MemoryStore({"zarr.json": document % (b"[1,2]," * 10_000)})
    assert len(zarr.open_group(store, mode="r").attrs["a"]) == 10_001


@pytest.mark.parametrize(
    ("member", "match"),
    [
        ({"data_type": "x" * 3_000_000}, "no data type called"),
        ({"codecs": [{"name": "x" * 3_000_000}]}, "no codec called"),
        ({"attributes": "x" * 3_000_000}, "must be an object"),
    ],
)
def test_a_message_about_a_huge_value_takes_little_memory(member, match):
    array = zarr.create_array(shape=2, dtype="i2")
    document = json.dumps({**array.metadata.to_json(), **member}).encode()
    assert refused_peak({"zarr.json": document}, ZarrError, match) < 5 * len(document)


def test_a_damaged_member_does_not_hide_the_others(limited):
    store = zarr.MemoryStore()
    root = zarr.create_group(store)
    root.create_group("large")
    root.create_array("sound", data=np.arange(3))
    store.set("large/zarr.json", b" " * 2 * LIMIT)
    assert "sound" in repr(root.tree())
    assert "large (cannot be read)" in repr(root.tree())


def test_an_open_document_is_limited_too(limited):
    store = zarr.MemoryStore({"small": b"1", "large": b"1" * (LIMIT + 1)})
    assert read_metadata_from(store.open_value("small"), "small") == b"1"
    with pytest.raises(MetadataDecodeError, match="100,001 bytes, more than"):
        read_metadata_from(store.open_value("large"), "large")


def test_large_unrelated_document_is_not_a_node(limited):
    store = zarr.MemoryStore({"zarr.json.bak": b" " * 2 * LIMIT})
    with pytest.raises(NodeNotFoundError):
        zarr.open(store, "r")


@pytest.mark.parametrize(
    ("pointer", "message", "member"),
    [
        ("/shape", "dimensions; at most 64", {"shape": [1] * 100_000}),
        ("/dimension_names", "names of dimensions; at most 64", {"dimension_names": [1] * 100_000}),
        ("/codecs", "codecs; at most 10000", {"codecs": [{"name": "a"}] * 100_000}),
        ("/storage_transformers", "at most 10000", {"storage_transformers": ["a"] * 100_000}),
        ("", "members; at most 10000", {f"k{number}": 0 for number in range(100_000)}),
    ],
)
def test_absurd_numbers_of_items_are_rejected_before_each_is_validated(pointer, message, member):
    array = zarr.create_array(shape=2, dtype="i2")
    document = json.dumps({**array.metadata.to_json(), **member}).encode()
    with pytest.raises(MetadataValidationError) as caught:
        zarr.open(zarr.MemoryStore({"zarr.json": document}))
    [problem] = caught.value.problems
    assert problem.pointer == pointer
    assert message in problem.message


def test_absurd_numbers_of_fields_are_rejected():
    fields = [{"name": f"a{number}", "data_type": "int8"} for number in range(100_001)]
    struct = {"name": "struct", "configuration": {"fields": fields}}
    array = zarr.create_array(shape=2, dtype="i2")
    version_3 = {"zarr.json": {**array.metadata.to_json(), "data_type": struct}}
    version_2 = {
        ".zarray": {
            "zarr_format": 2, "shape": [2], "chunks": [2], "order": "C", "fill_value": None,
            "dtype": [[field["name"], "|i1"] for field in fields], "compressor": None,
            "filters": None,
        }
    }  # fmt: skip
    for documents in (version_3, version_2):
        values = {key: json.dumps(document).encode() for key, document in documents.items()}
        with pytest.raises(ZarrError, match="100001 fields"):
            zarr.open(values, "r")
