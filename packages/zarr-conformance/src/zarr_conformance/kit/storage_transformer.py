"""Storage transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import zarr_core as zarr
from zarr_core.extension import ByteRange, ExtensionDefinition, StorageTransformer, Store, ZarrError

from zarr_conformance.kit.extension import ExtensionTests
from zarr_conformance.kit.junk import damaged

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "foo/c/"


class StorageTransformerTests(ExtensionTests):
    """Inherit from this to test a storage transformer.

    Examples
    --------
    >>> class TestSigned(StorageTransformerTests):
    ...     name = "acme.signed"
    ...     configurations = [{"key_id": "test"}]
    ...     detects_damage = True
    """

    extension_point = "storage_transformer"
    may_be_left_out = True

    shape: ClassVar[tuple[int, ...]] = (10, 7)
    """The shape of the arrays, with chunks of length 4 in each dimension."""

    detects_damage = False
    """Whether reading detects all changes of stored values."""

    def array(self, configuration: Mapping[str, Any]) -> zarr.Array:
        """A small array in memory that is stored through the transformer."""
        made = {"storage_transformers": [ExtensionDefinition(self.name, configuration)]}
        return zarr.create_array(
            shape=self.shape, chunks=4, dtype="int32", compressors=None, metadata=made
        )

    def _transformed(self, configuration: Mapping[str, Any]) -> tuple[Any, Any]:
        behind = zarr.MemoryStore()
        made = self.make(configuration)
        assert isinstance(made, StorageTransformer)
        store = made.transform(behind, PREFIX)
        assert isinstance(store, Store)
        return behind, store

    def _keys(self) -> list[str]:
        """Keys of some chunks of a store, below the prefix."""
        ndim = len(self.shape)
        return [PREFIX + "/".join(map(str, chunk)) for chunk in np.ndindex(*(2,) * ndim)]

    # --- the store that the array sees ---

    def test_chunk_value_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Values are read whole and in parts, also after they are replaced and erased."""
        _, store = self._transformed(configuration)
        keys = self._keys()
        for number, key in enumerate(keys):
            assert store.get(key) is None
            store.set(key, bytes([number]) * (number + 3))
        assert sorted(store.list_prefix(PREFIX)) == sorted(keys)
        for number, key in enumerate(keys):
            value = bytes([number]) * (number + 3)
            assert bytes(store.get(key)) == value
            assert store.exists(key)
            assert store.getsize(key) == len(value)
            (part,) = store.get_partial_values([(key, ByteRange(1, 2))])
            assert bytes(part) == value[1:3]
            (part,) = store.get_partial_values([(key, ByteRange(-2))])
            assert bytes(part) == value[-2:]
        store.set(keys[0], [b"new", b"er"])
        assert bytes(store.get(keys[0])) == b"newer"
        store.update(keys[0], lambda reader: bytes(reader.read(0, reader.size)) + b"!")
        assert bytes(store.get(keys[0])) == b"newer!"
        store.erase(keys[0])
        assert store.get(keys[0]) is None
        assert sorted(store.list_prefix(PREFIX)) == sorted(keys[1:])
        store.erase_prefix(PREFIX)
        assert list(store.list_prefix(PREFIX)) == []

    def test_other_keys_are_not_changed(self, configuration: Mapping[str, Any]) -> None:
        """Keys outside the prefix of the chunks are not changed."""
        behind, store = self._transformed(configuration)
        behind.set("foo/zarr.json", b"{}")
        behind.set("other/c/0", b"other")
        for key in self._keys():
            store.set(key, b"chunk")
        outside = {key for key in behind.list() if not key.startswith(PREFIX)}
        assert outside == {"foo/zarr.json", "other/c/0"}, "keys outside the prefix are written"
        store.erase_prefix(PREFIX)
        assert {key: bytes(behind.get(key)) for key in behind.list()} == {
            "foo/zarr.json": b"{}",
            "other/c/0": b"other",
        }

    # --- arrays ---

    def test_array_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Arrays are written and read, whole and in parts, also after they are opened again."""
        array = self.array(configuration)
        values = np.arange(array.size, dtype="int32").reshape(array.shape) + 1
        array[...] = values
        again = zarr.open_array(array.store, mode="r+")
        assert np.array_equal(again[...], values)
        part = tuple(slice(length // 3, None, 2) for length in array.shape)
        again[part] = values[part] = -7
        assert np.array_equal(array[...], values)
        assert np.array_equal(array[part], values[part])
        again[...] = 0
        assert not np.any(array[...])

    def test_damaged_value_raises(self, configuration: Mapping[str, Any]) -> None:
        """Truncated and changed values raise errors of the library or decode to elements."""
        array = self.array(configuration)
        values = np.arange(array.size, dtype="int32").reshape(array.shape) + 1
        array[...] = values
        store = array.store
        for key in [key for key in store.list() if key != "zarr.json"][:2]:
            good = store.get(key)
            assert good is not None
            for what, bad in damaged(bytes(good)):
                store.set(key, bad)
                try:
                    elements = zarr.open_array(store, mode="r")[...]
                except ZarrError:
                    continue
                assert elements.shape == values.shape, what
                assert not self.detects_damage or np.array_equal(elements, values), (
                    f"{what} is not noticed, though detects_damage"
                )
            store.set(key, good)
        assert np.array_equal(array[...], values)
