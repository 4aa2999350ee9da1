"""The definition of a chunk key encoding from whatever a user gave for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.given.definitions import definition_of
from zarr_core.registry.resolve import require

if TYPE_CHECKING:
    from zarr_core.interfaces.format import Format


def key_encoding(given: Any, format_: Format, where: str) -> ExtensionDefinition:
    """The definition, with everything recorded that the encoding chose.

    Parameters
    ----------
    given : str, dict, tuple, ExtensionDefinition or None
        A name, a definition, ``{"name": "default", "separator": "."}`` or
        ``("default", ".")``; ``"."`` or ``"/"`` alone for the encoding of the format with that
        separator; None for that of the format.
    format_ : Format
        The format of the array.
    where : str
        The array, for errors.

    Raises
    ------
    ExtensionError
        If nobody knows it, or it refuses its configuration.
    """
    definition = format_.chunk_key_encoding if given is None else _given(given, format_)
    made = require("chunk_key_encoding", definition, where, "/chunk_key_encoding")
    complete: ExtensionDefinition = made.to_definition()
    if complete.name != definition.name:  # an alias stays what the user has chosen
        return definition
    return definition if complete.configuration == definition.configuration else complete


def _given(given: Any, format_: Format) -> ExtensionDefinition:
    if isinstance(given, str) and given in (".", "/"):
        return ExtensionDefinition(format_.chunk_key_encoding.name, {"separator": given})
    if isinstance(given, str) and given in _SEPARATORS:
        return ExtensionDefinition(given, {"separator": _SEPARATORS[given]})
    if isinstance(given, tuple) and len(given) == 2:
        return ExtensionDefinition(str(given[0]), {"separator": str(given[1])})
    named = isinstance(given, dict) and isinstance(given.get("name"), str)
    if named and given.keys() <= {"name", "separator"}:
        # As zarr-python takes it.
        separator = given.get("separator", _SEPARATORS.get(given["name"], "/"))
        return ExtensionDefinition(given["name"], {"separator": separator})
    return definition_of(given, "chunk key encoding")


_SEPARATORS = {"default": "/", "v2": "."}
