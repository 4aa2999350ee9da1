"""Storage transformers between an array and its store, in the order of the metadata."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataValidationError
from zarr_core.extension import ExtensionDefinition, StorageTransformer
from zarr_core.stores.memory import MemoryStore


class Marked(MemoryStore):
    """Adds a prefix to the values of one array."""

    def __init__(self, inner, prefix, mark):
        super().__init__(inner._mapping if isinstance(inner, MemoryStore) else None)
        self.inner, self.prefix, self.mark = inner, prefix, mark

    def get(self, key):
        value = self.inner.get(key)
        if value is None or not key.startswith(self.prefix):
            return value
        assert bytes(value[:1]) == self.mark
        return bytes(value[1:])

    def set(self, key, value):
        pieces = [value] if isinstance(value, bytes | bytearray | memoryview) else value
        self.inner.set(key, [self.mark, *pieces])


class Mark(StorageTransformer):
    def __init__(self, mark, ndim):
        self.mark, self.ndim = mark, ndim

    @classmethod
    def from_definition(cls, definition):
        return cls(definition.configuration["mark"].encode(), definition.configuration.get("ndim"))

    def check(self, shape):
        if self.ndim not in (None, len(shape)):
            raise ValueError(f"for {self.ndim} dimensions")

    def transform(self, store, prefix):
        return Marked(store, prefix, self.mark)


def by(mark, **more):
    return {"name": "acme.mark", "configuration": {"mark": mark, **more}}


def through(*transformers):
    return {"metadata": {"storage_transformers": [*transformers]}}


@pytest.fixture(autouse=True)
def known():
    with zarr.override_extensions({"storage_transformer": {"acme.mark": Mark}}):
        yield


@pytest.fixture
def store():
    return MemoryStore()


def test_the_first_is_nearest_to_the_array(store):
    transformers = [by("1"), by("2")]
    array = zarr.create_array(
        store, path="a", shape=4, chunks=2, dtype="u1", compressors=[],
        **through(*transformers),
    )  # fmt: skip
    array[:3] = [7, 8, 9]
    assert store.get("a/c/0") == b"21\x07\x08"
    assert store.get("a/c/1") == b"21\x09\x00"
    assert np.array_equal(zarr.open(store, path="a")[:], [7, 8, 9, 0])
    assert store.get("a/zarr.json")[:1] == b"{"  # metadata documents are not transformed
    assert array.nchunks_initialized == 2
    array.resize(2)
    assert sorted(store.list_prefix("a/c/")) == ["a/c/0"]


def test_a_transformer_rejects_arrays_that_it_does_not_fit(store):
    zarr.create_array(store, shape=(4, 4), **through(by("x", ndim=2)))
    with pytest.raises(MetadataValidationError, match="/storage_transformers/1: for 1 dim") as it:
        zarr.create_array(MemoryStore(), shape=(4, 4), **through(by("x"), by("y", ndim=1)))
    assert [problem.pointer for problem in it.value.problems] == ["/storage_transformers/1"]


class Said(Mark):
    """A transformer that codecs can replace."""

    def as_codecs(self, metadata):
        return metadata.replace(
            codecs=(ExtensionDefinition("bytes", {"endian": self.mark.decode()}),),
            storage_transformers=metadata.storage_transformers[1:],
        )

    def transform(self, store, prefix):
        raise AssertionError("codecs say the same")


def test_codecs_report_their_own_errors(store):
    transformers = [{"name": "acme.said", "configuration": {"mark": "big"}}, by("2")]
    with zarr.override_extensions({"storage_transformer": {"acme.said": Said}}):
        array = zarr.create_array(
            store, shape=1, dtype="u2", compressors=[], **through(*transformers)
        )
        array[:] = 1
        assert store.get("c/0") == b"2\x00\x01"
        # The document is unchanged.
        assert [it.name for it in array.metadata.storage_transformers] == ["acme.said", "acme.mark"]
        assert array.codecs[0].configuration == {"endian": "little"}
        # In reverse order, the first transforms the store, and then so does the second.
        with pytest.raises(AssertionError, match="codecs say"):
            zarr.create_array(MemoryStore(), shape=1, dtype="u2", **through(*transformers[::-1]))
