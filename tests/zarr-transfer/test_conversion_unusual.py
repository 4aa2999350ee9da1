"""Stores that cannot list, unknown extensions, and concurrent writers."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from unlisted_store import UnlistedStore
from zarr_core.errors import NodeExistsError
from zarr_core.extension import ExtensionDefinition, StorageTransformer, Store
from zarr_transfer import ConversionError, convert

VALUES = np.arange(1, 31).reshape(5, 6)


@pytest.mark.parametrize("options", [{}, {"chunks": (3, 3)}])
def test_arrays_in_stores_that_cannot_list(options):
    source, dest = UnlistedStore(), UnlistedStore()
    array = zarr.create_array(source, shape=VALUES.shape, chunks=(2, 2), dtype="i8", fill_value=7)
    array[2:, 2:] = VALUES[2:, 2:]
    (step,) = convert(source, dest, **options).steps
    assert step.cost == ("recode" if options else "copy")
    assert np.array_equal(zarr.open(dest)[...], array[...])


class Suffix(StorageTransformer):
    """Stores each value under another key."""

    @classmethod
    def from_definition(cls, definition):
        return cls()

    def to_definition(self):
        return ExtensionDefinition("acme.suffix")

    def transform(self, store, prefix):
        return Suffixed(store, prefix)


class Suffixed(Store):
    def __init__(self, inner, prefix):
        self.inner = inner
        self.prefix = prefix

    def get(self, key):
        return self.inner.get(f"{key}.x")

    def set(self, key, value):
        self.inner.set(f"{key}.x", value)

    def erase(self, key):
        self.inner.erase(f"{key}.x")

    def list_prefix(self, prefix):
        return (key.removesuffix(".x") for key in self.inner.list_prefix(prefix))


def test_storage_transformers_that_codecs_cannot_replace():
    source, code = zarr.MemoryStore(), {"storage_transformer": {"acme.suffix": Suffix}}
    with zarr.override_extensions(code):
        zarr.create_array(
            source, data=VALUES, chunks=2, metadata={"storage_transformers": ["acme.suffix"]}
        )
        assert source.exists("c/0/0.x")
        same, others, older = (zarr.MemoryStore() for _ in range(3))
        assert convert(source, same).cost == "copy"
        assert sorted(same.list()) == sorted(source.list())
        assert convert(source, others, chunk_key_encoding="v2").cost == "recode"
        assert convert(source, older, zarr_format=2).cost == "recode"
        for dest in (same, others, older):
            assert np.array_equal(zarr.open(dest)[...], VALUES)
    assert convert(source, zarr.MemoryStore()).cost == "copy"  # must_understand is false
    with pytest.raises(ConversionError, match=r"acme\.suffix"):
        convert(source, zarr.MemoryStore(), zarr_format=2)


def test_chunks_with_unknown_codecs_are_copied_and_not_decoded():
    source = zarr.MemoryStore()
    zarr.create_array(source, data=VALUES, compressors="zstd")
    source.set("zarr.json", bytes(source.get("zarr.json")).replace(b'"zstd"', b'"acme.unknown"'))
    for options in ({"zarr_format": 2}, {"chunks": 2}):
        with pytest.raises(ConversionError, match=r"acme\.unknown"):
            convert(source, zarr.MemoryStore(), **options)
    assert convert(source, dest := zarr.MemoryStore()).cost == "copy"
    assert {key: bytes(dest.get(key)) for key in dest.list()} == {
        key: bytes(source.get(key)) for key in source.list()
    }
    done = convert(source, zarr.MemoryStore(), chunk_key_encoding="v2")
    assert done.cost == "copy"
    assert "not checked, since it cannot be opened" in done.steps[0].notes[0]


@pytest.mark.filterwarnings("ignore:.*must_understand is false:UserWarning")
def test_codecs_that_need_not_be_understood_are_copied_not_decoded():
    source = zarr.MemoryStore()
    zarr.create_array(source, data=VALUES, compressors=None)
    document = json.loads(bytes(source.get("zarr.json")))
    document["codecs"].append({"name": "acme.hint", "must_understand": False})
    source.set("zarr.json", json.dumps(document).encode())
    dest = zarr.MemoryStore()
    convert(source, dest, chunk_key_encoding="v2")
    assert np.array_equal(zarr.open(dest)[...], VALUES)
    with pytest.raises(ConversionError, match=r"unknown extensions: acme\.hint"):
        convert(source, zarr.MemoryStore(), chunks=(1, 1))


class Raced(zarr.MemoryStore):
    """A store in which another writer creates the same node while chunks are written."""

    def set(self, key, value):
        super().set(key, value)
        if key == "c/0/0" and self.get("zarr.json") is None:
            zarr.create_array(zarr.MemoryStore(other := {}), shape=3, dtype="i1")
            super().set("zarr.json", other["zarr.json"])


def test_a_node_that_somebody_else_has_made_meanwhile_stays():
    source, dest = zarr.MemoryStore(), Raced()
    zarr.create_array(source, data=VALUES)
    with pytest.raises(NodeExistsError, match="another writer"):
        convert(source, dest)
    assert zarr.open(dest).shape == (3,)


@pytest.mark.parametrize(
    "options", [{"chunks": (4, 4)}, {"zarr_format": 2, "chunks": 5}, {"compressors": None}, {}]
)
def test_chunks_of_differing_lengths(options):
    values = np.arange(70.0).reshape(10, 7)
    old = zarr.create_array(None, data=values, chunks=[[1, 4, 5], [3, 4]])
    done = convert(old, target := zarr.MemoryStore(), **options)
    assert done.cost == ("recode" if options else "copy")
    assert (zarr.open(target)[...] == values).all()
