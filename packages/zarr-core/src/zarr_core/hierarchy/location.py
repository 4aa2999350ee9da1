"""From whatever a user names a place by to a store with a path in it."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_core.errors import StoreError
from zarr_core.interfaces.store import Store
from zarr_core.names import normalise_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.hierarchy.node import Node

    StoreLike: TypeAlias = (
        Store | Node[Any] | str | os.PathLike[str] | MutableMapping[str, bytes] | None
    )


def locate(
    place: StoreLike,
    path: str | None = None,
    *,
    read_only: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> tuple[Store, str]:
    """Find the store, and the normalised path in it, that a user means.

    Parameters
    ----------
    place : store-like
        A :class:`Store`; a path, or a URL whose scheme names a store; a mapping
        of keys to bytes; an array or group, for what lies below it; None for new
        memory.  A path with the suffix of a store, such as ``.zip``, means that
        store unless it is a directory.
    path : str, optional
        Path of the node below that place.
    read_only : bool
        Open the store for reading; a store that is given is left as it is.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.

    Raises
    ------
    StoreError
        If the place is none of these.
    UnknownExtensionError
        If no installed distribution provides the store.
    NodeNameError
        If the path breaks the grammar.
    """
    from zarr_core.hierarchy.node import Node  # noqa: PLC0415 - nodes are made from locations

    below = normalise_path("" if path is None else path)
    if storage_options and not isinstance(place, str | os.PathLike):
        raise StoreError("storage_options go with a URL", store=repr(place))
    if isinstance(place, Node):
        return place.store, "/".join(part for part in (place.path, below) if part)
    if isinstance(place, Store):
        return place, below
    if isinstance(place, str | os.PathLike):
        text = os.fspath(place)
        if not isinstance(text, str):
            raise StoreError("a path is a string, not bytes", store=repr(text))
        return _from_path(text, read_only, dict(storage_options or {})), below
    if place is None or isinstance(place, MutableMapping):
        from zarr_core.stores.memory import MemoryStore  # noqa: PLC0415 - lazy: often not needed

        return MemoryStore(place, read_only=read_only), below
    raise StoreError(
        f"a {type(place).__module__}.{type(place).__name__} is no place for a hierarchy; give a "
        "path, a URL, a zarr_core store, a mapping of keys to bytes, an array or a group "
        "(stores of other libraries: pip install zarr-stores)"
    )


def _from_path(text: str, read_only: bool, options: dict[str, Any]) -> Store:
    scheme, separator, _ = text.partition("://")
    if separator:
        return _store_named(scheme, text, read_only, options)
    suffix = os.path.splitext(text)[1].lower()
    # Only a suffix that could be a store's is worth asking what is installed.
    if suffix not in ("", ".zarr") and not os.path.isdir(text):
        from zarr_core.registry.listing import names  # noqa: PLC0415 - lazy: scans entry points

        if suffix[1:] in names("store"):
            return _store_named(suffix[1:], text, read_only, options)
        if suffix in _SUFFIXES:
            return _store_named(_SUFFIXES[suffix], text, read_only, options)
    if options:
        raise StoreError("storage_options go with a URL, not with a path", store=text)
    from zarr_core.stores.local import LocalStore  # noqa: PLC0415 - lazy: often not needed

    return LocalStore(text, read_only=read_only)


# What would otherwise become a directory of that name, for want of the distribution.
_SUFFIXES = {".zip": "zip"}


def _store_named(name: str, url: str, read_only: bool, options: dict[str, Any]) -> Store:
    from zarr_core.registry.resolve import find  # noqa: PLC0415 - lazy: often not needed

    store: Store = find("store", name, url).from_url(url, read_only=read_only, **options)
    return store
