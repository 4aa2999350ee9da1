"""Tests for all extensions that metadata names."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import zarr_core as zarr
from zarr_core.errors import UnknownExtensionError
from zarr_core.extension import (
    ExtensionConfigurationError,
    ExtensionDefinition,
    Location,
    create_extension,
    package_schema,
)

from zarr_conformance.kit import documents
from zarr_conformance.kit.installation import check_installed
from zarr_conformance.kit.junk import junk_configurations
from zarr_conformance.kit.specification import broken_cases, cases_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zarr_core.extension import JSON, Schema


class ExtensionTests:
    """The common part of all tests; inherit from the class of your extension point instead."""

    extension_point: ClassVar[str]
    """The extension point, such as ``"codec"``."""

    name: ClassVar[str]
    """The name in the metadata."""

    configurations: ClassVar[Sequence[Mapping[str, Any]]] = ({},)
    """Configurations to test, as arguments of users."""

    bad_configurations: ClassVar[Sequence[Mapping[str, Any]]] = ()
    """Invalid configurations, in addition to those that are invalid for all extensions."""

    extension: ClassVar[type[Any] | None] = None
    """The class, if it is not installed; None to find it by its name."""

    may_be_left_out: ClassVar[bool] = False
    """Whether ``must_understand`` may be false for extensions of this extension point."""

    unknown_members = False
    """Whether a configuration may have unknown members."""

    examples = 25
    """Number of examples of each Hypothesis test."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run tests for every configuration."""
        several: dict[str, Sequence[Any]] = {
            "configuration": self.configurations,
            "bad_configuration": self.bad_configurations or (None,),
        }
        for argument, values in several.items():
            if argument in metafunc.fixturenames:
                metafunc.parametrize(argument, values, ids=[json.dumps(item) for item in values])

    @pytest.fixture(autouse=True)
    def _extension_given(self) -> Iterator[None]:
        extensions = (
            None if self.extension is None else {self.extension_point: {self.name: self.extension}}
        )
        with zarr.override_extensions(extensions):
            yield

    # --- defined by the class of each extension point ---

    def make(self, configuration: Mapping[str, Any]) -> Any:
        """The extension with a configuration."""
        definition = ExtensionDefinition(self.name, configuration)
        made = create_extension(self.extension_point, definition, Location("kit"), complete=False)
        assert made is not None
        return made

    def written(self, made: Any, configuration: Mapping[str, Any]) -> ExtensionDefinition:
        """The definition in metadata: of the extension, or for some extension points the argument."""
        if not hasattr(made, "to_definition"):
            return ExtensionDefinition(self.name, configuration)
        definition = made.to_definition()
        assert isinstance(definition, ExtensionDefinition), (
            "to_definition gives an ExtensionDefinition"
        )
        return definition

    def array(self, configuration: Mapping[str, Any]) -> zarr.Array:
        """A small array in memory that uses the extension."""
        raise TypeError(
            f"{type(self).__name__} does not inherit from the class of an extension point"
        )

    def schema(self, made: Any) -> Schema | None:
        """The schema in the package; None if there is none because nothing can be configured."""
        module = type(made).__module__
        tried = []
        while module:
            if module in sys.modules and hasattr(sys.modules[module], "__path__"):
                try:
                    return package_schema(module, self.extension_point, self.name)
                except FileNotFoundError as error:
                    tried.append(str(error.filename))
            module = module.rpartition(".")[0]
        if not any(
            self.written(self.make(each), each).configuration for each in self.configurations
        ):
            return None
        pytest.fail(
            f"the schema of the configuration is missing; write {tried[-1] if tried else 'one'}"
        )

    # --- found by name ---

    def test_is_installed(self) -> None:
        """An entry point provides the name without conflicts."""
        if self.extension is not None:
            pytest.skip("the class is given: it need not be installed")
        check_installed(self.extension_point, self.name)

    # --- configuration ---

    def test_definition_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """The definition is plain JSON and creates an equal extension."""
        made = self.make(configuration)
        definition = self.written(made, configuration)
        text = json.dumps(dict(definition.configuration), allow_nan=False)
        read = json.loads(text)
        again = create_extension(
            self.extension_point, ExtensionDefinition(definition.name, read), Location("kit")
        )
        assert type(again) is type(made) or definition.name != self.name
        assert self.written(again, read) == definition

    def test_configuration_is_preserved(self, configuration: Mapping[str, Any]) -> None:
        """The definition preserves all members of the configuration."""
        definition = self.written(self.make(configuration), configuration)
        text = json.dumps(dict(definition.configuration))
        if definition.name == self.name:
            written = json.loads(text)
            assert {name: written.get(name) for name in configuration} == dict(configuration)

    def test_schema_accepts_configuration(self, configuration: Mapping[str, Any]) -> None:
        """The schema that ships with the extension fits what the code writes.

        An extension without any configuration needs none.
        """
        made = self.make(configuration)
        definition = self.written(made, configuration)
        if definition.name != self.name or "/" in self.name:
            return  # another name's schema describes what is written; a URI names no file
        schema = self.schema(made)
        if schema is None:
            pytest.skip("there is nothing to configure, so no schema is needed")
        assert schema.problems(dict(definition.configuration)) == []

    def test_mutated_configuration_raises(self, configuration: Mapping[str, Any]) -> None:
        """Unknown members and members of a wrong type raise a configuration error."""
        complete = dict(self.written(self.make(configuration), configuration).configuration)
        refused: dict[str, bool] = dict.fromkeys(complete, False)
        for wrong in junk_configurations(complete):
            member = next(name for name in wrong if wrong[name] is not complete[name])
            refused[member] |= self._is_refused(wrong)
        assert all(refused.values()), f"anything is accepted for {refused}"
        if not self.unknown_members:
            assert self._is_refused({**complete, "no_such_member": 1}), (
                'a member "no_such_member" is accepted; '
                'say "additionalProperties": false in the schema'
            )

    def test_invalid_configuration_raises(
        self, bad_configuration: Mapping[str, Any] | None
    ) -> None:
        """Configurations in ``bad_configurations`` raise a configuration error."""
        assert bad_configuration is None or self._is_refused(bad_configuration), (
            f"{bad_configuration} is accepted"
        )

    def _is_refused(self, configuration: Mapping[str, JSON]) -> bool:
        definition = ExtensionDefinition(self.name, configuration)
        try:
            create_extension(self.extension_point, definition, Location("kit"))
        except (ExtensionConfigurationError, UnknownExtensionError):
            return True
        return False

    # --- the specification ---

    def test_specification_cases_pass(self) -> None:
        """All cases of the corpus for the name pass."""
        if not cases_of(self.extension_point, self.name):
            pytest.skip(f"there are no cases of {self.name!r} in the corpus of zarr-conformance")
        assert broken_cases(self.extension_point, self.name) == {}

    # --- metadata ---

    def test_metadata_is_preserved(self, configuration: Mapping[str, Any]) -> None:
        """Changing an attribute preserves spelling, flags and order of members."""
        store = self.array(configuration).store
        document = documents.read(store)
        name = self.written(self.make(configuration), configuration).name
        definition = documents.definition_in(document, name)
        assert definition is not None, f"nothing in the document names {name!r}"
        if name != self.name:  # an alias is read, and stays where it was read
            definition = {"name": self.name, "configuration": dict(configuration)}
        for spelling in documents.spellings(definition, self.name, self.may_be_left_out):
            changed: Any = documents.respelled(document, name, spelling)
            documents.write(store, changed)
            array = zarr.open_array(store, mode="r+")
            array.attrs["note"] = "changed"
            again = documents.read(store)
            assert json.dumps(again.pop("attributes")) == '{"note": "changed"}'
            changed.pop("attributes", None)
            assert json.dumps(again, sort_keys=False) == json.dumps(changed, sort_keys=False)
