"""Coroutines that create arrays: names of the module ``zarr.core.array``."""

from __future__ import annotations

from zarr_compat.api_asynchronous import create_array, from_array

__all__ = ["create_array", "from_array"]
