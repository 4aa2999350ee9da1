"""The extensions of the core, which are found without a scan of entry points.

A test compares them with ``pyproject.toml``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from zarr_core.registry.provider import Provider

DISTRIBUTION = "zarr-core"

ENTRY_POINTS: dict[str, dict[str, str]] = {
    "codec": {"bytes": "zarr_core.codecs.bytes:BytesCodec"},
    "data_type": {
        "bool": "zarr_core.data_types.boolean:Bool",
        "int8": "zarr_core.data_types.integer:Integer",
        "int16": "zarr_core.data_types.integer:Integer",
        "int32": "zarr_core.data_types.integer:Integer",
        "int64": "zarr_core.data_types.integer:Integer",
        "uint8": "zarr_core.data_types.integer:Integer",
        "uint16": "zarr_core.data_types.integer:Integer",
        "uint32": "zarr_core.data_types.integer:Integer",
        "uint64": "zarr_core.data_types.integer:Integer",
        "float16": "zarr_core.data_types.floating:Floating",
        "float32": "zarr_core.data_types.floating:Floating",
        "float64": "zarr_core.data_types.floating:Floating",
        "complex64": "zarr_core.data_types.complex:Complex",
        "complex128": "zarr_core.data_types.complex:Complex",
    },
    "chunk_grid": {"regular": "zarr_core.chunk_grids:RegularGrid"},
    "chunk_key_encoding": {
        "default": "zarr_core.chunk_key_encodings:DefaultEncoding",
        "v2": "zarr_core.chunk_key_encodings:V2Encoding",
    },
    "store": {
        "file": "zarr_core.stores.local:LocalStore",
        "memory": "zarr_core.stores.memory:MemoryStore",
    },
    "format": {"v3": "zarr_core.formats.v3:V3"},
}

# A family is a class for many names; its method `claims(name)` accepts them.
FAMILIES: dict[str, dict[str, str]] = {"data_type": {"r*": "zarr_core.data_types.raw:RawBits"}}


def provider(kind: str, name: str) -> Provider | None:
    """The provider of an extension of the core, or None."""
    target = ENTRY_POINTS.get(kind, {}).get(name)
    return Provider(kind, name, target, DISTRIBUTION) if target else family(kind, name)


def family(kind: str, name: str) -> Provider | None:
    """The provider of a name that a family of the core claims, or None."""
    for target in FAMILIES.get(kind, {}).values():
        if _family_class(kind, target).claims(name):
            return Provider(kind, name, target, DISTRIBUTION)
    return None


@cache
def _family_class(kind: str, target: str) -> Any:
    return Provider(kind, "", target, DISTRIBUTION).load()
