"""Open and create nodes with the defaults of zarr-python."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import zarr_core

from zarr_compat.adapt import adapt, resolve_store
from zarr_compat.errors import (
    ArrayNotFoundError,
    GroupNotFoundError,
    NodeNotFoundError,
    NodeTypeValidationError,
)
from zarr_compat.node import Node
from zarr_compat.settings import config as settings
from zarr_compat.v2_arguments import accept_v2_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_compat.array import Array
    from zarr_compat.group import Group

__all__ = ["adapt_creation", "open", "open_array", "open_consolidated", "open_group"]


def open(store: Any = None, *, mode: Any = None, path: str | None = None, **options: Any) -> Any:
    """Open an array or a group; if it does not exist, create a group, or an array if ``shape`` is passed.

    Parameters
    ----------
    store : store-like
        Path, URL, mapping or store.
    mode : {"r", "r+", "a", "w", "w-"}, optional
        By default ``a``, or ``r`` for read-only stores.
    path : str, optional
        Path in the store.
    **options
        Further arguments of :func:`zarr_core.open`.
    """
    # As in zarr-python, arguments for a new array are ignored if the array exists.
    options.setdefault("match", False)
    return _open(zarr_core.open, store, mode, path, options, NodeNotFoundError)


def open_array(
    store: Any = None, *, mode: Any = None, path: str | None = None, **options: Any
) -> Array:
    """Open an array; if it does not exist, create it if ``shape`` is passed.

    Raises
    ------
    ArrayNotFoundError
        If the array does not exist and ``shape`` is not passed.
    """
    options.setdefault("match", False)
    found: Array = _open(zarr_core.open_array, store, mode, path, options, ArrayNotFoundError)
    return found


def open_group(
    store: Any = None, *, mode: Any = "a", path: str | None = None, **options: Any
) -> Group:
    """Open a group, and create it if it does not exist.

    Raises
    ------
    GroupNotFoundError
        If the path has an array, or no node and the mode does not create groups.
    """
    try:
        found: Group = _open(zarr_core.open_group, store, mode, path, options, GroupNotFoundError)
    except NodeTypeValidationError as error:
        raise GroupNotFoundError(str(error)) from error
    return found


def open_consolidated(store: Any, *, mode: Any = None, **options: Any) -> Group:
    """Open a group with its consolidated metadata; nothing is created.

    Raises
    ------
    ValueError
        If the group has no consolidated metadata.
    """
    return open_group(store, mode=mode or "r+", **{**options, "use_consolidated": True})


def adapt_creation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapt a function of the core that creates nodes, with the default format of the settings."""

    @functools.wraps(function)
    def create(*arguments: Any, **options: Any) -> Any:
        options = accept_v2_arguments(options)
        store = options.pop("store", None)
        given = options.pop("name", None)  # of create_array; other functions have path
        store_like, path, user_store = resolve_store(store, options.pop("path", given))
        if store_like is not None:
            options["store"] = store_like
        if path is not None:
            options["path"] = path
        if options.get("zarr_format") is None and not isinstance(store, Node):
            options["zarr_format"] = settings.get("default_zarr_format")
        return adapt(function, user_store)(*arguments, **options)

    return create


def _open(
    function: Callable[..., Any],
    store: Any,
    mode: Any,
    path: str | None,
    options: dict[str, Any],
    not_found: type[NodeNotFoundError],
) -> Any:
    options = accept_v2_arguments(options)
    store_like, path, user_store = resolve_store(store, path)
    call = functools.partial(adapt(function, user_store, not_found), store_like, path=path)
    is_path = isinstance(store_like, str | os.PathLike)
    if mode == "w" and is_path and os.fspath(store_like).endswith(".zip"):
        # Values cannot be removed from an archive; it is overwritten.
        mode, options = "w-", {**options, "storage_options": {"mode": "w"}}
    if mode is None:
        mode = "r" if getattr(store_like, "read_only", False) else "a"
    if mode in ("r", "r+"):
        return call(mode, **options)
    if mode == "a":
        try:
            return call("r+", **options)
        except NodeNotFoundError:
            creates = function is not zarr_core.open_array or {"shape", "data"} & options.keys()
            if not creates:
                raise
    if options.get("zarr_format") is None and not isinstance(store, Node):
        options = {**options, "zarr_format": settings.get("default_zarr_format")}
    return call(mode, **options)
