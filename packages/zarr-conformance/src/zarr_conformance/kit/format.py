"""On-disk formats."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import strategies as st
from zarr_core.errors import ExtensionError, MetadataError
from zarr_core.extension import ArrayMetadata, GroupMetadata, Location

from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.format_case import stored
from zarr_conformance.kit.format_hierarchies import FormatHierarchyTests
from zarr_conformance.kit.installation import check_installed
from zarr_conformance.kit.junk import JUNK


class FormatTests(FormatHierarchyTests):
    """Inherit from this to test an on-disk format.

    Examples
    --------
    >>> class TestFlat(FormatTests):
    ...     name = "acme-flat"
    ...     data_types = ["int32", "float64"]
    """

    # --- found by name ---

    def test_is_installed(self) -> None:
        """An entry point provides the name of the class."""
        if self.extension is None:
            check_installed("format", self.name)
        assert self.format().name == self.name

    def test_detection_keys(self) -> None:
        """Detection keys are used in messages and to find nodes."""
        keys = self.format().detection_keys
        assert keys
        assert all(isinstance(mark, str) for mark in keys)

    # --- arrays ---

    def test_array_round_trip(self) -> None:
        """Arrays of every data type are written and read; the format is detected."""
        for named in self.data_types:
            store = zarr.MemoryStore()
            array = self.array(store, path=self._path("a"), dtype=named)
            values = np.arange(35).reshape(5, 7).astype(array.dtype)
            array[...] = values
            again = zarr.open_array(store, path=self._path("a"), mode="r+")
            assert again.dtype == array.dtype
            assert (again.shape, again.chunks) == ((5, 7), (2, 3))
            assert np.array_equal(again[...], values), named
            again[1:4, ::2] = values[1:4, ::2] = values[0, 0]
            assert np.array_equal(array[...], values), named

    def test_fill_values_are_preserved(self) -> None:
        """Elements that were not written read as the fill value."""
        store = zarr.MemoryStore()
        self.array(store, fill_value=-3)
        again = zarr.open_array(store, mode="r")
        assert again.fill_value == -3
        assert (np.asarray(again[...]) == -3).all()

    def test_resize_array(self) -> None:
        """The new shape is stored."""
        store = zarr.MemoryStore()
        array = self.array(store, fill_value=0)
        array[...] = 1
        array.resize((3, 9))
        again = zarr.open_array(store, mode="r")
        assert again.shape == (3, 9)
        assert again[...].sum() == 3 * 7

    # --- documents ---

    def test_metadata_round_trip(self) -> None:
        """Metadata that is not changed is written as it was read."""
        if not self.attributes:
            pytest.skip("nodes have no attributes")
        keys = st.text("abc/é_ ", min_size=1, max_size=4)
        leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
        items = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(keys, inner))

        def check(attributes: dict[str, Any]) -> None:
            store = zarr.MemoryStore()
            array = self.array(store, attributes=attributes)
            before = stored(store)
            read = self.format().read(store, "")
            assert isinstance(read, ArrayMetadata)
            assert dict(read.attributes) == attributes
            document = self.format().to_json(read)
            assert (
                self.format().to_json(self.format().from_json(document, Location("kit")))
                == document
            )
            self.format().write(store, "", read)
            assert stored(store) == before
            array.attrs["kit"] = 1
            again = self.format().read(store, "")
            assert again is not None
            assert dict(again.attributes) == {**attributes, "kit": 1}

        check_examples(check, st.dictionaries(keys, items, max_size=4), self.examples)

    def test_damaged_metadata_raises(self) -> None:
        """Truncated, empty or other JSON documents raise errors of the library."""
        store = zarr.MemoryStore()
        array = self.array(store)
        key = next(key for key in self.format().documents(array.path) if store.exists(key))
        good = bytes(store.get(key) or b"")
        document = json.loads(good)
        wrong = [b"", good[: len(good) // 2], good + b"}", b"\xff\xfe", b"[" * 100_000]
        wrong += [json.dumps(junk).encode() for junk in JUNK]
        for member in document:
            others = {name: value for name, value in document.items() if name != member}
            wrong.append(json.dumps(others).encode())
            wrong += [json.dumps({**document, member: junk}).encode() for junk in JUNK]
        for bad in wrong:
            store.set(key, bad)
            try:
                read = self.format().read(store, "")
            except (MetadataError, ExtensionError):
                continue
            else:
                assert read is None or isinstance(read, ArrayMetadata | GroupMetadata)
