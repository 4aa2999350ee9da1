"""Locations in errors and warnings."""

import pickle

import pytest
import zarr_core as zarr
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import NodeNotFoundError
from zarr_core.extension import Location
from zarr_core.registry.resolve import create_extension
from zarr_core.stores.memory import MemoryStore


class CountingStore(MemoryStore):
    """A store that counts how often its text is created; it cannot be pickled."""

    shown = 0

    def __str__(self):
        self.shown += 1
        return "a store"

    def __reduce__(self):
        raise TypeError("cannot be pickled")


@pytest.mark.parametrize(
    ("location", "text"),
    [
        (Location("s", ""), "s '/'"),
        (Location("s", "a/b"), "s '/a/b'"),
        (Location("s", key="a/b/c"), "s 'a/b/c'"),
        (Location("s", "a").at("/codecs").at("/0"), "s '/a' at /codecs/0"),
        (Location("s", "a").document("zarr.json"), "s 'a/zarr.json'"),
        (Location("s", "").document("zarr.json"), "s 'zarr.json'"),
        (Location("new array"), "new array"),
        (Location("new array").document(".zarray"), "new array '.zarray'"),
        (Location(pointer="/codecs/0"), "/codecs/0"),
        (Location(), ""),
    ],
)
def test_text(location, text):
    assert str(location) == text


def test_the_text_is_created_only_for_an_error():
    store = CountingStore()
    group = zarr.create_group(store)
    group.create_array("a", shape=(4,), dtype="i4", attributes={"b": 1})
    zarr.open_array(store, path="a")[:] = 1
    zarr.open_group(store).attrs["c"] = 2
    assert store.shown == 0
    with pytest.raises(NodeNotFoundError, match="^a store '/b'"):
        zarr.open_array(store, path="b")
    assert store.shown


def test_an_error_can_be_pickled_if_its_store_cannot():
    with pytest.raises(NodeNotFoundError) as caught:
        zarr.open_array(CountingStore(), path="b")
    assert pickle.loads(pickle.dumps(caught.value)).location == "a store '/b'"


def test_a_location_without_store_is_relative_to_the_extension_that_is_created():
    class Outer(BytesCodec):
        @classmethod
        def from_definition(cls, definition):
            inner = ExtensionDefinition("acme.inner")
            create_extension("codec", inner, Location(pointer="/configuration/inner"))

    with (
        zarr.override_extensions({"codec": {"acme.outer": Outer}}),
        pytest.raises(zarr.errors.UnknownExtensionError) as caught,
    ):
        create_extension(
            "codec", ExtensionDefinition("acme.outer"), Location("s", "a", pointer="/codecs/0")
        )
    assert caught.value.location == "s '/a' at /codecs/0/configuration/inner"
