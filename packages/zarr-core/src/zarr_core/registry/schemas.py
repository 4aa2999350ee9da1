"""The JSON Schema that ships with an extension, found without importing its code.

It describes the extension's ``configuration``, stands in its package as
``schemas/<kind>/<name>.json``, and refers to nothing outside itself.  An extension
without one has its configuration checked by its code alone.
"""

from __future__ import annotations

import os.path  # not pathlib, which takes milliseconds to import
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from zipimport import zipimporter

from zarr_core import strictjson
from zarr_core.errors import ZarrError
from zarr_core.metadata.schema import InvalidSchemaError, Schema
from zarr_core.registry import discovery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.metadata.problem import Problem
    from zarr_core.registry.provider import Provider


def problems(
    provider: Provider, definition: ExtensionDefinition, pointer: str, complete: bool = True
) -> list[Problem]:
    """What is wrong with a configuration; nothing if the extension has no schema.

    Parameters
    ----------
    provider : Provider
        Whose schema it is.
    definition : ExtensionDefinition
        The definition.
    pointer : str
        JSON pointer of the definition in its document.
    complete : bool
        False if members may be left out that a document must have.

    Raises
    ------
    ExtensionLoadError
        If there is a schema, and it is broken.
    """
    schema = schema_of(provider, complete)
    if schema is None:
        return []
    try:
        return schema.problems(dict(definition.configuration), f"{pointer}/configuration")
    except InvalidSchemaError as error:
        raise _broken(provider, str(error)) from error


def schema_of(provider: Provider, complete: bool = True) -> Schema | None:
    """The schema of an extension's configuration; None if it has none.

    Parameters
    ----------
    provider : Provider
        Whose schema it is.
    complete : bool
        False for one that demands no members, but still says what they may be.

    Raises
    ------
    ExtensionLoadError
        If there is a file, and it is no JSON Schema that can be used.
    """
    return _schema(provider, complete, discovery.generation())


@lru_cache(maxsize=1024)
def _schema(provider: Provider, complete: bool, _generation: int) -> Schema | None:
    try:
        if (found := _content(provider)) is None:
            return None
        file, content = found
        document = strictjson.loads(content, file)
    except (OSError, ZarrError) as error:
        raise _broken(provider, str(error)) from error
    if not isinstance(document, dict):
        raise _broken(provider, "it is not a JSON object")
    for reference in _references(document):
        if not reference.startswith("#"):  # opening an array must never reach for the network
            raise _broken(
                provider, f"it refers to {reference!r}, but may refer only to parts of itself"
            )
    return Schema(document if complete else _undemanding(document))


_DEMANDS = frozenset({"required", "dependentRequired", "minProperties", "if", "then", "else"})


def _undemanding(schema: Any) -> Any:
    """A schema of an object without the keywords that demand members of it."""
    if not isinstance(schema, dict):
        return schema
    kept = {word: value for word, value in schema.items() if word not in _DEMANDS}
    looser = []
    for word in ("allOf", "anyOf", "oneOf"):
        if isinstance(branches := kept.pop(word, None), list):
            # Without its demands, more than one branch of oneOf may fit.
            combined = "allOf" if word == "allOf" else "anyOf"
            looser.append({combined: [_undemanding(branch) for branch in branches]})
    return {**kept, "allOf": looser} if looser else kept


def schema_file(provider: Provider) -> str | None:
    """The file that would hold the schema, if there is one; it may lie in an archive."""
    found = _content(provider)
    return None if found is None else found[0]


def _content(provider: Provider) -> tuple[str, bytes] | None:
    """The file that holds the schema, and what is in it."""
    if "/" in provider.name or "\\" in provider.name:
        return None  # a URI, not a file name; a format translates those
    top, *inner = provider.module.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):  # ValueError: __main__ of an interactive session
        return None
    if spec is None:
        return None
    loader: Any = spec.loader
    # The outermost package first.  Only it is asked for, because find_spec imports the parents
    # of anything deeper.  The others serve packages inside a namespace package.
    for depth in range(len(inner) + 1):
        for place in spec.submodule_search_locations or ():
            folder = os.path.join(place, *inner[:depth], "schemas", provider.kind)
            file = os.path.join(folder, f"{provider.name}.json")
            if os.path.isfile(file):
                with open(file, "rb") as stream:
                    return file, stream.read()
            if isinstance(loader, zipimporter):
                with suppress(OSError):  # there is none
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
    return provider.failure(f"its schema {schema_file(provider)} cannot be used: {reason}")
