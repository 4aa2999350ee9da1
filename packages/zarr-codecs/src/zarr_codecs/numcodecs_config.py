"""Configurations of numcodecs, such as ``{"id": "zstd", "level": 3}``, as definitions of codecs."""

from __future__ import annotations

from typing import Any

from zarr_core.extension import ExtensionDefinition, strictjson
from zarr_core.registry.discovery import is_provided

# Codecs of version 3 with the name and the bytes of numcodecs; the names of integer values.
_SAME: dict[str, dict[str, tuple[str, ...]]] = {
    "blosc": {"shuffle": ("noshuffle", "shuffle", "bitshuffle")},
    "gzip": {},
    "zstd": {},
}


def definition_of(config: dict[str, Any]) -> ExtensionDefinition:
    """Convert a configuration of numcodecs to a definition of version 3."""
    configuration: Any = strictjson.plain(config, "codec")
    name = str(configuration.pop("id"))
    for member, values in _SAME.get(name, {}).items():
        number = configuration.pop(member, -1)
        if number in range(len(values)):
            configuration[member] = values[number]
    # Other codecs, such as "bitround", have different configurations under the same name.
    prefixed = f"numcodecs.{name}"
    if is_provided("codec", name) and (name in _SAME or not is_provided("codec", prefixed)):
        return ExtensionDefinition(name, configuration)
    return ExtensionDefinition(prefixed, configuration)
