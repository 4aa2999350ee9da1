"""Adapt calls of programs to the core: arguments, results and errors."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import zarr_core
from zarr.core.sync import sync
from zarr_core.extension import StoreError, ZarrError
from zarr_core.hierarchy.create_node import permit_nodes
from zarr_core.optional import optional_function

from zarr_compat.arguments import accept_arguments
from zarr_compat.async_store import AsyncStore
from zarr_compat.core_store import CoreStore
from zarr_compat.errors import NodeNotFoundError, raise_translated
from zarr_compat.storage import FsspecStore, MemoryStore, StorePath, join_paths
from zarr_compat.store import Store
from zarr_compat.wrapper import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["adapt", "resolve_store", "unwrap", "wrap_node"]


def wrap_node(core: zarr_core.Array | zarr_core.Group, store: Store | None = None) -> Any:
    """Wrap an array or group of the core."""
    wrapped = zarr_core.Array if isinstance(core, zarr_core.Array) else zarr_core.Group
    return Wrapper.classes[wrapped](core, store)


def unwrap(argument: Any) -> Any:
    """Return the object of the core behind an argument; other objects are returned unchanged."""
    if isinstance(argument, Wrapper):
        return argument.core
    if isinstance(argument, CoreStore):
        return argument.core
    if isinstance(argument, Store):
        return _adapted_store(argument)
    if hasattr(argument, "as_ndarray_like"):  # a buffer of zarr-python, for ``out=``
        return argument.as_ndarray_like()
    if callable(argument) and not isinstance(argument, type):
        return adapt_callback(argument)
    return argument


def _adapted_store(store: Store) -> zarr_core.Store:
    """Return a store for the core: by an adapter for its class, such as Icechunk's, if there is one."""
    if type(store).__module__.partition(".")[0] not in ("zarr", "zarr_compat"):
        try:
            return zarr_core.resolve_store_path(cast("Any", store))[0]
        except (StoreError, TypeError, ValueError):  # no adapter
            pass
    adapted = AsyncStore(store)
    if not getattr(store, "_is_open", True):
        sync(store._ensure_open())  # noqa: SLF001 - as zarr-python does
    return adapted


def resolve_store(store_like: Any, path: str | None = None) -> tuple[Any, str | None, Store | None]:
    """Return a store-like argument for the core, the path in it, and the store of the user."""
    if isinstance(store_like, StorePath):
        path = join_paths(store_like.path, path or "")
        store_like = store_like.store
    if isinstance(store_like, str) and store_like.startswith("memory://"):
        store_like = f"fsspec+{store_like}"  # in zarr-python, URLs are those of fsspec
    if store_like is None or type(store_like) is dict:
        store_like = MemoryStore(store_like)
    if type(store_like).__name__ == "FSMap":
        store_like = FsspecStore.from_mapper(store_like)
    if isinstance(store_like, Store):
        return unwrap(store_like), path, store_like
    user_store = getattr(store_like, "user_store", None)
    return unwrap(store_like), path, user_store


def wrap_result(node: Any, store: Store | None) -> Any:
    """Wrap a result of the core, also nodes within tuples and iterators."""
    if isinstance(node, zarr_core.Array | zarr_core.Group):
        return wrap_node(node, store)
    if type(node) is tuple:
        return tuple(wrap_result(item, store) for item in node)
    if isinstance(node, Iterator):
        return (wrap_result(item, store) for item in node)
    return node


def adapt(
    function: Callable[..., Any],
    store: Store | None = None,
    not_found: type[NodeNotFoundError] = NodeNotFoundError,
    allow_conflicts: bool = True,
) -> Callable[..., Any]:
    """Adapt a function of the core: its arguments, results and errors.

    ``store`` is that of nodes in the result; ``not_found`` is the error for a missing node.  With
    ``allow_conflicts``, nodes are created where one of another format exists.
    """

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        options = accept_arguments(function, arguments, options)
        rechecks = options.pop("recheck", None)
        try:
            # As zarr-python does: xarray uses reserved names, and ome-zarr creates groups of
            # version 3 in stores of version 2.
            with permit_nodes(reserved_names=True, other_formats=allow_conflicts):
                result = function(
                    *map(unwrap, arguments),
                    **{name: unwrap(value) for name, value in options.items()},
                )
        except ZarrError as error:
            raise_translated(error, not_found)
        if rechecks is not None:
            result = optional_function("cache_metadata=False")(result, rechecks)
        return wrap_result(result, store)

    return call


def adapt_callback(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapt a function of a program for the core."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return unwrap(function(*(wrap_result(item, None) for item in arguments)))

    return call
