"""Asynchronous arrays and groups; each call runs in a thread."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from zarr_compat.sync import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

__all__ = ["AsyncArray", "AsyncGroup", "AsyncOIndex", "AsyncVIndex", "await_node"]


class AsyncNode:
    """A node with asynchronous methods; other attributes are those of the wrapped node.

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
    """An array with asynchronous methods."""

    async def getitem(self, selection: Any, *, prototype: Any = None) -> Any:
        """Read the elements of a basic selection."""
        return await in_thread(self._node.__getitem__, selection)

    async def setitem(self, selection: Any, value: Any, prototype: Any = None) -> None:
        """Write the elements of a basic selection."""
        await in_thread(self._node.__setitem__, selection, value)

    async def resize(self, new_shape: Any) -> None:
        """Change the shape."""
        await in_thread(self._node.resize, new_shape)

    async def nchunks_initialized(self) -> int:
        """Return the number of stored chunks."""
        found: int = await in_thread(lambda: self._node.nchunks_initialized)
        return found

    @property
    def oindex(self) -> AsyncOIndex:
        """Orthogonal selections."""
        return AsyncOIndex(self._node.get_orthogonal_selection)

    @property
    def vindex(self) -> AsyncVIndex:
        """Coordinate selections."""
        return AsyncVIndex(self._node.get_coordinate_selection)


class _AsyncIndex:
    """Asynchronous selections of one kind.

    Parameters
    ----------
    read : callable
        Reads the elements of a selection.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    async def getitem(self, selection: Any) -> Any:
        """Read the elements of a selection."""
        return await in_thread(self._read, selection)


# Two classes, because programs import both names and override ``getitem`` in one of them.
class AsyncOIndex(_AsyncIndex):
    """Asynchronous orthogonal selections."""


class AsyncVIndex(_AsyncIndex):
    """Asynchronous coordinate selections."""


class AsyncGroup(AsyncNode):
    """A group with asynchronous methods."""

    async def getitem(self, key: str) -> AsyncArray | AsyncGroup:
        """Return the member at a path."""
        found: AsyncArray | AsyncGroup = await await_node(self._node.__getitem__, key)
        return found

    async def contains(self, member: str) -> bool:
        """Return whether a path has a member."""
        return await in_thread(self._node.__contains__, member)

    async def delitem(self, key: str) -> None:
        """Remove the member at a path."""
        await in_thread(self._node.__delitem__, key)

    async def create_array(self, name: str, **options: Any) -> AsyncArray:
        """Create an array."""
        array: AsyncArray = await await_node(self._node.create_array, name, **options)
        return array

    async def create_group(self, name: str, **options: Any) -> AsyncGroup:
        """Create a group."""
        group: AsyncGroup = await await_node(self._node.create_group, name, **options)
        return group

    async def require_group(self, name: str, **options: Any) -> AsyncGroup:
        """Return the group of a name, and create it if it does not exist."""
        group: AsyncGroup = await await_node(self._node.require_group, name, **options)
        return group

    async def members(
        self, max_depth: int | None = 0
    ) -> AsyncIterator[tuple[str, AsyncArray | AsyncGroup]]:
        """Yield paths and members."""
        for path, node in await in_thread(self._node.members, max_depth):
            yield path, node.async_

    async def keys(self) -> AsyncIterator[str]:
        """Yield the names of the members."""
        names: list[str] = await in_thread(lambda: [*self._node])
        for name in names:
            yield name

    async def nmembers(self, max_depth: int | None = 0) -> int:
        """Return the number of members."""
        found: int = await in_thread(self._node.nmembers, max_depth)
        return found


async def await_node(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call a function in a thread and return its result as an asynchronous node."""
    found = await in_thread(functools.partial(function, *arguments, **options))
    return found.async_
