"""Normalize NumPy dtypes of sources."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarr_import.errors import UnsupportedSourceError


def pack_dtype(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    """Return a dtype without gaps between fields, titles and metadata of libraries.

    Raises UnsupportedSourceError if Zarr has no such data type; ``name`` is that of the array.
    """
    if dtype.names is not None and dtype.fields is not None:
        parts = [(field, pack_dtype(dtype.fields[field][0], name)) for field in dtype.names]
        return np.dtype(parts)
    if dtype.subdtype is not None:
        return np.dtype((pack_dtype(dtype.base, name), dtype.shape))
    if dtype.kind == "O":
        raise UnsupportedSourceError(
            name, "structured elements with variable-length fields or references are not supported"
        )
    if dtype.kind in "fc" and dtype.itemsize not in (2, 4, 8, 16 if dtype.kind == "c" else 8):
        raise UnsupportedSourceError(
            name,
            f"the data type {dtype.name} is not supported; convert the elements to a smaller type, "
            "such as float64",
        )
    return np.dtype(dtype.str)


def offsets(dtype: np.dtype[Any]) -> list[Any]:
    """Return the offsets of the fields, at any depth."""
    if dtype.names is None or dtype.fields is None:
        return []
    parts = [dtype.fields[field] for field in dtype.names]
    return [(offset, offsets(part.base)) for part, offset, *_ in parts]
