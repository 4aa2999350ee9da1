"""The module ``zarr.api.asynchronous``: the functions of ``zarr`` as coroutines."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from zarr_compat import api
from zarr_compat.api_group import create_hierarchy
from zarr_compat.asynchronous import AsyncArray, AsyncGroup, await_node

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "AsyncArray",
    "AsyncGroup",
    "array",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_group",
    "create_hierarchy",
    "empty",
    "empty_like",
    "from_array",
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
    "open_like",
    "save",
    "save_array",
    "save_group",
    "tree",
    "zeros",
    "zeros_like",
]


def _coroutine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as a coroutine that runs in a thread; nodes are asynchronous."""

    @functools.wraps(function)
    async def call(*arguments: Any, **options: Any) -> Any:
        return await await_node(function, *arguments, **options)

    return call


array = _coroutine(api.array)
consolidate_metadata = _coroutine(api.consolidate_metadata)
copy = _coroutine(api.copy)
copy_all = _coroutine(api.copy_all)
copy_store = _coroutine(api.copy_store)
create = _coroutine(api.create)
create_array = _coroutine(api.create_array)
create_group = _coroutine(api.create_group)
empty = _coroutine(api.empty)
empty_like = _coroutine(api.empty_like)
from_array = _coroutine(api.from_array)
full = _coroutine(api.full)
full_like = _coroutine(api.full_like)
group = _coroutine(api.group)
load = _coroutine(api.load)
ones = _coroutine(api.ones)
ones_like = _coroutine(api.ones_like)
open = _coroutine(api.open)
open_array = _coroutine(api.open_array)
open_consolidated = _coroutine(api.open_consolidated)
open_group = _coroutine(api.open_group)
open_like = _coroutine(api.open_like)
save = _coroutine(api.save)
save_array = _coroutine(api.save_array)
save_group = _coroutine(api.save_group)
tree = _coroutine(api.tree)
zeros = _coroutine(api.zeros)
zeros_like = _coroutine(api.zeros_like)
