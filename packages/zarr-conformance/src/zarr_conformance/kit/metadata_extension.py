"""Additional fields of metadata."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.extension import MetadataExtension, MetadataValidationError, update_additional_fields

from zarr_conformance.kit import documents
from zarr_conformance.kit.extension import ExtensionTests
from zarr_conformance.kit.sample_documents import check_problems, some_documents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class MetadataExtensionTests(ExtensionTests):
    """Inherit from this to test a member of metadata that the specification does not define.

    A configuration is the member, without its ``must_understand``.

    Examples
    --------
    >>> class TestAxes(MetadataExtensionTests):
    ...     name = "acme.axes"
    ...     configurations = [{"start": [0, 0], "step": [1, 0.5]}]
    ...     nodes = ["array"]
    ...     contradictions = [({"start": [0], "step": [1]}, {"shape": (4, 3)})]
    """

    extension_point = "extension"
    may_be_left_out = True

    nodes: ClassVar[Sequence[Literal["array", "group"]]] = ("array", "group")
    """Types of nodes that can have the field; it is rejected for others."""

    arguments: ClassVar[Mapping[str, Any]] = {"shape": (4, 3), "dtype": "int16"}
    """Arguments of ``create_array`` for an array that is valid with the configurations."""

    contradictions: ClassVar[Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]] = ()
    """Valid fields, each with the arguments of an array for which it is invalid."""

    def array(self, configuration: Mapping[str, Any]) -> Any:
        """A small array in memory with the field; a group, if arrays cannot have it."""
        node = self._node(self.nodes[0])
        update_additional_fields(node, {self.name: {**configuration}})
        return node

    def _node(self, node_type: str) -> Any:
        if node_type == "group":
            return zarr.create_group()
        return zarr.create_array(**{"compressors": None, **self.arguments})

    # --- the object ---

    def test_metadata_is_not_modified(self, configuration: Mapping[str, Any]) -> None:
        """``check`` returns a list of problems for any valid metadata, and does not change it."""
        made = self.make(configuration)
        assert isinstance(made, MetadataExtension)
        for document in some_documents():
            document[self.name] = {**configuration}
            before = deepcopy(document)
            problems = made.check(document)
            assert document == before, "check changed the document"
            assert isinstance(problems, list), f"check returned {problems!r}, which is not a list"
            check_problems(problems)

    def test_inapplicable_node_raises(self, configuration: Mapping[str, Any]) -> None:
        """A field for arrays is rejected for groups, and vice versa."""
        made = self.make(configuration)
        for document in some_documents():
            if document["node_type"] not in self.nodes:
                problems = made.check({**document, self.name: {**configuration}})
                assert problems, f"nothing is wrong with it in a {document['node_type']}"

    # --- nodes ---

    def test_nodes_with_extension_open(self, configuration: Mapping[str, Any]) -> None:
        """The field is written and read for both values of ``must_understand``."""
        for node_type in self.nodes:
            for flag in ({}, {"must_understand": False}, {"must_understand": True}):
                member = {**configuration, **flag}
                node = self._node(node_type)
                update_additional_fields(node, {self.name: member})
                again = zarr.open(node.store, mode="r")
                assert again.metadata.additional_fields == {self.name: member}

    def test_elements_are_unchanged(self, configuration: Mapping[str, Any]) -> None:
        """The chunks of arrays with and without the field are equal."""
        if "array" not in self.nodes:
            return
        plain, array = self._node("array"), self.array(configuration)
        values = np.arange(array.size).reshape(array.shape).astype(array.dtype)
        plain[...] = array[...] = values
        assert np.array_equal(zarr.open_array(array.store)[...], values)
        chunks = {key for key in plain.store.list() if key != documents.DOCUMENT}
        assert chunks == {key for key in array.store.list() if key != documents.DOCUMENT}
        assert all(bytes(plain.store.get(key)) == bytes(array.store.get(key)) for key in chunks)

    def test_contradictory_metadata_raises(self) -> None:
        """A field that contradicts the array raises, and nothing is written."""
        for member, arguments in self.contradictions:
            array = zarr.create_array(**{**self.arguments, **arguments})
            before = documents.read(array.store)
            with pytest.raises(MetadataValidationError) as caught:
                update_additional_fields(array, {self.name: {**member}})
            check_problems(caught.value.problems)
            assert documents.read(array.store) == before

    def test_metadata_is_preserved(self, configuration: Mapping[str, Any]) -> None:
        """Changing an attribute preserves flags and order of members."""
        for node_type in self.nodes:
            for flag in ({}, {"must_understand": False}, {"must_understand": True}):
                node = self._node(node_type)
                member = dict(reversed({**configuration, **flag}.items()))
                changed = {self.name: member, **documents.read(node.store)}
                documents.write(node.store, changed)
                zarr.open(node.store, mode="r+").attrs["note"] = "changed"
                again = documents.read(node.store)
                assert json.dumps(again.pop("attributes")) == '{"note": "changed"}'
                changed.pop("attributes", None)
                assert json.dumps(again) == json.dumps(changed)
