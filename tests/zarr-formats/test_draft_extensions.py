"""Extensions of arrays: those of the list, memory layouts, chunk grids."""

import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import EXTENSION, array_store, document_of, metadata_of, open_a, ramp
from zarr_core.errors import MetadataValidationError, UnknownExtensionError
from zarr_core.extension import (
    ArrayToArrayCodec,
    ChunkGrid,
    ChunkMemoryLayout,
    Location,
    MetadataExtension,
    ValidationProblem,
)
from zarr_core.formats.lookup import format_named


def test_an_extension_that_need_not_be_understood_is_ignored_and_kept():
    extension = {"extension": EXTENSION, "must_understand": False, "configuration": {"x": 1}}
    array = open_a(array_store(extensions=[extension]))
    array[...] = 1
    array.attrs["y"] = 2
    assert document_of(array.store, "meta/a.array.json")["extensions"] == [extension]


def test_an_extension_that_must_be_understood_is_rejected():
    store = array_store(extensions=[{"extension": EXTENSION, "must_understand": True}])
    with pytest.raises(UnknownExtensionError, match=EXTENSION):
        open_a(store)
    assert sorted(zarr.open_group(store)) == ["a"]


class Known(MetadataExtension):
    @classmethod
    def from_definition(cls, definition):
        made = cls()
        made.configuration = dict(definition.configuration)
        return made

    def check(self, document):
        right = self.configuration == {"x": 1} and document["shape"] == [4, 6]
        return [] if right else [ValidationProblem("", "is not as it should be")]


@pytest.mark.parametrize("must", [True, False])
def test_an_extension_that_is_known_by_its_uri_is_asked(must):
    given = {"extensions": {"extension": {EXTENSION: Known}}}
    extension = {"extension": EXTENSION, "must_understand": must, "configuration": {"x": 1}}
    assert open_a(array_store(extensions=[extension]), **given).shape == (4, 6)
    extension["configuration"] = {"x": 2}
    with pytest.raises(MetadataValidationError, match="not as it should be"):
        open_a(array_store(extensions=[extension]), **given)


@pytest.mark.parametrize("configuration", [1, None, [], "x", {"must_understand": 3}, {}])
def test_configurations_of_extensions_are_any_json(configuration):
    extension = {"extension": EXTENSION, "must_understand": False, "configuration": configuration}
    metadata = metadata_of(extensions=[extension])
    rewritten = format_named("draft").to_format(metadata, Location("test"))
    assert rewritten.additional_fields == metadata.additional_fields


def test_two_extensions_of_one_name_are_rejected():
    extension = {"extension": EXTENSION, "must_understand": False}
    with pytest.raises(MetadataValidationError, match="/extensions/1: is a duplicate"):
        open_a(array_store(extensions=[extension, extension]))


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
