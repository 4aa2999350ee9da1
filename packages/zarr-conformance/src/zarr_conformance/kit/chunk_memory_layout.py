"""Chunk memory layouts of the draft of 2022."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core as zarr
from hypothesis import strategies as st
from zarr_core.engine.chain import CodecChain
from zarr_core.extension import (
    ArrayRepresentation,
    ArrayToArrayCodec,
    ChunkMemoryLayout,
    ExtensionDefinition,
)

from zarr_conformance.kit.array_to_array import ArrayToArrayCodecTests
from zarr_conformance.kit.codec import create_data_type
from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.extension import ExtensionTests

if TYPE_CHECKING:
    from collections.abc import Mapping

_DOCUMENT = "meta/array.json"


class ChunkMemoryLayoutTests(ArrayToArrayCodecTests):
    """Inherit from this to test a memory layout of the draft; takes zarr-formats.

    What every codec from arrays to arrays promises is asked of its codec.

    Examples
    --------
    >>> class TestMortonLayout(ChunkMemoryLayoutTests):
    ...     name = "https://acme.example/layouts/morton/1.0"
    ...     configurations = [{"type": "morton"}]
    """

    extension_point = "chunk_memory_layout"
    may_be_left_out = False

    make = ExtensionTests.make
    written = ExtensionTests.written

    # Shards of the draft are written by a storage transformer, which does not use layouts.
    test_shard_round_trip = None  # type: ignore[assignment] # not a test for layouts

    def chain(self, configuration: Mapping[str, Any], serializer: Any, ndim: int) -> CodecChain:
        """The codec of the layout, followed by the bytes codec."""
        codec = self.make(configuration).codec(ndim)
        return CodecChain.of(serializer).prepend(ExtensionDefinition(self.name), codec)

    def create(
        self, configuration: Mapping[str, Any], serializer: Any, **options: Any
    ) -> zarr.Array:
        """An array of the draft in memory whose metadata names the layout."""
        made = zarr.create_array(
            zarr_format="draft", serializer=serializer, compressors=None, **options
        )
        definition = self.written(self.make(configuration), configuration)
        layout = {"extension": definition.name, **definition.configuration}
        _write(made.store, _read(made.store) | {"chunk_memory_layout": layout})
        return zarr.open_array(made.store, mode="r+")

    # --- the object ---

    def test_layout_equality(self, configuration: Mapping[str, Any]) -> None:
        """Layouts with the same configuration are equal."""
        one: Any = self.make(configuration)
        assert isinstance(one, ChunkMemoryLayout)
        assert one == self.make(configuration)
        other: object = self.name
        assert one != other

    def test_layout_permutes_elements(self, configuration: Mapping[str, Any]) -> None:
        """The codec only permutes the elements, in the same way for each call."""
        layout = self.make(configuration)
        data_type = create_data_type("int32")

        def check(shape: tuple[int, ...]) -> None:
            codec = layout.codec(len(shape))
            if codec is None:
                return
            assert isinstance(codec, ArrayToArrayCodec)
            fill_value = data_type.default_fill_value()
            decoded = ArrayRepresentation(shape, data_type, fill_value)
            representation = codec.encoded_representation(decoded)
            assert representation.data_type == data_type
            chunk = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
            encoded = np.asarray(codec.encode(chunk, decoded))
            assert sorted(encoded.reshape(-1).tolist()) == list(range(chunk.size))
            twice = np.asarray(codec.encode(chunk * 2, decoded))
            assert np.array_equal(twice, encoded * 2), "the order depends on the values"

        shapes = st.lists(st.integers(1, 6), max_size=4).map(tuple)
        check_examples(check, shapes, self.examples)

    # --- the document ---

    def test_metadata_is_preserved(self, configuration: Mapping[str, Any]) -> None:
        """Changing an attribute keeps the spelling of the layout."""
        store = self.array(configuration).store
        before = _read(store)
        before["chunk_memory_layout"] = dict(reversed(before["chunk_memory_layout"].items()))
        _write(store, before)
        zarr.open_array(store, mode="r+").attrs["note"] = "changed"
        after = _read(store)
        assert after.pop("attributes") == {"note": "changed"}
        del before["attributes"]
        assert json.dumps(after) == json.dumps(before)


def _read(store: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(bytes(store.get(_DOCUMENT)))
    return document


def _write(store: Any, document: dict[str, Any]) -> None:
    store.set(_DOCUMENT, json.dumps(document).encode())
