"""Extensions of hierarchies and arrays: those of the list, memory layouts, chunk grids."""

import numpy as np
import pytest
from draft_stores import (
    DIALECT,
    EXTENSION,
    TEXT,
    array_store,
    document_of,
    metadata_of,
    open_a,
    ramp,
)
from zarr_core.errors import MetadataValidationError, UnknownExtensionError
from zarr_core.extension import (
    ArrayToArrayCodec,
    ChunkGrid,
    ChunkMemoryLayout,
    Location,
    MetadataExtension,
    ValidationProblem,
)
from zarr_core.registry.resolve import format_named

STORES = {
    "entry point": lambda *extensions: array_store({**TEXT, "extensions": [*extensions]}),
    "entry point of 2021": lambda *extensions: array_store(
        {**DIALECT, "extensions": [*extensions]}
    ),
    "array": lambda *extensions: array_store(extensions=[*extensions]),
    "array of 2021": lambda *extensions: array_store(DIALECT, extensions=[*extensions]),
}
IGNORED = {"extension": EXTENSION, "must_understand": False, "configuration": {"foo": "bar"}}

everywhere = pytest.mark.parametrize("store_with", STORES.values(), ids=STORES)


@everywhere
def test_an_extension_that_need_not_be_understood_is_ignored_and_kept(store_with):
    array = open_a(store_with(IGNORED))
    array[...] = 1
    array.attrs["y"] = 2
    documents = [document_of(array.store, key) for key in array.store.list() if "json" in key]
    assert [IGNORED] in [document["extensions"] for document in documents]


@pytest.mark.parametrize("place", ["entry point", "array"])
def test_an_extension_is_there_once(place):
    with pytest.raises(MetadataValidationError, match="/extensions/1: is a duplicate"):
        open_a(STORES[place](IGNORED, IGNORED))


class Known(MetadataExtension):
    """Expects one configuration, and in the document of an array a shape."""

    @classmethod
    def from_definition(cls, definition):
        made = cls()
        made.configuration = dict(definition.configuration)
        return made

    def check(self, document):
        right = self.configuration == {"foo": "bar"} and document.get("shape", [4, 6]) == [4, 6]
        return [] if right else [ValidationProblem("/extensions", "is not as it should be")]


@everywhere
@pytest.mark.parametrize("must", [True, False])
def test_an_extension_that_is_known_by_its_uri_is_asked(store_with, must):
    given = {"extensions": {"extension": {EXTENSION: Known}}}
    extension = {**IGNORED, "must_understand": must}
    assert open_a(store_with(extension), **given).shape == (4, 6)
    with pytest.raises(MetadataValidationError, match="not as it should be"):
        open_a(store_with({**extension, "configuration": {"foo": "baz"}}), **given)


@pytest.mark.parametrize("configuration", [1, None, [], "x", {"must_understand": 3}, {}])
def test_configurations_of_extensions_are_any_json(configuration):
    extension = {"extension": EXTENSION, "must_understand": False, "configuration": configuration}
    metadata = metadata_of(extensions=[extension])
    rewritten = format_named("draft").to_format(metadata, Location("test"))
    assert rewritten.additional_fields == metadata.additional_fields


class Turned(ArrayToArrayCodec):
    def encoded_representation(self, decoded):
        return decoded

    def encode(self, array, decoded):
        return np.ascontiguousarray(array[::-1])

    def decode(self, array, decoded):
        return array[::-1]


class Upside(ChunkMemoryLayout):
    @classmethod
    def from_definition(cls, definition):
        assert dict(definition.configuration) == {"type": "turned", "far": True}
        return cls()

    def to_definition(self):
        raise AssertionError("nobody asks")

    def codec(self, ndim):
        assert ndim == 2
        return Turned()


def test_memory_layouts_of_extensions():
    layout = {"extension": EXTENSION, "type": "turned", "far": True}
    store = array_store(chunk_memory_layout=layout)
    with pytest.raises(UnknownExtensionError, match=EXTENSION):
        open_a(store)
    array = open_a(store, extensions={"chunk_memory_layout": {EXTENSION: Upside}})
    array[...] = ramp((4, 6))
    assert array[...].tolist() == ramp((4, 6)).tolist()
    stored = np.frombuffer(store.get("data/a/c0/0"), "<i4").reshape(2, 3)
    assert stored.tolist() == [[6, 7, 8], [0, 1, 2]]
    array.attrs["x"] = 1
    assert document_of(store, "meta/a.array.json")["chunk_memory_layout"] == layout


def test_chunk_grids_of_extensions():
    grid = {"extension": EXTENSION, "type": "columns", "separator": "."}
    store = array_store(chunk_grid=grid)
    with pytest.raises(UnknownExtensionError, match=EXTENSION):
        open_a(store)
    from zarr_core.chunk_grids import RegularGrid

    class Columns(RegularGrid):
        @classmethod
        def from_definition(cls, definition):
            assert dict(definition.configuration) == {"type": "columns", "separator": "."}
            return cls((4, 1))

    array = open_a(store, extensions={"chunk_grid": {EXTENSION: Columns}})
    assert issubclass(Columns, ChunkGrid)
    array[...] = ramp((4, 6))
    assert store.get("data/a/c0.5")
    array.attrs["x"] = 1
    assert document_of(store, "meta/a.array.json")["chunk_grid"] == grid
