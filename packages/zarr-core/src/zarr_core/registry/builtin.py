"""What core itself provides, known without a scan of entry points.

The lines are those of this distribution's ``pyproject.toml``; a test keeps the
two equal.
"""

from __future__ import annotations

from zarr_core.registry.provider import Provider

DISTRIBUTION = "zarr-core"

LINES: dict[str, dict[str, str]] = {
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
    "chunk_grid": {"regular": "zarr_core.chunk_grids.regular:RegularGrid"},
    "chunk_key_encoding": {
        "default": "zarr_core.chunk_key_encodings.default:DefaultEncoding",
        "v2": "zarr_core.chunk_key_encodings.v2:V2Encoding",
    },
    "store": {
        "file": "zarr_core.stores.local:LocalStore",
        "memory": "zarr_core.stores.memory:MemoryStore",
    },
    "format": {"v3": "zarr_core.formats.v3:V3"},
}

# A family is a class that says itself which names it answers to: `claims(name)`.
FAMILIES: dict[str, dict[str, str]] = {"data_type": {"r*": "zarr_core.data_types.raw:RawBits"}}


def provider(kind: str, name: str) -> Provider | None:
    """Core's provider of an extension, or None if core has none."""
    target = LINES.get(kind, {}).get(name)
    return Provider(kind, name, target, DISTRIBUTION) if target else family(kind, name)


def family(kind: str, name: str) -> Provider | None:
    """The family of core that claims a name, as a provider of that name."""
    for target in FAMILIES.get(kind, {}).values():
        candidate = Provider(kind, name, target, DISTRIBUTION)
        if candidate.load().claims(name):
            return candidate
    return None
