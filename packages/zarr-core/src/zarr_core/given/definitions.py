"""The definition of an extension from whatever a user gave for it."""

from __future__ import annotations

from typing import Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.strictjson import plain


def definition_of(given: Any, what: str) -> ExtensionDefinition:
    """Make a definition.

    Parameters
    ----------
    given : str, dict, ExtensionDefinition or extension
        A name, an object with ``name`` and perhaps ``configuration``, a definition, or
        an object that gives its definition by ``to_definition()`` or, as those of
        zarr-python do, by ``to_dict()``.
    what : str
        The kind of extension, for messages.

    Raises
    ------
    TypeError
        If it is none of these.
    ValueError
        If an object has no ``name``, or members that mean nothing.
    """
    if isinstance(given, ExtensionDefinition):
        return given
    if isinstance(given, str):
        return ExtensionDefinition(given)
    if hasattr(given, "to_definition"):
        definition: ExtensionDefinition = given.to_definition()
        return definition
    document = given.to_dict() if hasattr(given, "to_dict") else given
    if not isinstance(document, dict):
        raise TypeError(
            f"{given!r} is no {what}; give a name, or an object such as "
            "{'name': ..., 'configuration': {...}}"
        )
    # Tuples become lists, enumerations strings: what a document can hold.
    document = {str(key): plain(value, f"{what} {given!r}") for key, value in document.items()}
    if not isinstance(document.get("name"), str):
        raise ValueError(f"the {what} {given!r} needs a name")
    if unknown := sorted(document.keys() - {"name", "configuration", "must_understand"}):
        raise ValueError(
            f"the {what} {given!r} has members that mean nothing: {', '.join(unknown)}; "
            "what configures it goes into its configuration"
        )
    return ExtensionDefinition.from_json(document)
