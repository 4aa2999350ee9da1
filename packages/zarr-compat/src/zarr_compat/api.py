"""What the module ``zarr`` has."""

from __future__ import annotations

from typing import Any

import zarr_core

from zarr_compat.adapting import adapted
from zarr_compat.array import Array
from zarr_compat.asynchronous import AsyncArray, AsyncGroup
from zarr_compat.group import Group
from zarr_compat.opening import making, open, open_array, open_consolidated, open_group
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

array = making(zarr_core.array)
copy = adapted(zarr_core.copy)
copy_all = adapted(zarr_core.copy_all)
copy_store = adapted(zarr_core.copy_store)
create = making(zarr_core.create)
empty = making(zarr_core.empty)
empty_like = making(zarr_core.empty_like)
full = making(zarr_core.full)
full_like = making(zarr_core.full_like)
load = adapted(zarr_core.load)
ones = making(zarr_core.ones)
ones_like = making(zarr_core.ones_like)
save = adapted(zarr_core.save)
save_array = adapted(zarr_core.save_array)
save_group = adapted(zarr_core.save_group)
tree = adapted(zarr_core.tree)
zeros = making(zarr_core.zeros)
zeros_like = making(zarr_core.zeros_like)


def create_array(store: Any = None, **options: Any) -> Array:
    """Make a new array; see :func:`zarr_core.create_array`."""
    made: Array = making(zarr_core.create_array)(store=store, **options)
    return made


def create_group(store: Any = None, **options: Any) -> Group:
    """Make a new group; see :func:`zarr_core.create_group`."""
    made: Group = making(zarr_core.create_group)(
        store=store, path=options.pop("path", None), **options
    )
    return made


def group(store: Any = None, *, overwrite: bool = False, **options: Any) -> Group:
    """Open a group, or make it."""
    return open_group(store, mode="w" if overwrite else "a", **options)


def consolidate_metadata(
    store: Any, path: str | None = None, zarr_format: int | None = None
) -> Group:
    """Copy the metadata of all members into those of a group.

    Parameters
    ----------
    store : store-like
        Where.
    path : str, optional
        Path of the group.
    zarr_format : int, optional
        Version of the group.
    """
    found = open_group(store, mode="r+", path=path, zarr_format=zarr_format, use_consolidated=False)
    made: Group = adapted(zarr_core.consolidate_metadata, found.shown_store)(found)
    return made
