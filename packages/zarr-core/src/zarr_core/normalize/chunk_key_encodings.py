"""Normalization of chunk key encodings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.normalize.definitions import parse_definition
from zarr_core.registry.resolve import require_extension

if TYPE_CHECKING:
    from zarr_core.interfaces.format import Format
    from zarr_core.location import Location


def parse_chunk_key_encoding(
    encoding: Any, format_: Format, location: Location
) -> ExtensionDefinition:
    """Return the definition of a chunk key encoding in which every default is explicit.

    Accepts a name, a definition, ``{"name": "default", "separator": "."}``, ``("default", ".")``,
    and ``"."`` or ``"/"`` for the default of the format with that separator; None for its default.

    Raises
    ------
    ExtensionError
        If it is unknown, or its configuration is invalid.
    """
    definition = format_.chunk_key_encoding if encoding is None else _parse(encoding, format_)
    resolved = require_extension(
        "chunk_key_encoding", definition, location.at("/chunk_key_encoding")
    )
    complete: ExtensionDefinition = resolved.to_definition()
    if complete.name != definition.name:  # an alias is kept
        return definition
    return definition if complete.configuration == definition.configuration else complete


def _parse(encoding: Any, format_: Format) -> ExtensionDefinition:
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


_SEPARATORS = {"default": "/", "v2": "."}
