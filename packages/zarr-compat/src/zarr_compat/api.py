"""The module ``zarr``."""

from __future__ import annotations

from typing import Any

import zarr_core

from zarr_compat.adapt import adapt
from zarr_compat.array import Array
from zarr_compat.asynchronous import AsyncArray, AsyncGroup
from zarr_compat.group import Group
from zarr_compat.open_nodes import adapt_creation, open, open_array, open_consolidated, open_group
from zarr_compat.settings import config

__all__ = [
    "Array",
    "AsyncArray",
    "AsyncGroup",
    "Group",
    "array",
    "config",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_group",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "group",
    "load",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "save",
    "save_array",
    "save_group",
    "tree",
    "zeros",
    "zeros_like",
]

__version__ = f"3.4.2+zarr.core.{zarr_core.__version__}"

array = adapt_creation(zarr_core.array)
copy_all = adapt(zarr_core.copy_all)
copy_store = adapt(zarr_core.copy_store)
create = adapt_creation(zarr_core.create)
empty = adapt_creation(zarr_core.empty)
empty_like = adapt_creation(zarr_core.empty_like)
full = adapt_creation(zarr_core.full)
full_like = adapt_creation(zarr_core.full_like)
load = adapt(zarr_core.load)
ones = adapt_creation(zarr_core.ones)
ones_like = adapt_creation(zarr_core.ones_like)
save = adapt(zarr_core.save)
save_array = adapt(zarr_core.save_array)
save_group = adapt(zarr_core.save_group)
tree = adapt(zarr_core.tree)
zeros = adapt_creation(zarr_core.zeros)
zeros_like = adapt_creation(zarr_core.zeros_like)


def create_array(store: Any = None, **options: Any) -> Array:
    """Create an array; see :func:`zarr_core.create_array`."""
    created: Array = adapt_creation(zarr_core.create_array)(store=store, **options)
    return created


def create_group(store: Any = None, **options: Any) -> Group:
    """Create a group; see :func:`zarr_core.create_group`."""
    created: Group = adapt_creation(zarr_core.create_group)(
        store=store, path=options.pop("path", None), **options
    )
    return created


def group(store: Any = None, *, overwrite: bool = False, **options: Any) -> Group:
    """Open a group, and create it if it does not exist."""
    return open_group(store, mode="w" if overwrite else "a", **options)


def consolidate_metadata(
    store: Any, path: str | None = None, zarr_format: int | None = None
) -> Group:
    """Consolidate the metadata of all nodes below a group.

    Parameters
    ----------
    store : store-like
        Path, URL, mapping or store.
    path : str, optional
        Path of the group.
    zarr_format : int, optional
        Format of the group.
    """
    found = open_group(store, mode="r+", path=path, zarr_format=zarr_format, use_consolidated=False)
    result: Group = adapt(zarr_core.consolidate_metadata, found.user_store)(found)
    return result


def copy(source: Any, dest: Any, name: str | None = None, **options: Any) -> Any:
    """Copy an array or group; see :func:`zarr_core.copy`, whose ``dest_path`` is ``name``."""
    return adapt(zarr_core.copy)(source, dest, name, **options)
