"""What the module ``zarr.api.asynchronous`` has: nodes opened, or made, as coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_compat import api
from zarr_compat.asynchronous import awaited

if TYPE_CHECKING:
    from zarr_compat.asynchronous import AsyncArray, AsyncGroup

__all__ = [
    "consolidate_metadata",
    "create",
    "create_array",
    "create_group",
    "group",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
]


async def open(store: Any = None, **options: Any) -> AsyncArray | AsyncGroup:
    """Open an array or a group; see :func:`zarr_compat.opening.open`."""
    found: AsyncArray | AsyncGroup = await awaited(api.open, store, **options)
    return found


async def open_array(store: Any = None, **options: Any) -> AsyncArray:
    """Open an array; see :func:`zarr_compat.opening.open_array`."""
    found: AsyncArray = await awaited(api.open_array, store, **options)
    return found


async def open_group(store: Any = None, **options: Any) -> AsyncGroup:
    """Open a group; see :func:`zarr_compat.opening.open_group`."""
    found: AsyncGroup = await awaited(api.open_group, store, **options)
    return found


async def open_consolidated(store: Any, **options: Any) -> AsyncGroup:
    """Open a group with its consolidated metadata."""
    found: AsyncGroup = await awaited(api.open_consolidated, store, **options)
    return found


async def group(store: Any = None, **options: Any) -> AsyncGroup:
    """Open a group, or make it."""
    found: AsyncGroup = await awaited(api.group, store, **options)
    return found


async def create(shape: Any, **options: Any) -> AsyncArray:
    """Make an array of a shape; see :func:`zarr_core.create`."""
    made: AsyncArray = await awaited(api.create, shape, **options)
    return made


async def create_array(store: Any = None, **options: Any) -> AsyncArray:
    """Make an array; see :func:`zarr_core.create_array`."""
    made: AsyncArray = await awaited(api.create_array, store, **options)
    return made


async def create_group(store: Any = None, **options: Any) -> AsyncGroup:
    """Make a group; see :func:`zarr_core.create_group`."""
    made: AsyncGroup = await awaited(api.create_group, store, **options)
    return made


async def consolidate_metadata(store: Any, **options: Any) -> AsyncGroup:
    """Copy the metadata of all members into those of a group."""
    made: AsyncGroup = await awaited(api.consolidate_metadata, store, **options)
    return made
