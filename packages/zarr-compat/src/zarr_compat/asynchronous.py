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


class AsyncNode:
    """A node whose calls are awaited; what has no definition here is that of the node.

    Parameters
    ----------
    node : Array or Group
        The node.
    """

    def __init__(self, node: Any) -> None:
        self._node = node

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._node, name)

    def __repr__(self) -> str:
        return f"<Async{repr(self._node)[1:]}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._node,)


class AsyncArray(AsyncNode):
    """An array whose elements are awaited."""

    _node: Array

    async def getitem(self, selection: Any, *, prototype: Any = None) -> Any:
        """Elements of integers and slices."""
        return await in_thread(self._node.__getitem__, selection)

    async def setitem(self, selection: Any, value: Any, prototype: Any = None) -> None:
        """Store elements."""
        await in_thread(self._node.__setitem__, selection, value)

    async def resize(self, new_shape: Any) -> None:
        """Change the shape."""
        await in_thread(self._node.resize, new_shape)

    async def nchunks_initialized(self) -> int:
        """Number of chunks that are stored."""
        found: int = await in_thread(lambda: self._node.nchunks_initialized)
        return found

    @property
    def oindex(self) -> AsyncOIndex:
        """Selects in each dimension by itself."""
        return AsyncOIndex(self._node.get_orthogonal_selection)

    @property
    def vindex(self) -> AsyncVIndex:
        """Selects single elements."""
        return AsyncVIndex(self._node.get_coordinate_selection)


class _AsyncIndex:
    """Selections of one kind, awaited.

    Parameters
    ----------
    read : callable
        Gives the elements of a selection.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    async def getitem(self, selection: Any) -> Any:
        """Elements."""
        return await in_thread(self._read, selection)


# Two classes, as programs name them and put their own ``getitem`` into one of them.
class AsyncOIndex(_AsyncIndex):
    """Selections in each dimension by itself, awaited."""


class AsyncVIndex(_AsyncIndex):
    """Selections of single elements, awaited."""


class AsyncGroup(AsyncNode):
    """A group whose members are awaited."""

    _node: Group

    async def getitem(self, key: str) -> AsyncArray | AsyncGroup:
        """The member at a path."""
        found: AsyncArray | AsyncGroup = await awaited(self._node.__getitem__, key)
        return found

    async def contains(self, member: str) -> bool:
        """Whether there is a member at a path."""
        return await in_thread(self._node.__contains__, member)

    async def delitem(self, key: str) -> None:
        """Remove the member at a path."""
        await in_thread(self._node.__delitem__, key)

    async def create_array(self, name: str, **options: Any) -> AsyncArray:
        """Make an array."""
        made: AsyncArray = await awaited(self._node.create_array, name, **options)
        return made

    async def create_group(self, name: str, **options: Any) -> AsyncGroup:
        """Make a group."""
        made: AsyncGroup = await awaited(self._node.create_group, name, **options)
        return made

    async def require_group(self, name: str, **options: Any) -> AsyncGroup:
        """The group of a name, made if it is not there."""
        made: AsyncGroup = await awaited(self._node.require_group, name, **options)
        return made

    async def members(
        self, max_depth: int | None = 0
    ) -> AsyncIterator[tuple[str, AsyncArray | AsyncGroup]]:
        """Paths and members."""
        for path, node in await in_thread(self._node.members, max_depth):
            yield path, node.async_

    async def keys(self) -> AsyncIterator[str]:
        """Names of the members."""
        names: list[str] = await in_thread(lambda: [*self._node])
        for name in names:
            yield name

    async def nmembers(self, max_depth: int | None = 0) -> int:
        """Number of members."""
        found: int = await in_thread(self._node.nmembers, max_depth)
        return found


async def awaited(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The array or group that a function gives, for programs with an event loop."""
    found = await in_thread(functools.partial(function, *arguments, **options))
    return found.async_
