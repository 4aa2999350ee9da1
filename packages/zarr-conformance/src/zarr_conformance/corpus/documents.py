"""Documents of version 3 to build cases from, each told by how it differs from a plain one."""

from __future__ import annotations

from typing import Any

LEFT_OUT: Any = object()
"""The value of a member that the document shall not have."""


def array(**members: Any) -> dict[str, Any]:
    """The document of an array of shape (4,), int32, in two chunks; members replace its own."""
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
    return {name: it for name, it in (plain | members).items() if it is not LEFT_OUT}


def group(**members: Any) -> dict[str, Any]:
    """The document of a group; members replace its own."""
    plain = {"zarr_format": 3, "node_type": "group"}
    return {name: it for name, it in (plain | members).items() if it is not LEFT_OUT}


def regular(*lengths: int) -> dict[str, Any]:
    """A regular chunk grid."""
    return {"name": "regular", "configuration": {"chunk_shape": list(lengths)}}
