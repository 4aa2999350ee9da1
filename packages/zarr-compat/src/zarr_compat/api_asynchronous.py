"""The module ``zarr.api.asynchronous``: coroutines that open or create nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_compat import api
from zarr_compat.asynchronous import await_node

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
    """Open an array or a group; see :func:`zarr_compat.open_nodes.open`."""
    found: AsyncArray | AsyncGroup = await await_node(api.open, store, **options)
    return found


async def open_array(store: Any = None, **options: Any) -> AsyncArray:
    """Open an array; see :func:`zarr_compat.open_nodes.open_array`."""
    found: AsyncArray = await await_node(api.open_array, store, **options)
    return found


async def open_group(store: Any = None, **options: Any) -> AsyncGroup:
    """Open a group; see :func:`zarr_compat.open_nodes.open_group`."""
    found: AsyncGroup = await await_node(api.open_group, store, **options)
    return found


async def open_consolidated(store: Any, **options: Any) -> AsyncGroup:
    """Open a group with its consolidated metadata."""
    found: AsyncGroup = await await_node(api.open_consolidated, store, **options)
    return found


async def group(store: Any = None, **options: Any) -> AsyncGroup:
    """Open a group, and create it if it does not exist."""
    found: AsyncGroup = await await_node(api.group, store, **options)
    return found


async def create(shape: Any, **options: Any) -> AsyncArray:
    """Create an array of a shape; see :func:`zarr_core.create`."""
    made: AsyncArray = await await_node(api.create, shape, **options)
    return made


async def create_array(store: Any = None, **options: Any) -> AsyncArray:
    """Create an array; see :func:`zarr_core.create_array`."""
    made: AsyncArray = await await_node(api.create_array, store, **options)
    return made


async def create_group(store: Any = None, **options: Any) -> AsyncGroup:
    """Create a group; see :func:`zarr_core.create_group`."""
    made: AsyncGroup = await await_node(api.create_group, store, **options)
    return made


async def consolidate_metadata(store: Any, **options: Any) -> AsyncGroup:
    """Consolidate the metadata of all nodes below a group."""
    made: AsyncGroup = await await_node(api.consolidate_metadata, store, **options)
    return made
