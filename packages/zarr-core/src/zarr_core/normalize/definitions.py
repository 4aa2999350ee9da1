"""Normalization of extension definitions."""

from __future__ import annotations

from typing import Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.strictjson import plain


def parse_definition(value: Any, what: str) -> ExtensionDefinition:
    """Return the definition of an extension.

    Accepts a name, a dictionary with ``name`` and optionally ``configuration``, a definition, or an
    object with ``to_definition()`` or, as in zarr-python, ``to_dict()``.  ``what`` is the extension
    point, for messages.

    Raises
    ------
    TypeError
        For any other value.
    ValueError
        If a dictionary has no ``name``, or unknown members.
    """
    if isinstance(value, ExtensionDefinition):
        return value
    if isinstance(value, str):
        return ExtensionDefinition(value)
    if hasattr(value, "to_definition"):
        definition: ExtensionDefinition = value.to_definition()
        return definition
    document = value.to_dict() if hasattr(value, "to_dict") else value
    if not isinstance(document, dict):
        raise TypeError(
            f"{value!r} is not a {what}; pass a name, or a dictionary such as "
            "{'name': ..., 'configuration': {...}}"
        )
    # Tuples become lists, enumerations strings.
    document = {str(key): plain(item, f"{what} {value!r}") for key, item in document.items()}
    if not isinstance(document.get("name"), str):
        raise ValueError(f"the {what} {value!r} needs a name")
    if unknown := sorted(document.keys() - {"name", "configuration", "must_understand"}):
        raise ValueError(
            f"the {what} {value!r} has unknown members: {', '.join(unknown)}; "
            "put parameters into its configuration"
        )
    return ExtensionDefinition.from_json(document)
