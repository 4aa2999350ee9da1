"""JSON Schemas of extensions, which are found without importing the extensions.

A schema describes the ``configuration`` of an extension.  It is the file
``schemas/<extension_point>/<name>.json`` of its package, and has no external references.  Other
names of the same class in the distribution have the same schema.
Without a schema, only the code of the extension checks its configuration.
"""

from __future__ import annotations

import dataclasses
import os.path  # not pathlib, which takes milliseconds to import
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from zipimport import zipimporter

from zarr_core import strictjson
from zarr_core.errors import ZarrError
from zarr_core.metadata.schema import InvalidSchemaError, Schema
from zarr_core.registry import discovery
from zarr_core.registry.provider import known
from zarr_core.user_warning import warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.location import Location
    from zarr_core.metadata.validation_problem import ValidationProblem
    from zarr_core.registry.provider import Provider


def problems(
    provider: Provider, definition: ExtensionDefinition, pointer: str, complete: bool = True
) -> list[ValidationProblem]:
    """The problems of a configuration; none if the extension has no schema.

    ``pointer`` is the JSON pointer of the definition in its metadata document.  With ``complete``
    False, required members can be missing.  Raises ExtensionLoadError if the schema is invalid.
    """
    schema = schema_of(provider, complete)
    if schema is None:
        return []
    try:
        return schema.problems(dict(definition.configuration), f"{pointer}/configuration")
    except InvalidSchemaError as error:
        raise _broken(provider, str(error)) from error


def standard_form(
    provider: Provider, definition: ExtensionDefinition, location: Location, complete: bool
) -> ExtensionDefinition | None:
    """A valid form of a definition with an invalid configuration; None if there is none.

    In stored metadata, warns of integers written as ``5.0``, and of members that inner definitions
    do not have.
    """
    schema = schema_of(provider, complete)
    assert schema is not None  # it found the problems
    configuration, notes = schema.standard_form(
        dict(definition.configuration), f"{location.pointer}/configuration"
    )
    if schema.problems(configuration):
        return None
    if complete:  # not for arguments of a new node
        text = "; ".join(notes)
        warn(f"{location}: nonstandard metadata: {text}. Other readers may reject the array")
    return dataclasses.replace(definition, configuration=configuration)


def schema_of(provider: Provider, complete: bool = True) -> Schema | None:
    """The schema of the configuration of an extension; None if it has none.

    With ``complete`` False, no member is required.  Raises ExtensionLoadError if it is invalid.
    """
    if (schema := known.get(key := ("schema", provider, complete))) is None:
        schema = known.keep(key, _read(provider, complete) or False)
    return schema or None


def _read(provider: Provider, complete: bool) -> Schema | None:
    try:
        if (found := _content(provider)) is None:
            return None
        file, content = found
        document = strictjson.loads(content, file)
    except (OSError, ZarrError) as error:
        raise _broken(provider, str(error)) from error
    if not isinstance(document, dict):
        raise _broken(provider, 'it is not a JSON object; for no members: {"maxProperties": 0}')
    for reference in _references(document):
        if not reference.startswith("#"):  # opening an array must not access the network
            raise _broken(
                provider,
                f"it refers to {reference!r}, but only references within the schema are allowed",
            )
    return Schema(document if complete else _without_required(document))


_REQUIRING_KEYWORDS = frozenset(
    {"required", "dependentRequired", "minProperties", "if", "then", "else"}
)


def _without_required(schema: Any) -> Any:
    """A schema of an object without the keywords that require members."""
    if not isinstance(schema, dict):
        return schema
    kept = {word: value for word, value in schema.items() if word not in _REQUIRING_KEYWORDS}
    combined = []
    for word in ("allOf", "anyOf", "oneOf"):
        if isinstance(branches := kept.pop(word, None), list):
            # Without required members, more than one branch of oneOf can match.
            keyword = "allOf" if word == "allOf" else "anyOf"
            combined.append({keyword: [_without_required(branch) for branch in branches]})
    return {**kept, "allOf": combined} if combined else kept


def schema_file(provider: Provider) -> str | None:
    """The file of the schema, which can be in an archive; None if there is none."""
    found = _content(provider)
    return None if found is None else found[0]


def _content(provider: Provider) -> tuple[str, bytes] | None:
    """The file of the schema and its contents.

    If a distribution gives an extension several names, one schema is for all of them.
    """
    if own := _content_of(provider, provider.name):
        return own
    providers = discovery.scan().providers.get(provider.extension_point, {})
    same = (
        _content_of(other, other.name)
        for name, others in providers.items()
        for other in others
        if name != provider.name
        and other.target == provider.target
        and other.distribution == provider.distribution
    )
    found = list(filter(None, same))
    return found[0] if len(found) == 1 else None


def _content_of(provider: Provider, name: str) -> tuple[str, bytes] | None:
    """The schema of one name."""
    if "/" in name or "\\" in name:
        return None  # a URI, which is not a file name
    top, *inner = provider.module.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):  # ValueError: __main__ of an interactive session
        return None
    if spec is None:
        return None
    loader: Any = spec.loader
    # Only the spec of the top-level package is used, because find_spec imports the parents of
    # others.  Inner folders are searched for packages in a namespace package.
    for depth in range(len(inner) + 1):
        for location in spec.submodule_search_locations or ():
            folder = os.path.join(location, *inner[:depth], "schemas", provider.extension_point)
            file = os.path.join(folder, f"{name}.json")
            if os.path.isfile(file):
                with open(file, "rb") as stream:
                    return file, stream.read()
            if isinstance(loader, zipimporter):
                with suppress(OSError):  # missing
                    return file, loader.get_data(file)
    return None


def _references(schema: JSON) -> Iterator[str]:
    pending = [schema]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            for word in ("$ref", "$dynamicRef"):
                target = item.get(word)
                if isinstance(target, str):
                    yield target
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


def _broken(provider: Provider, reason: str) -> ZarrError:
    file = schema_file(provider)
    return provider.failure(f"its schema {file} cannot be used: {reason}", "failed to load")
