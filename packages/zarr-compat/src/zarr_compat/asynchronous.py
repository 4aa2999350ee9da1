"""Nodes for programs with an event loop: each call waits in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_compat.sync import in_thread

if TYPE_CHECKING:
    from zarr_compat.array import Array
    from zarr_compat.group import Group

__all__ = ["AsyncArray", "AsyncGroup", "AsyncOIndex", "AsyncVIndex"]


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
        found: AsyncArray | AsyncGroup = (await in_thread(self._group.__getitem__, key)).async_
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._group, name)

    def __repr__(self) -> str:
        return f"<Async{repr(self._group)[1:]}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._group,)
