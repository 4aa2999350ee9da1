"""Checking a configuration against the schema that ships with its extension."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.definition import ExtensionDefinition
    from zarr_core.metadata.problem import Problem
    from zarr_core.registry.provider import Provider


def problems(provider: Provider, definition: ExtensionDefinition, pointer: str) -> list[Problem]:
    """What is wrong with a configuration; nothing if the extension has no schema.

    Parameters
    ----------
    provider : Provider
        Whose schema it is.
    definition : ExtensionDefinition
        The definition.
    pointer : str
        JSON pointer of the definition in its document.

    Raises
    ------
    ExtensionLoadError
        If the schema is broken.
    """
    schema = provider.schema()
    if schema is None:
        return []
    from zarr_core.metadata.problem import Problem  # noqa: PLC0415 - lazy: most need none
    from zarr_core.metadata.schema import explain  # noqa: PLC0415 - lazy: leads to jsonschema

    found = explain(dict(definition.configuration), schema)
    start = f"{pointer}/configuration"
    return [Problem(start + problem.pointer, problem.message) for problem in found]


def refusal(error: Exception, pointer: str) -> Problem:
    """The problem that an extension has with its configuration, from what it raised."""
    from zarr_core.metadata.problem import Problem  # noqa: PLC0415 - lazy: most need none

    message = str(error)
    if not isinstance(error, (ValueError, TypeError)) or not message:
        message = f"{type(error).__name__}: {message}"
    return Problem(f"{pointer}/configuration", message)
