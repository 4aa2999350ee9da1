"""Normalization of extension definitions, and of chunk key encodings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.registry.resolve import create_extension
from zarr_core.strictjson import plain

if TYPE_CHECKING:
    from zarr_core.interfaces.format import Format
    from zarr_core.location import Location

_SEPARATORS = {"default": "/", "v2": "."}


def parse_definition(value: Any, what: str) -> ExtensionDefinition:
    """Return the definition of an extension in any form; raises TypeError or ValueError for others.

    Objects have ``to_definition()`` or, as in zarr-python, ``to_dict()``.  ``what`` is the
    extension point, for messages.
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


def parse_chunk_key_encoding(
    encoding: Any, format_: Format, location: Location
) -> ExtensionDefinition:
    """Return the definition of a chunk key encoding in which every default is explicit."""
    definition = (
        format_.chunk_key_encoding if encoding is None else _parse_encoding(encoding, format_)
    )
    complete: ExtensionDefinition = create_extension(
        "chunk_key_encoding", definition, location.at("/chunk_key_encoding")
    ).to_definition()
    if complete.name != definition.name:  # an alias is kept
        return definition
    return definition if complete.configuration == definition.configuration else complete


def _parse_encoding(encoding: Any, format_: Format) -> ExtensionDefinition:
    if isinstance(encoding, str) and encoding in (".", "/"):
        return ExtensionDefinition(format_.chunk_key_encoding.name, {"separator": encoding})
    if isinstance(encoding, str) and encoding in _SEPARATORS:
        return ExtensionDefinition(encoding, {"separator": _SEPARATORS[encoding]})
    if isinstance(encoding, tuple) and len(encoding) == 2:
        return ExtensionDefinition(str(encoding[0]), {"separator": str(encoding[1])})
    has_name = isinstance(encoding, dict) and isinstance(encoding.get("name"), str)
    if has_name and encoding.keys() <= {"name", "separator"}:  # the form of zarr-python
        separator = encoding.get("separator", _SEPARATORS.get(encoding["name"], "/"))
        return ExtensionDefinition(encoding["name"], {"separator": separator})
    return parse_definition(encoding, "chunk key encoding")
