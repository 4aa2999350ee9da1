"""Coroutines that create and open nodes: names of the module ``zarr.core.group``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_compat import api_nodes
from zarr_compat.asynchronous import asynchronous, await_node
from zarr_compat.sync import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

__all__ = ["create_hierarchy", "create_nodes", "create_rooted_hierarchy", "get_node"]


async def get_node(store: Any, path: str, zarr_format: int) -> Any:
    """Open the array or group at a path."""
    return await await_node(api_nodes.get_node, store, path, zarr_format)


async def create_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
) -> AsyncIterator[tuple[str, Any]]:
    """Create nodes for metadata by path; see :func:`zarr_compat.api_nodes.create_hierarchy`."""
    created = await in_thread(
        lambda: [*api_nodes.create_hierarchy(store=store, nodes=nodes, overwrite=overwrite)]
    )
    for item in created:
        yield asynchronous(item)


create_nodes = create_hierarchy


async def create_rooted_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
) -> Any:
    """Create nodes and return the topmost."""
    return await await_node(
        api_nodes.create_rooted_hierarchy, store=store, nodes=nodes, overwrite=overwrite
    )
