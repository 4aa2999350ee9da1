"""Hooks, which implement policies."""

from __future__ import annotations

import inspect
from copy import deepcopy
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import strategies as st
from zarr_core.extension import (
    ExtensionDefinition,
    Location,
    MetadataValidationError,
    create_extension,
    hookimpl,
)

from zarr_conformance.kit import documents
from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.installation import check_installed
from zarr_conformance.kit.sample_documents import check_problems, some_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_EXTENSION_POINTS = (
    "codec",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "storage_transformer",
)
(_MARK,) = vars(hookimpl(lambda: None))  # the attribute by which pluggy knows a hook


class HooksTests:
    """Inherit from this to test hooks.

    Examples
    --------
    >>> class TestRules(HooksTests):
    ...     name = "acme-rules"
    ...     accepted = [{"attributes": {"units": "m"}}]
    ...     refused = [{"attributes": {"units": ""}}]
    """

    name: ClassVar[str]
    """The name of the entry point."""

    extension: ClassVar[Any] = None
    """The class or object, if it is not installed; None to find it by its name."""

    accepted: ClassVar[Sequence[Mapping[str, Any]]] = ({},)
    """Members of the metadata of an array with one dimension that the hooks accept."""

    refused: ClassVar[Sequence[Mapping[str, Any]]] = ()
    """Members of the metadata of an array with one dimension that the hooks reject."""

    supplied: ClassVar[Sequence[tuple[str, Any]]] = ()
    """Extension points with definitions for which only the hooks supply code."""

    examples = 50
    """Number of examples of each Hypothesis test."""

    @pytest.fixture(autouse=True)
    def _hooks_given(self, plugin: object) -> Iterator[None]:
        if self.extension is None:
            yield
            return
        zarr.register_hooks(plugin)
        yield
        zarr.unregister_hooks(plugin)

    @pytest.fixture
    def plugin(self) -> object:
        """The object whose functions are hooks."""
        plugin = self.extension
        if plugin is None:
            check_installed("hooks", self.name)
            (point,) = entry_points(group="zarr_core.hooks", name=self.name)
            plugin = point.load()
        return plugin() if isinstance(plugin, type) else plugin

    # --- which hooks there are ---

    def test_is_installed(self, plugin: object) -> None:
        """All hooks and their arguments exist."""
        if self.extension is None:
            zarr.register_hooks(plugin)
            zarr.unregister_hooks(plugin)

    def test_hooks_are_marked(self, plugin: object) -> None:
        """A function that is not marked with ``hookimpl`` is never called."""
        named = [name for name in dir(plugin) if name.startswith("zarr_")]
        assert named, "there are no hooks: no name begins with zarr_"
        unmarked = [name for name in named if not hasattr(getattr(plugin, name), _MARK)]
        assert not unmarked, f"not marked with @hookimpl: {', '.join(unmarked)}"

    # --- documents ---

    def test_metadata_is_not_modified(self, plugin: object) -> None:
        """``zarr_check_metadata`` does not fail for valid metadata and does not change it."""
        for document in some_documents():
            before = deepcopy(document)
            answers = _call(
                plugin, "zarr_check_metadata", location=Location("kit"), document=document
            )
            check_problems(answers or ())
            assert document == before, "the hook changed the document"

    def test_accepted_metadata_opens(self) -> None:
        """Arrays with accepted metadata are created, written and read."""
        for members in self.accepted:
            array = zarr.open_array(self._store(members), mode="r+")
            array[...] = np.arange(7)
            assert np.array_equal(zarr.open_array(array.store)[...], np.arange(7))

    def test_rejected_metadata_raises(self) -> None:
        """Arrays with rejected metadata are neither opened nor created."""
        for members in self.refused:
            with pytest.raises(MetadataValidationError) as caught:
                zarr.open_array(self._store(members))
            check_problems(caught.value.problems)
            store = zarr.MemoryStore()
            document = documents.read(self._store(members))
            arguments = {name: document[name] for name in ("attributes", "dimension_names")
                     if name in document}  # fmt: skip
            if members.keys() <= arguments.keys():
                with pytest.raises(MetadataValidationError):
                    zarr.create_array(store, shape=7, dtype="int16", **arguments)
                assert not list(store.list()), "a document that is refused was written"

    def _store(self, members: Mapping[str, Any]) -> Any:
        store = zarr.MemoryStore()
        plain = next(document for document in some_documents() if document.get("shape") == [7])
        documents.write(store, {**plain, "dimension_names": ["x"], **members})
        return store

    # --- names ---

    def test_supplied_names_resolve(self) -> None:
        """The hooks supply code for the definitions in ``supplied``."""
        for extension_point, definition in self.supplied:
            read = ExtensionDefinition.from_json(definition)
            assert create_extension(extension_point, read, Location("kit")) is not None

    def test_other_names_are_not_supplied(self, plugin: object) -> None:
        """``zarr_supply_extension`` returns a class or None for any name, always the same."""

        def check(case: tuple[str, str, dict[str, Any]]) -> None:
            extension_point, name, configuration = case
            definition = ExtensionDefinition(name, configuration)
            ask = {"extension_point": extension_point, "definition": definition}
            answers = _call(plugin, "zarr_supply_extension", **ask)
            assert answers is None or isinstance(answers, type), f"{answers!r} is not a class"
            assert answers == _call(plugin, "zarr_supply_extension", **ask), (
                "another class each time"
            )

        known = [ExtensionDefinition.from_json(definition).name for _, definition in self.supplied]
        names = st.text(min_size=1) | st.sampled_from([*known, "gzip", "acme.x", "r7", "."])
        members = st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.text())
        check_examples(
            check, st.tuples(st.sampled_from(_EXTENSION_POINTS), names, members), self.examples
        )


def _call(plugin: object, hook: str, **arguments: Any) -> Any:
    """The result of a hook for the arguments that it accepts; None if it does not exist."""
    function = getattr(plugin, hook, None)
    if function is None:
        return None
    taken = inspect.signature(function).parameters
    return function(**{name: value for name, value in arguments.items() if name in taken})
