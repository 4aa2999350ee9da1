"""JSON Schemas of extensions.

A schema describes the ``configuration`` of an extension.  It is the file
``schemas/<extension_point>/<name>.json`` of a package that contains its class, and has no external
references.  Other names of the same class in the distribution have the same schema.
Without a schema, only the code of the extension checks its configuration.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.errors import ZarrError
from zarr_core.messages import warn
from zarr_core.metadata.schema import InvalidSchemaError, Schema, schema_file
from zarr_core.optional import optional_function
from zarr_core.registry import discovery
from zarr_core.registry.provider import registry_cache

if TYPE_CHECKING:
    from zarr_core.definition import ExtensionDefinition
    from zarr_core.errors import ValidationProblem
    from zarr_core.location import Location
    from zarr_core.registry.provider import Provider


_MEMBER_KEYWORDS = frozenset(
    {"$schema", "$id", "$defs", "definitions", "type"}
    | {"properties", "patternProperties", "additionalProperties"}
)


def problems(
    provider: Provider, definition: ExtensionDefinition, pointer: str, complete: bool = True
) -> list[ValidationProblem]:
    """The problems of a configuration; ``pointer`` is that of the definition."""
    schema = schema_of(provider, complete)
    if schema is None:
        return []
    try:
        configuration: Any = definition.configuration
        return schema.problems(configuration, f"{pointer}/configuration")
    except InvalidSchemaError as error:
        raise _broken(provider, str(error)) from error


def validate(
    provider: Provider, definition: ExtensionDefinition, location: Location, complete: bool
) -> tuple[ExtensionDefinition, list[ValidationProblem]]:
    """Return the definition, or the valid form of a nonstandard one, and the problems that remain.

    Stored nonstandard forms are read with a warning, by zarr-formats.  Arguments of a new node may be
    nonstandard: the valid form is stored.
    """
    reported = problems(provider, definition, location.pointer, complete)
    is_strict = complete and isinstance(location.store, str | None)
    schema = schema_of(provider, complete) if reported and not is_strict else None
    if schema is None:
        return definition, reported
    try:
        configuration, notes = optional_function("nonstandard configurations")(
            schema, definition.configuration, f"{location.pointer}/configuration"
        )
    except ModuleNotFoundError:
        return definition, reported
    if schema.problems(configuration):
        return definition, reported
    if complete:
        text = "; ".join(notes)
        warn(f"{location}: nonstandard metadata: {text}. Other readers may reject the array")
    return replace(definition, configuration=configuration), []


def schema_of(provider: Provider, complete: bool = True) -> Schema | None:
    """The schema of a configuration; without ``complete``, only of each of its members."""
    if (schema := registry_cache.get(key := ("schema", provider, complete))) is None:
        schema = registry_cache.put(key, _read(provider, complete) or False)
    return schema or None


def _read(provider: Provider, complete: bool) -> Schema | None:
    for file, content in _files(provider):
        try:
            document: Any = strictjson.loads(content, file)
        except ZarrError as error:
            raise _broken(provider, str(error)) from error
        if not isinstance(document, dict):
            raise _broken(provider, 'it is not a JSON object; for no members: {"maxProperties": 0}')
        # Without the keywords that require members, or depend on several of them.
        members = {word: document[word] for word in document.keys() & _MEMBER_KEYWORDS}
        return Schema(document if complete else members)
    return None


def _files(provider: Provider) -> list[tuple[str, bytes]]:
    """The file of the schema and its content; empty without one.

    If a distribution gives an extension several names, one schema is for all of them.
    """
    if own := schema_file(provider.module, provider.extension_point, provider.name):
        return [own]
    others = (
        schema_file(provider.module, provider.extension_point, other.name)
        for other in discovery.providers(provider.extension_point, disabled=True)
        if (other.target, other.distribution) == (provider.target, provider.distribution)
    )
    files = [*filter(None, others)]
    return files if len(files) == 1 else []


def _broken(provider: Provider, reason: str) -> ZarrError:
    file = "".join(file for file, _ in _files(provider))
    return provider.failure(f"its schema {file} cannot be used: {reason}", "failed to load")
