"""Nodes opened, or made, with the defaults of zarr-python."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import zarr_core

from zarr_compat.adapting import adapted, place_of
from zarr_compat.errors import (
    ArrayNotFoundError,
    GroupNotFoundError,
    NodeNotFoundError,
    NodeTypeValidationError,
)
from zarr_compat.node import Node
from zarr_compat.settings import config as settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_compat.array import Array
    from zarr_compat.group import Group

__all__ = ["making", "open", "open_array", "open_consolidated", "open_group"]


def open(store: Any = None, *, mode: Any = None, path: str | None = None, **options: Any) -> Any:
    """Open an array or a group; what is not there is made as a group, or as an array of a shape.

    Parameters
    ----------
    store : store-like
        Where.
    mode : {"r", "r+", "a", "w", "w-"}, optional
        ``a`` by default, or ``r`` of a store that is read only.
    path : str, optional
        Path in the store.
    **options
        Further arguments of :func:`zarr_core.open`.
    """
    return _opened(zarr_core.open, store, mode, path, options, NodeNotFoundError)


def open_array(
    store: Any = None, *, mode: Any = None, path: str | None = None, **options: Any
) -> Array:
    """Open an array; what is not there is made if a shape is given.

    Raises
    ------
    ArrayNotFoundError
        If there is none, and no shape.
    """
    found: Array = _opened(zarr_core.open_array, store, mode, path, options, ArrayNotFoundError)
    return found


def open_group(
    store: Any = None, *, mode: Any = "a", path: str | None = None, **options: Any
) -> Group:
    """Open a group; what is not there is made.

    Raises
    ------
    GroupNotFoundError
        If there is none, or an array, and the mode is one that makes none.
    """
    try:
        found: Group = _opened(zarr_core.open_group, store, mode, path, options, GroupNotFoundError)
    except NodeTypeValidationError as error:
        raise GroupNotFoundError(str(error)) from error
    return found


def open_consolidated(store: Any, *, mode: Any = None, **options: Any) -> Group:
    """Open a group with its consolidated metadata; nothing is made.

    Raises
    ------
    ValueError
        If it has none.
    """
    return open_group(store, mode=mode or "r+", **{**options, "use_consolidated": True})


def making(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the core that makes nodes, with a format by the settings here."""

    @functools.wraps(function)
    def make(*arguments: Any, **options: Any) -> Any:
        store = options.pop("store", None)
        word = "path" if "path" in options else "name"
        place, below, shown = place_of(store, options.pop(word, None))
        if place is not None:
            options["store"] = place
        if below is not None:
            options[word] = below
        if options.get("zarr_format") is None and not isinstance(store, Node):
            options["zarr_format"] = settings.get("default_zarr_format")
        return adapted(function, shown)(*arguments, **options)

    return make


def _opened(
    function: Callable[..., Any],
    store: Any,
    mode: Any,
    path: str | None,
    options: dict[str, Any],
    sought: type[NodeNotFoundError],
) -> Any:
    place, below, shown = place_of(store, path)
    call = functools.partial(adapted(function, shown, sought), place, path=below)
    if mode == "w" and isinstance(place, str | os.PathLike) and os.fspath(place).endswith(".zip"):
        # Nothing can be removed from an archive; it is begun anew.
        mode, options = "w-", {**options, "storage_options": {"mode": "w"}}
    if mode is None:
        mode = "r" if getattr(place, "read_only", False) else "a"
    if mode in ("r", "r+"):
        return call(mode, **options)
    if mode == "a":
        try:
            return call("r+", **options)
        except NodeNotFoundError:
            makes = function is not zarr_core.open_array or {"shape", "data"} & options.keys()
            if not makes:
                raise
    if options.get("zarr_format") is None and not isinstance(store, Node):
        options = {**options, "zarr_format": settings.get("default_zarr_format")}
    return call(mode, **options)
