"""From whatever a user names a place by to a store with a path in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_core.errors import StoreError
from zarr_core.interfaces.store import Store
from zarr_core.names import normalise_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.hierarchy.node import Node

    # Objects of other libraries have no type in common.
    StoreLike: TypeAlias = (
        Store | Node[Any] | str | os.PathLike[str] | Mapping[str, bytes] | object | None
    )


def locate(
    place: StoreLike,
    path: str | None = None,
    *,
    read_only: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    synchronizer: Any = None,
) -> tuple[Store, str]:
    """Find the store, and the normalised path in it, that a user means.

    Parameters
    ----------
    place : store-like
        A :class:`Store`; a path, or a URL whose scheme names a store; a mapping
        of keys to bytes; an array or group, for what lies below it; None for new
        memory; what an installed store takes for its own, such as the stores of other
        libraries.  A path with the suffix of a store, such as ``.zip``, means that
        store, unless it is a directory that is none of its.  ``name+scheme://`` means the store of that name,
        whoever else has the scheme.
    path : str, optional
        Path of the node below that place.
    read_only : bool
        Open the store for reading; a store that is given is left as it is.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.
    synchronizer : object, optional
        What makes of the store, by ``wrap(store)``, one that holds locks while values change.

    Raises
    ------
    StoreError
        If the place is none of these.
    TypeError
        If the synchronizer has no such method.
    UnknownExtensionError
        If no installed distribution provides the store.
    NodeNameError
        If the path breaks the grammar.
    """
    from zarr_core.hierarchy.node import Node  # noqa: PLC0415 - nodes are made from locations

    if synchronizer is not None:
        found, below = locate(place, path, read_only=read_only, storage_options=storage_options)
        return _synchronised(found, synchronizer), below
    below = normalise_path("" if path is None else path)
    if storage_options and not isinstance(place, str | os.PathLike):
        raise StoreError("storage_options go with a URL", store=repr(place))
    if isinstance(place, Node):
        return place.store, "/".join(part for part in (place.path, below) if part)
    if isinstance(place, Store):
        return place, below
    if isinstance(place, str):
        return _from_path(place, read_only, dict(storage_options or {})), below
    if place is None or type(place) is dict:
        from zarr_core.stores.memory import MemoryStore  # noqa: PLC0415 - lazy: often not needed

        return MemoryStore(place, read_only=read_only), below
    if (store := _from_object(place, read_only)) is not None:
        return store, below
    if isinstance(place, os.PathLike):
        text = os.fspath(place)
        if not isinstance(text, str):
            raise StoreError("a path is a string, not bytes", store=repr(text))
        return _from_path(text, read_only, dict(storage_options or {})), below
    if isinstance(place, Mapping):
        from zarr_core.stores.mapping import MappingStore  # noqa: PLC0415 - lazy: as above

        return MappingStore(place, read_only=read_only), below
    raise StoreError(
        f"a {type(place).__module__}.{type(place).__name__} is no place for a hierarchy; give a "
        "path, a URL, a zarr_core store, a mapping of keys to bytes, an array or a group"
        + _who_takes(place)
    )


def _synchronised(store: Store, synchronizer: Any) -> Store:
    if not hasattr(synchronizer, "wrap"):
        raise TypeError(
            f"a {type(synchronizer).__name__} is no synchronizer: it has no wrap(store); zarr-stores "
            "has ThreadSynchronizer and ProcessSynchronizer, in zarr_stores.synchronizers"
        )
    wrapped: Store = synchronizer.wrap(store)
    return wrapped


def _from_object(place: object, read_only: bool) -> Store | None:
    """The store that somebody installed makes of an object of another library."""
    if not (modules := [*_modules(place)]):
        return None
    from zarr_core.registry.listing import names  # noqa: PLC0415 - lazy: scans entry points

    known = set(names("store"))
    for name in modules:
        if name in known:
            store = _store_class(name, repr(type(place)))
            if (found := store.from_object(place, read_only=read_only)) is not None:
                return found
    return None


def _modules(place: object) -> Iterator[str]:
    """Modules that the classes of an object are from, each followed by the packages it is in."""
    seen: set[str] = set()
    for kind in type(place).__mro__:
        name = kind.__module__
        if name.partition(".")[0] in sys.stdlib_module_names:
            continue
        while name and name not in seen:
            seen.add(name)
            yield name
            name = name.rpartition(".")[0]


def _who_takes(place: object) -> str:
    """What to install for an object that is no place here."""
    from zarr_core.registry.hints import well_known  # noqa: PLC0415 - lazy: only to explain

    for name in _modules(place):
        if distribution := well_known("store", name):
            return f". It is one with {distribution} of this version: pip install {distribution}"
    return ""


def _from_path(text: str, read_only: bool, options: dict[str, Any]) -> Store:
    if "://" in text:
        return _store_named(_name_in(text), text, read_only, options)
    suffix = os.path.splitext(text)[1].lower()
    # Only a suffix that could be a store's is worth asking what is installed.
    if suffix not in ("", ".zarr"):
        from zarr_core.registry.listing import names  # noqa: PLC0415 - lazy: scans entry points

        missing = None if os.path.isdir(text) else _SUFFIXES.get(suffix)
        name = suffix[1:] if suffix[1:] in names("store") else missing
        if name and _store_class(name, text).is_for(text):
            return _store_named(name, text, read_only, options)
    if options:
        raise StoreError("storage_options go with a URL, not with a path", store=text)
    from zarr_core.stores.local import LocalStore  # noqa: PLC0415 - lazy: often not needed

    return LocalStore(text, read_only=read_only)


# What would otherwise become a directory of that name, for want of the distribution.
_SUFFIXES = {".zip": "zip"}


def _name_in(url: str) -> str:
    """The name of the store that a URL is for."""
    if "://" in url.rpartition("::")[2] and "::" in url:
        return _CHAINS  # such as simplecache::s3://bucket/field.zarr
    scheme = url.partition("://")[0]
    name, plus, _ = scheme.partition("+")
    if plus:
        from zarr_core.registry.listing import names  # noqa: PLC0415 - lazy: scans entry points

        return scheme if scheme in names("store") else name
    return scheme


# Whose syntax the chains of URLs are.
_CHAINS = "fsspec"


def _store_named(name: str, url: str, read_only: bool, options: dict[str, Any]) -> Store:
    return _store_class(name, _shown(url)).from_url(url, read_only=read_only, **options)


def _shown(url: str) -> str:
    """A URL for messages: without users, passwords and questions, of which some are secret."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2].partition('?')[0]}"


def _store_class(name: str, where: str) -> type[Store]:
    from zarr_core.registry.resolve import find  # noqa: PLC0415 - lazy: often not needed

    return find("store", name, where)
