"""Locations in stores, under the names of zarr-python."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import zarr_core

from zarr_compat.storage import (
    FsspecStore,
    LocalStore,
    MemoryStore,
    StorePath,
    join_paths,
    wrap_store,
)
from zarr_compat.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["make_store", "make_store_path"]


async def make_store(
    store_like: Any, *, mode: str | None = None, storage_options: Mapping[str, Any] | None = None
) -> Store:
    """Return the store for a path, URL, mapping or store."""
    read_only = mode == "r"
    is_url = isinstance(store_like, str) and ("://" in store_like or "::" in store_like)
    if storage_options is not None and not is_url:
        raise TypeError("'storage_options' was provided but unused; pass them with a URL")
    if isinstance(store_like, StorePath):
        return store_like.store  # type: ignore[no-any-return]  # untyped attribute
    if isinstance(store_like, Store):
        return store_like
    if store_like is None or isinstance(store_like, dict):
        return MemoryStore(store_like, read_only=read_only)
    if is_url:
        return FsspecStore.from_url(store_like, storage_options, read_only)
    if isinstance(store_like, str | os.PathLike):
        return LocalStore(store_like, read_only=read_only)
    if type(store_like).__name__ == "FSMap":
        return FsspecStore.from_mapper(store_like, read_only)
    if isinstance(store_like, zarr_core.Store):
        return wrap_store(store_like)
    raise TypeError(f"Unsupported type for store_like: {type(store_like).__name__!r}")


async def make_store_path(
    store_like: Any,
    *,
    path: str | None = "",
    mode: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> StorePath:
    """Return the location for a path, URL, mapping, store or location, and a path in it."""
    if isinstance(store_like, StorePath):
        if storage_options:
            raise TypeError("'storage_options' was provided but unused; pass them with a URL")
        return store_like / (path or "")
    if type(store_like).__name__ == "FSMap" and path:
        raise ValueError("'path' was provided but is not used for FSMap store_like objects")
    store = await make_store(store_like, mode=mode, storage_options=storage_options)
    return await StorePath.open(store, join_paths(path or ""), mode)
