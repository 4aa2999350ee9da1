"""Coroutines: ``zarr.api.asynchronous``, and functions of ``zarr.core.array``, ``zarr.core.group``."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from zarr_compat import api, api_nodes
from zarr_compat.asynchronous import AsyncArray, AsyncGroup, asynchronous, await_node
from zarr_compat.core_store import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping


def _coroutine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as a coroutine that runs in a thread; nodes are asynchronous."""

    @functools.wraps(function)
    async def call(*arguments: Any, **options: Any) -> Any:
        return await await_node(function, *arguments, **options)

    return call


async def create_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
) -> AsyncIterator[tuple[str, Any]]:
    """Create nodes for metadata by path; see :func:`zarr_compat.api_nodes.create_hierarchy`."""
    created = await in_thread(
        lambda: [*api_nodes.create_hierarchy(store=store, nodes=nodes, overwrite=overwrite)]
    )
    for item in created:
        yield asynchronous(item)


async def init_array(*, store_path: Any, **options: Any) -> AsyncArray:
    """Create an array without elements at a location."""
    created: AsyncArray = await await_node(api.create_array, store_path, **options)
    return created


create_nodes = create_hierarchy
create_rooted_hierarchy = _coroutine(api_nodes.create_rooted_hierarchy)
get_node = _coroutine(api_nodes.get_node)

_COROUTINES = {
    name: _coroutine(getattr(api, name))
    for name in api.__all__
    if name[0].islower() and name not in ("config", "create_hierarchy", "print_debug_info")
}
globals().update(_COROUTINES)

__all__ = [
    "AsyncArray",
    "AsyncGroup",
    "create_hierarchy",
    "create_nodes",
    "create_rooted_hierarchy",
    "get_node",
    "init_array",
    *_COROUTINES,
]
