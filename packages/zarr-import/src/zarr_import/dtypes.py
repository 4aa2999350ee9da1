"""NumPy dtypes without what is of no account in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarr_import.unsupported import UnsupportedSourceError


def packed(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    """A dtype without gaps between fields, titles, and what libraries note on it.

    Raises
    ------
    UnsupportedSourceError
        If Zarr has none like it; ``name`` is what the message calls the elements.
    """
    if dtype.names is not None and dtype.fields is not None:
        parts = [(field, packed(dtype.fields[field][0], name)) for field in dtype.names]
        return np.dtype(parts)
    if dtype.subdtype is not None:
        return np.dtype((packed(dtype.base, name), dtype.shape))
    if dtype.kind == "O":
        raise UnsupportedSourceError(
            name, "has fields of variable length, or references, within its elements"
        )
    if dtype.kind in "fc" and dtype.itemsize not in (2, 4, 8, 16 if dtype.kind == "c" else 8):
        raise UnsupportedSourceError(
            name,
            f"elements are {dtype.name}, more precise than any data type of Zarr; convert them "
            "to float64 if that does",
        )
    return np.dtype(dtype.str)


def offsets(dtype: np.dtype[Any]) -> list[Any]:
    """Where the fields begin, at any depth."""
    if dtype.names is None or dtype.fields is None:
        return []
    parts = [dtype.fields[field] for field in dtype.names]
    return [(offset, offsets(part.base)) for part, offset, *_ in parts]
