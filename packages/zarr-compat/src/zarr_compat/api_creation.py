"""Coroutines that create arrays: names of the module ``zarr.core.array``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_compat.api_asynchronous import create_array, from_array

if TYPE_CHECKING:
    from zarr_compat.asynchronous import AsyncArray

__all__ = ["create_array", "from_array", "init_array"]


async def init_array(*, store_path: Any, **options: Any) -> AsyncArray:
    """Create an array without elements at a location."""
    created: AsyncArray = await create_array(store_path, **options)
    return created
