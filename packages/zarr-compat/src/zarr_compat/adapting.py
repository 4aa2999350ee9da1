"""Calls from programs to the core: arguments one way, results with errors the other."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core.extension import ZarrError

from zarr_compat.core_store import CoreStore
from zarr_compat.errors import NodeNotFoundError, translated
from zarr_compat.foreign import ForeignStore
from zarr_compat.storage import StorePath
from zarr_compat.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["adapted", "core_of", "node_of", "place_of"]


def node_of(core: zarr_core.Array | zarr_core.Group, store: Store | None = None) -> Any:
    """The array or group that a program gets for one of the core."""
    from zarr_compat.array import Array  # noqa: PLC0415 - arrays adapt what they give
    from zarr_compat.group import Group  # noqa: PLC0415 - groups adapt what they give

    return Array(core, store) if isinstance(core, zarr_core.Array) else Group(core, store)


def core_of(given: Any) -> Any:
    """What stands behind an argument; anything else is left as it is."""
    from zarr_compat.node import Node  # noqa: PLC0415 - nodes adapt what they give

    if isinstance(given, Node):
        return given.core
    if isinstance(given, CoreStore):
        return given.core
    if isinstance(given, Store):
        return ForeignStore(given)
    if callable(given) and not isinstance(given, type):
        return adapted_callback(given)
    return given


def place_of(place: Any, path: str | None = None) -> tuple[Any, str | None, Store | None]:
    """A store-like argument as the core takes it, the path below it, the store to show for it."""
    if isinstance(place, StorePath):
        path = "/".join(part.strip("/") for part in (place.path, path or "") if part.strip("/"))
        place = place.store
    if isinstance(place, Store):
        return core_of(place), path, place
    shown = getattr(place, "shown_store", None)
    return core_of(place), path, shown


def result_of(found: Any, store: Store | None) -> Any:
    """What a program gets for a result of the core: its nodes, within tuples and iterators too."""
    if isinstance(found, zarr_core.Array | zarr_core.Group):
        return node_of(found, store)
    if type(found) is tuple:
        return tuple(result_of(item, store) for item in found)
    if isinstance(found, Iterator):
        return (result_of(item, store) for item in found)
    return found


def adapted(
    function: Callable[..., Any],
    store: Store | None = None,
    sought: type[NodeNotFoundError] = NodeNotFoundError,
) -> Callable[..., Any]:
    """A function of the core for programs: with their arguments, results and errors.

    Parameters
    ----------
    function : callable
        The function or method.
    store : Store, optional
        What nodes among the results show as their store.
    sought : type
        What is raised if nothing was found.
    """

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            found = function(
                *map(core_of, arguments),
                **{name: core_of(value) for name, value in options.items()},
            )
        except ZarrError as error:
            other = translated(error, sought)
            if other is error:
                raise
            raise other from error
        return result_of(found, store)

    return call


def adapted_callback(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a program for the core."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return core_of(function(*(result_of(item, None) for item in arguments)))

    return call
