"""Asynchronous arrays and groups; each call runs in a thread."""

from __future__ import annotations

import functools
from types import GenericAlias
from typing import TYPE_CHECKING, Any

from zarr.core.buffer import default_buffer_prototype

from zarr_compat import open_nodes
from zarr_compat.core_store import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

__all__ = ["AsyncArray", "AsyncGroup", "AsyncOIndex", "AsyncVIndex", "await_node"]


async def await_node(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call a function in a thread and return its result, nodes as asynchronous nodes."""
    found = await in_thread(functools.partial(function, *arguments, **options))
    return asynchronous(found)


def asynchronous(result: Any) -> Any:
    """Return a result with asynchronous nodes instead of others, also within tuples."""
    if isinstance(result, tuple):
        return tuple(map(asynchronous, result))
    return getattr(result, "async_", result)


def _coroutine(name: str) -> Callable[..., Any]:
    """Return a coroutine function that calls a method of the node."""

    async def call(self: AsyncNode, *arguments: Any, **options: Any) -> Any:
        return await await_node(getattr(self.node, name), *arguments, **options)

    call.__name__ = name
    return call


def _iterator(name: str) -> Callable[..., Any]:
    async def call(self: AsyncNode, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        def items() -> list[Any]:
            return [*getattr(self.node, name)(*arguments, **options)]

        for item in await in_thread(items):
            yield asynchronous(item)

    call.__name__ = name
    return call


class AsyncNode:
    """A node with asynchronous methods; other attributes are those of the wrapped node.

    Parameters
    ----------
    coroutines, iterators : str
        Keywords of a subclass: names of methods of the node that become coroutines or asynchronous
        iterators.
    """

    def __init_subclass__(cls, coroutines: str = "", iterators: str = "") -> None:
        super().__init_subclass__()
        for name in coroutines.split():
            setattr(cls, name, _coroutine(name))
        for name in iterators.split():
            setattr(cls, name, _iterator(name))

    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(self, node: Any) -> None:
        self._node = node

    @property
    def node(self) -> Any:
        """The array or group."""
        return self._node

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._node, name)

    def __repr__(self) -> str:
        return f"<Async{repr(self._node)[1:]}"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._node == other._node

    def __hash__(self) -> int:
        return hash(self._node)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._node,)


class AsyncArray(
    AsyncNode,
    coroutines="append get_coordinate_selection get_mask_selection get_orthogonal_selection "
    "info_complete nbytes_stored resize update_attributes",
):
    """An array with asynchronous methods.

    Parameters
    ----------
    node : Array, optional
        The array.
    store_path : StorePath, optional
        The location of an array that is opened at the first access.
    config : optional
        Its settings.
    metadata : optional
        Its metadata, which programs store before they access elements.
    """

    def __init__(
        self, node: Any = None, store_path: Any = None, config: Any = None, *, metadata: Any = None
    ) -> None:
        if store_path is None:
            super().__init__(node)
        else:  # in zarr-python, the first argument is the metadata
            self._metadata = node if metadata is None else metadata
            self._place = store_path
            self._config = config

    @functools.cached_property
    def _node(self) -> Any:
        options = {} if self._config is None else {"config": self._config}
        return open_nodes.open_array(self._place, mode=_mode_of(self._place), **options)

    @property
    def metadata(self) -> Any:
        """The metadata."""
        return self._node.metadata if "_node" in vars(self) else self._metadata

    async def _save_metadata(self, metadata: Any, ensure_parents: bool = False) -> None:
        """Store metadata; programs such as pydantic-zarr create arrays in this way."""
        place = self._place if "_node" not in vars(self) else self._node.store_path
        for name, value in metadata.to_buffer_dict(default_buffer_prototype()).items():
            await type(place)(place.store, f"{place.path}/{name}").set(value)
        if ensure_parents and place.path:
            above = type(place)(place.store, place.path.rpartition("/")[0])
            await await_node(
                open_nodes.open_group, above, mode="a", zarr_format=metadata.zarr_format
            )

    @classmethod
    async def open(cls, store: Any, zarr_format: int | None = None) -> AsyncArray:
        """Open an array at a location."""
        array: AsyncArray = await await_node(
            open_nodes.open_array, store, mode=_mode_of(store), zarr_format=zarr_format
        )
        return array

    @classmethod
    async def create(cls, store: Any, **options: Any) -> AsyncArray:
        """Create an array at a location."""
        array: AsyncArray = await await_node(open_nodes.create, store=store, **options)
        return array

    def with_config(self, config: Any) -> AsyncArray:
        """Return the array with other settings."""
        return AsyncArray(self._node.with_config(config))

    async def getitem(self, selection: Any, *, prototype: Any = None) -> Any:
        """Read the elements of a basic selection."""
        return await in_thread(self._node.__getitem__, selection)

    async def setitem(self, selection: Any, value: Any, prototype: Any = None) -> None:
        """Write the elements of a basic selection."""
        await in_thread(self._node.__setitem__, selection, value)

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
    """Asynchronous selections of one kind; ``read`` reads the elements of a selection."""

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


class AsyncGroup(
    AsyncNode,
    coroutines="create_array create_dataset create_group empty empty_like full full_like get "
    "get_array get_group info_complete move nmembers ones ones_like require_array require_dataset "
    "require_group require_groups tree update_attributes zeros zeros_like",
    iterators="array_keys array_values arrays create_hierarchy group_keys group_values groups keys "
    "members",
):
    """A group with asynchronous methods."""

    contains = _coroutine("__contains__")
    delitem = _coroutine("__delitem__")
    getitem = _coroutine("__getitem__")
    setitem = _coroutine("__setitem__")

    @classmethod
    async def open(cls, store: Any, zarr_format: int | None = 3, **options: Any) -> AsyncGroup:
        """Open a group at a location; see :func:`zarr_compat.open_nodes.open_group`."""
        group: AsyncGroup = await await_node(
            open_nodes.open_group, store, mode=_mode_of(store), zarr_format=zarr_format, **options
        )
        return group

    @classmethod
    async def from_store(cls, store: Any, **options: Any) -> AsyncGroup:
        """Create a group at a location; see :func:`zarr_core.create_group`."""
        group: AsyncGroup = await await_node(open_nodes.create_group, store, **options)
        return group


def _mode_of(store: Any) -> str:
    return "r" if getattr(store, "read_only", False) else "r+"
