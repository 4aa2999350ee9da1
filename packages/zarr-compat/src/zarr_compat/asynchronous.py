"""Nodes for programs with an event loop: each call waits in a thread."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from zarr_compat.sync import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from zarr_compat.array import Array
    from zarr_compat.group import Group

__all__ = ["AsyncArray", "AsyncGroup", "AsyncOIndex", "AsyncVIndex", "awaited"]


class AsyncArray:
    """An array whose elements are awaited.

    Parameters
    ----------
    array : Array
        The array.
    """

    def __init__(self, array: Array) -> None:
        self._array = array

    async def getitem(self, selection: Any, *, prototype: Any = None) -> Any:
        """Elements of integers and slices."""
        return await in_thread(self._array.__getitem__, selection)

    async def setitem(self, selection: Any, value: Any, prototype: Any = None) -> None:
        """Store elements."""
        await in_thread(self._array.__setitem__, selection, value)

    async def resize(self, new_shape: Any) -> None:
        """Change the shape."""
        await in_thread(self._array.resize, new_shape)

    async def nchunks_initialized(self) -> int:
        """Number of chunks that are stored."""
        found: int = await in_thread(lambda: self._array.nchunks_initialized)
        return found

    @property
    def oindex(self) -> AsyncOIndex:
        """Selects in each dimension by itself."""
        return AsyncOIndex(self._array)

    @property
    def vindex(self) -> AsyncVIndex:
        """Selects single elements."""
        return AsyncVIndex(self._array)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._array, name)

    def __repr__(self) -> str:
        return f"<Async{repr(self._array)[1:]}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._array,)


class AsyncOIndex:
    """Selects in each dimension by itself.

    Parameters
    ----------
    array : Array
        Of which.
    """

    def __init__(self, array: Array) -> None:
        self._array = array

    async def getitem(self, selection: Any) -> Any:
        """Elements."""
        return await in_thread(self._array.get_orthogonal_selection, selection)


class AsyncVIndex:
    """Selects single elements.

    Parameters
    ----------
    array : Array
        Of which.
    """

    def __init__(self, array: Array) -> None:
        self._array = array

    async def getitem(self, selection: Any) -> Any:
        """Elements."""
        return await in_thread(self._array.get_coordinate_selection, selection)


class AsyncGroup:
    """A group whose members are awaited.

    Parameters
    ----------
    group : Group
        The group.
    """

    def __init__(self, group: Group) -> None:
        self._group = group

    async def getitem(self, key: str) -> AsyncArray | AsyncGroup:
        """The member at a path."""
        found: AsyncArray | AsyncGroup = await awaited(self._group.__getitem__, key)
        return found

    async def contains(self, member: str) -> bool:
        """Whether there is a member at a path."""
        return await in_thread(self._group.__contains__, member)

    async def delitem(self, key: str) -> None:
        """Remove the member at a path."""
        await in_thread(self._group.__delitem__, key)

    async def create_array(self, name: str, **options: Any) -> AsyncArray:
        """Make an array."""
        made: AsyncArray = await awaited(self._group.create_array, name, **options)
        return made

    async def create_group(self, name: str, **options: Any) -> AsyncGroup:
        """Make a group."""
        made: AsyncGroup = await awaited(self._group.create_group, name, **options)
        return made

    async def require_group(self, name: str, **options: Any) -> AsyncGroup:
        """The group of a name, made if it is not there."""
        made: AsyncGroup = await awaited(self._group.require_group, name, **options)
        return made

    async def members(
        self, max_depth: int | None = 0
    ) -> AsyncIterator[tuple[str, AsyncArray | AsyncGroup]]:
        """Paths and members."""
        for path, node in await in_thread(self._group.members, max_depth):
            yield path, node.async_

    async def keys(self) -> AsyncIterator[str]:
        """Names of the members."""
        names: list[str] = await in_thread(lambda: [*self._group])
        for name in names:
            yield name

    async def nmembers(self, max_depth: int | None = 0) -> int:
        """Number of members."""
        found: int = await in_thread(self._group.nmembers, max_depth)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._group, name)

    def __repr__(self) -> str:
        return f"<Async{repr(self._group)[1:]}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._group,)


async def awaited(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The array or group that a function gives, for programs with an event loop."""
    found = await in_thread(functools.partial(function, *arguments, **options))
    return found.async_
