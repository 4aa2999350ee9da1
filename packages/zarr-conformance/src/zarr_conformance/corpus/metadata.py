"""Metadata documents of versions 1 to 3 for test cases: a base document with changes."""

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
    return {name: value for name, value in (plain | members).items() if value is not OMITTED}


def group(**members: Any) -> dict[str, Any]:
    """Return group metadata; members override the defaults."""
    plain = {"zarr_format": 3, "node_type": "group"}
    return {name: value for name, value in (plain | members).items() if value is not OMITTED}


def array_2(**members: Any) -> dict[str, Any]:
    """Return array metadata of version 2: shape (4, 6), int32, uncompressed chunks of (2, 3)."""
    plain = {
        "zarr_format": 2,
        "shape": [4, 6],
        "chunks": [2, 3],
        "dtype": "<i4",
        "compressor": None,
        "fill_value": 0,
        "order": "C",
        "filters": None,
    }
    return {name: value for name, value in (plain | members).items() if value is not OMITTED}


def group_2(**members: Any) -> dict[str, Any]:
    """Return group metadata of version 2."""
    return {
        name: value
        for name, value in ({"zarr_format": 2} | members).items()
        if value is not OMITTED
    }


def array_1(**members: Any) -> dict[str, Any]:
    """Return array metadata of version 1: shape (5, 7), int32, uncompressed chunks of (2, 3)."""
    plain = {
        "zarr_format": 1,
        "shape": [5, 7],
        "chunks": [2, 3],
        "dtype": "<i4",
        "compression": "none",
        "compression_opts": None,
        "fill_value": -1,
        "order": "C",
    }
    return {name: value for name, value in (plain | members).items() if value is not OMITTED}


def regular(*lengths: int) -> dict[str, Any]:
    """Return the metadata of a regular chunk grid."""
    return {"name": "regular", "configuration": {"chunk_shape": list(lengths)}}
