"""On-disk formats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import strategies as st
from zarr_core.extension import (
    ArrayMetadata,
    ExtensionError,
    Format,
    GroupMetadata,
    MetadataError,
    NodeExistsError,
    format_named,
)

from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.junk import JUNK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class FormatTests:
    """Inherit from this to test an on-disk format.

    Examples
    --------
    >>> class TestFlat(FormatTests):
    ...     name = "acme-flat"
    ...     data_types = ["int32", "float64"]
    """

    name: ClassVar[str]
    """The name of the format."""

    extension: ClassVar[type[Format] | None] = None
    """The class, while it is not yet installed; None to find it by its name, as users do."""

    data_types: ClassVar[Sequence[Any]] = ("bool", "int16", "uint8", "float32", "complex64")
    """Data types that the format has words for."""

    groups = True
    """Whether there are groups; otherwise a hierarchy is one array."""

    attributes = True
    """Whether nodes have attributes."""

    examples = 15
    """How many examples hypothesis tries in each test."""

    @pytest.fixture(autouse=True)
    def _extension_given(self) -> Iterator[None]:
        given = None if self.extension is None else {"format": {self.name: self.extension}}
        with zarr.extensions(given):
            yield

    def array(self, store: Any, **options: Any) -> zarr.Array:
        """A new array of the format."""
        options = {"shape": (5, 7), "chunks": (2, 3), "dtype": "int16"} | options
        return zarr.create_array(store, zarr_format=self.name, **options)

    def format(self) -> Format:
        """The format itself."""
        found = format_named(self.name)
        assert isinstance(found, Format)
        return found

    def _path(self, name: str) -> str:
        return name if self.groups else ""

    # --- found by name ---

    def test_it_is_installed(self) -> None:
        """An entry point offers the name, and the class goes by it."""
        if self.extension is None:
            lines = [
                line
                for line in zarr.installed_extensions(load=False)
                if (line.kind, line.name) == ("format", self.name)
            ]
            assert lines, f'no entry point "{self.name}" in the group zarr_core.format'
            assert any(line.wins for line in lines), f"conflict: {', '.join(map(str, lines))}"
        assert self.format().name == self.name

    def test_it_says_what_marks_a_node(self) -> None:
        """For messages, and for those who look for nodes."""
        marks = self.format().marks
        assert marks
        assert all(isinstance(mark, str) for mark in marks)

    # --- arrays ---

    def test_arrays_are_written_and_read(self) -> None:
        """Of every data type, whole and in parts, without saying which format it is."""
        for named in self.data_types:
            store = zarr.MemoryStore()
            array = self.array(store, name=self._path("a"), dtype=named)
            values = np.arange(35).reshape(5, 7).astype(array.dtype)
            array[...] = values
            again = zarr.open_array(store, path=self._path("a"), mode="r+")
            assert again.dtype == array.dtype
            assert (again.shape, again.chunks) == ((5, 7), (2, 3))
            assert np.array_equal(again[...], values), named
            again[1:4, ::2] = values[1:4, ::2] = values[0, 0]
            assert np.array_equal(array[...], values), named

    def test_fill_values_are_kept(self) -> None:
        """What was never written reads as the fill value."""
        store = zarr.MemoryStore()
        self.array(store, fill_value=-3)
        again = zarr.open_array(store, mode="r")
        assert again.fill_value == -3
        assert (np.asarray(again[...]) == -3).all()

    def test_arrays_are_resized(self) -> None:
        """The new shape is there for who opens the array later."""
        store = zarr.MemoryStore()
        array = self.array(store, fill_value=0)
        array[...] = 1
        array.resize((3, 9))
        again = zarr.open_array(store, mode="r")
        assert again.shape == (3, 9)
        assert again[...].sum() == 3 * 7

    # --- documents ---

    def test_documents_come_back_as_they_were(self) -> None:
        """What was read and not changed is written as it was."""
        if not self.attributes:
            pytest.skip("nodes have no attributes")
        keys = st.text("abc/é_ ", min_size=1, max_size=4)
        leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
        items = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(keys, inner))

        def check(attributes: dict[str, Any]) -> None:
            store = zarr.MemoryStore()
            array = self.array(store, attributes=attributes)
            before = {key: bytes(store.get(key) or b"") for key in store.list()}
            found = self.format().read(store, "")
            assert isinstance(found, ArrayMetadata)
            assert dict(found.attributes) == attributes
            document = self.format().to_json(found)
            assert self.format().to_json(self.format().from_json(document, "kit")) == document
            self.format().write(store, "", found)
            assert {key: bytes(store.get(key) or b"") for key in store.list()} == before
            array.attrs["kit"] = 1
            again = self.format().read(store, "")
            assert again is not None
            assert dict(again.attributes) == {**attributes, "kit": 1}

        check_examples(check, st.dictionaries(keys, items, max_size=4), self.examples)

    def test_damaged_documents_are_metadata_errors(self) -> None:
        """Cut, emptied, or of other JSON: never an exception of Python's own."""
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
                found = self.format().read(store, "")
            except (MetadataError, ExtensionError):
                continue
            else:
                assert found is None or isinstance(found, ArrayMetadata | GroupMetadata)

    # --- hierarchies ---

    def test_a_node_is_made_once(self) -> None:
        """Of two that make the same node, one succeeds."""
        store = zarr.MemoryStore()
        self.array(store)
        before = {key: bytes(store.get(key) or b"") for key in store.list()}
        with pytest.raises(NodeExistsError):
            self.array(store, shape=(9, 9))
        metadata = self.format().read(store, "")
        assert metadata is not None
        assert self.format().create(store, "", metadata) is False
        assert {key: bytes(store.get(key) or b"") for key in store.list()} == before

    def test_nothing_is_no_node(self) -> None:
        """An empty store has no node, and whoever asks changes nothing."""
        store = zarr.MemoryStore()
        assert self.format().read(store, "") is None
        assert list(store.list()) == []

    def test_groups_have_members(self) -> None:
        """Children are listed by name, with their attributes; a prefix is no child."""
        if not self.groups:
            pytest.skip("there are no groups")
        store = zarr.MemoryStore()
        root = zarr.create_group(store, zarr_format=self.name)
        root.create_array("b", shape=4, chunks=2, dtype="int16")[...] = 5
        inner = root.create_group("a")
        inner.create_array("c/d", shape=3, chunks=2, dtype="int16")
        again = zarr.open_group(store, mode="r+")
        paths = [path for path, _ in again.members(max_depth=None)]
        assert paths == ["a", "a/c", "a/c/d", "b"]
        assert list(self.format().child_names(store, "")) == ["a", "b"]
        if self.attributes:
            again["a"].attrs["title"] = "kit"
            assert zarr.open_group(store, path="a").attrs["title"] == "kit"

    def test_nodes_are_removed_with_all_below(self) -> None:
        """Nothing of a removed node stays behind; its neighbours do."""
        if not self.groups:
            pytest.skip("there are no groups")
        store = zarr.MemoryStore()
        root = zarr.create_group(store, zarr_format=self.name)
        root.create_array("ab", shape=2, chunks=2, dtype="int16")[...] = 1
        before = set(store.list())
        root.create_array("a/b/c", shape=4, chunks=2, dtype="int16")[...] = 5
        self.format().erase(store, "a")
        assert set(store.list()) == before

    def test_what_is_foreign_is_found(self) -> None:
        """Before a node is overwritten, keys that belong to no node are asked for."""
        store = zarr.MemoryStore()
        self.array(store)[...] = 1
        assert self.format().foreign_key(store, "") is None
        other = zarr.MemoryStore({"notes.txt": b"mine"})
        assert self.format().foreign_key(other, "") == "notes.txt"
