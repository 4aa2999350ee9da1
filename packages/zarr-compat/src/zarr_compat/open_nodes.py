"""Open and create nodes with the defaults of zarr-python."""

from __future__ import annotations

import functools
import os
import warnings
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core.extension import StoreReadOnlyError

from zarr_compat.adapt import adapt, resolve_store
from zarr_compat.arguments import settings_of_array
from zarr_compat.errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    GroupNotFoundError,
    NodeNotFoundError,
    NodeTypeValidationError,
    ZarrDeprecationWarning,
)
from zarr_compat.settings import config as settings
from zarr_compat.storage import FsspecStore
from zarr_compat.wrapper import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "adapt_creation",
    "create",
    "create_array",
    "create_group",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
]


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

    Raises
    ------
    GroupNotFoundError
        If the path has no node and the mode does not create one.
    """
    # As in zarr-python, arguments for a new array are ignored if the array exists.
    options.setdefault("match", False)
    return _open(zarr_core.open, store, mode, path, options, GroupNotFoundError)


def open_array(
    store: Any = None, *, mode: Any = None, path: str | None = None, **options: Any
) -> Any:
    """Open an array; if it does not exist, create it if ``shape`` is passed."""
    options.setdefault("match", False)
    return _open(zarr_core.open_array, store, mode, path, options, ArrayNotFoundError)


def open_group(
    store: Any = None, *, mode: Any = "a", path: str | None = None, **options: Any
) -> Any:
    """Open a group, and create it if it does not exist."""
    try:
        return _open(zarr_core.open_group, store, mode, path, options, GroupNotFoundError)
    except NodeTypeValidationError as error:
        raise ContainsArrayError(str(error)) from error


def open_consolidated(store: Any, *, mode: Any = None, **options: Any) -> Any:
    """Open a group with its consolidated metadata; nothing is created."""
    return open_group(store, mode=mode or "r+", **{**options, "use_consolidated": True})


def adapt_creation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapt a function of the core that creates nodes, with the default format of the settings."""

    @functools.wraps(function)
    def create(*arguments: Any, **options: Any) -> Any:
        options = _with_format(options)
        store = options.pop("store", None)
        name = options.pop("name", None)  # of create_array; other functions have path
        store_like, path, user_store = resolve_store(store, options.pop("path", name))
        if store_like is not None:
            options["store"] = store_like
        if path is not None:
            options["path"] = path
        if options.get("zarr_format") is None and not isinstance(store, Wrapper):
            like = arguments[0] if arguments else options.get("a", options.get("like"))
            kept = like.core.zarr_format if isinstance(like, Wrapper) else None
            options["zarr_format"] = kept or settings.get("default_zarr_format")
        return adapt(function, user_store)(*arguments, **options)

    return create


def create(shape: Any = None, **options: Any) -> Any:
    """Create an array of a shape; see :func:`zarr_core.create`."""
    return adapt_creation(zarr_core.create)(shape, **options)


def create_array(store: Any = None, **options: Any) -> Any:
    """Create an array; see :func:`zarr_core.create_array`."""
    return adapt_creation(zarr_core.create_array)(store=store, **options)


def create_group(store: Any = None, **options: Any) -> Any:
    """Create a group; see :func:`zarr_core.create_group`."""
    return adapt_creation(zarr_core.create_group)(
        store=store, path=options.pop("path", None), **options
    )


def _open(
    function: Callable[..., Any],
    store: Any,
    mode: Any,
    path: str | None,
    options: dict[str, Any],
    not_found: type[NodeNotFoundError],
) -> Any:
    options = _with_format(options)
    if isinstance(store, str) and store.startswith("reference://"):  # programs use store.fs
        store = FsspecStore.from_url(store, options.pop("storage_options", None))
    store_like, path, user_store = resolve_store(store, path)
    # Mode "w-" raises if any node exists.
    adapted = adapt(function, user_store, not_found, allow_conflicts=mode != "w-")

    def call(mode: str, **options: Any) -> Any:
        opened = adapted(store_like, mode, path=path, **options)
        core = opened.core
        if isinstance(core, zarr_core.Group) and core.stored.uses_consolidated:
            _require_parents(core)
        if (
            isinstance(core, zarr_core.Array)
            and core.zarr_format == 3
            and core.stored.result_order is None
        ):
            ordered = settings_of_array(options)
            if ordered["config"]["order"] != core.stored.resolved.order:
                mode = "r+" if mode in ("a", "w", "w-") else mode
                return adapted(store_like, mode, path=path, **ordered)
        return opened

    is_path = isinstance(store_like, str | os.PathLike) and not os.path.isdir(store_like)
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
        except StoreReadOnlyError:  # zarr-python raises at the first change
            return call("r", **options)
        except NodeNotFoundError:
            creates = function is not zarr_core.open_array or {"shape", "data"} & options.keys()
            if not creates:
                raise
    if options.get("zarr_format") is None and not isinstance(store, Wrapper):
        options = {**options, "zarr_format": settings.get("default_zarr_format")}
    return call(mode, **options)


def _require_parents(group: zarr_core.Group) -> None:
    """Raise a GroupNotFoundError, as zarr-python does, if consolidated metadata lacks a group.

    Members of that group would not be listed.
    """
    consolidated = group.metadata.consolidated
    entries = {} if consolidated is None else consolidated.entries
    for path in entries:
        parent = path.rpartition("/")[0]
        if parent and parent not in entries:
            raise GroupNotFoundError(
                f"No group found in store: {group.store} {group.name!r}: the consolidated metadata "
                f"has {path!r}, but not the group {parent!r}; repeat consolidate_metadata(), or pass "
                "use_consolidated=False"
            )


def _with_format(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with ``zarr_format`` instead of ``zarr_version``."""
    options = dict(options)
    version = options.pop("zarr_version", None)
    if version is not None:
        warnings.warn(
            "zarr_version is deprecated, use zarr_format", ZarrDeprecationWarning, stacklevel=3
        )
        if options.get("zarr_format") not in (None, version):
            raise ValueError(
                f"zarr_format {options['zarr_format']} does not match zarr_version {version}, "
                "please only set one"
            )
        options["zarr_format"] = version
    return options
