"""Metadata documents of version 3 for test cases: a base document with changes."""

from __future__ import annotations

from typing import Any

OMITTED: Any = object()
"""Value of a member that is omitted from the document."""


def array(**members: Any) -> dict[str, Any]:
    """Return array metadata: shape (4,), int32, two chunks; members override the defaults."""
    plain = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }
    return {name: it for name, it in (plain | members).items() if it is not OMITTED}


def group(**members: Any) -> dict[str, Any]:
    """Return group metadata; members override the defaults."""
    plain = {"zarr_format": 3, "node_type": "group"}
    return {name: it for name, it in (plain | members).items() if it is not OMITTED}


def regular(*lengths: int) -> dict[str, Any]:
    """Return the metadata of a regular chunk grid."""
    return {"name": "regular", "configuration": {"chunk_shape": list(lengths)}}
