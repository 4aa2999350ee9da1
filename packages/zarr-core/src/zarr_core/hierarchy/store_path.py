"""Find the store and the path of a location."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from zarr_core.config import config
from zarr_core.errors import StoreError
from zarr_core.hierarchy.node import Node
from zarr_core.interfaces.store import Store, store_from_object
from zarr_core.location import Location
from zarr_core.names import join, normalise_path
from zarr_core.optional import optional_function
from zarr_core.stores.local import LocalStore

if TYPE_CHECKING:
    from collections.abc import Iterator

# object: stores of other libraries have no common type.
StoreLike: TypeAlias = (
    "Store | Node[Any] | str | os.PathLike[str] | Mapping[str, bytes] | object | None"
)
"""A store, or a location from which one is opened; see :func:`resolve_store_path`."""


class NodeOptions(NamedTuple):
    """The arguments of functions that open and create nodes, except those of new metadata."""

    path: str | None = None
    zarr_format: int | str | None = None
    storage_options: Mapping[str, Any] | None = None
    extensions: Mapping[str, Mapping[str, Any]] | None = None
    config: Mapping[str, Any] | None = None
    use_consolidated: bool | None = None
    metadata: Any = None
    match: bool = True
    overwrite: bool = False

    def resolve(
        self, location: StoreLike, *, read_only: bool = False
    ) -> tuple[Store, str, int | str | None]:
        """Return the store, the path and the format.

        A location such as ``PLACE|zarr3:path`` names the format at its end.  Raises a StoreError
        if ``zarr_format`` is another one.
        """
        path, zarr_format = self.path, self.zarr_format
        if isinstance(location, str) and "|" in location and not os.path.lexists(location):
            split = optional_function("open(PLACE|format:path)")
            location, path, zarr_format = split(location, path, zarr_format)
        store, path = resolve_store_path(
            location, path, read_only=read_only, storage_options=self.storage_options
        )
        return store, path, zarr_format


def resolve_store_path(
    store: StoreLike,
    path: str | None = None,
    *,
    read_only: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> tuple[Store, str]:
    """Return the store of a location, and the normalised path in it.

    Parameters
    ----------
    store : store-like
        A :class:`Store`; a path, or a URL whose scheme names a store; a mapping of keys to bytes;
        an array or group, for paths below it; None for new memory; an object that an installed
        store supports, such as a store of another library.  The suffix of a path may select a
        store, such as ``.zip``.  In ``name+scheme://``, the name selects the store.  ``~`` and
        ``~user`` at the beginning of a path are home directories.  In ``PLACE|scheme:path``, the
        scheme names what is there: ``zip``, another store in a file, or a format such as
        ``zarr3``; ``auto`` recognises a file by its first bytes.
    path : str, optional
        Path of the node below the location.
    read_only : bool
        Open the store for reading; has no effect on a store object.
    storage_options : mapping, optional
        Further arguments for the store of a URL or path, such as ``follow_links`` for a directory.

    Raises
    ------
    StoreError
        If the location is not supported, or a path looks like a URL with one slash
        (``s3:/bucket``) or like a Windows drive (``C:/data``) on another system.
    UnknownExtensionError
        If no installed distribution provides the store.
    NodeNameError
        If the path is invalid.
    """
    path = "" if path is None else normalise_path(path)
    options = dict(storage_options or {})
    if options and not isinstance(store, str | os.PathLike):
        raise StoreError("storage_options requires a URL or path", store=repr(store))
    resolved: tuple[Store, str] | None = None
    if isinstance(store, Node):
        resolved = store.store, store.path
    # A URL pipeline, unless it is the path of a file.
    elif isinstance(store, str) and "|" in store and not os.path.lexists(store):
        resolve_pipeline = optional_function("open(PLACE|scheme:path)")
        resolved = resolve_pipeline(store, read_only, options, _from_path)
    opened, above = resolved or (_store_of(store, read_only, options), "")
    if config.settings.chunk_cache is not None:
        with_cache = optional_function("config.set(chunk_cache=...)")
        opened = with_cache(opened, config.settings.chunk_cache)
    return opened, join(above, path) if above else path


def _store_of(location: Any, read_only: bool, options: dict[str, Any]) -> Store:
    """The store of a location that is neither a node nor a URL pipeline."""
    if isinstance(location, str):  # first, for speed
        return _from_path(location, read_only, options)
    if isinstance(location, Store):
        return location
    if location is None or type(location) is dict:
        from zarr_core.stores.memory import MemoryStore

        return MemoryStore(location, read_only=read_only)
    modules = [*_modules(location)]
    if modules:
        from zarr_core.registry.discovery import usable_names  # slow to import

        stores = set(usable_names("store"))
        for name in modules:
            if name in stores:
                store_class = _store_class(name, Location(repr(type(location))))
                if store := store_from_object(store_class, location, read_only=read_only):
                    return store
    if isinstance(location, os.PathLike):
        text = os.fspath(location)
        if isinstance(text, str):
            return _from_path(text, read_only, options)
        raise StoreError("a path must be a string, not bytes", store=repr(text))
    from zarr_core.known_extensions import OTHER_OBJECTS
    from zarr_core.registry.hints import requirement

    advice = next((OTHER_OBJECTS[name] for name in modules if name in OTHER_OBJECTS), "")
    if isinstance(location, Mapping) and not advice:
        from zarr_core.stores.memory import MemoryStore

        return MemoryStore(location, read_only=read_only)
    wanted = next(filter(None, (requirement("store", name) for name in modules)), None)
    if wanted is not None:
        advice = f"the current version of {wanted} can: pip install --upgrade {wanted}"
    advice = advice or (
        "pass a path, a URL, a zarr_core store, a mapping of keys to bytes, an array or a group, "
        "and pass elements as data="
    )
    class_name = f"{type(location).__module__}.{type(location).__name__}".removeprefix("builtins.")
    raise StoreError(f"cannot open a store from {class_name}; {advice}")


def _modules(location: object) -> Iterator[str]:
    """Names of the modules of the classes of an object, each followed by its packages."""
    names: set[str] = set()
    for base in type(location).__mro__:
        name = base.__module__
        if name.partition(".")[0] in sys.stdlib_module_names:
            continue
        while name and name not in names:
            names.add(name)
            yield name
            name = name.rpartition(".")[0]


def _from_path(text: str, read_only: bool, options: dict[str, Any]) -> Store:
    if "://" in text:
        return _from_url(text, read_only, options)
    # For speed: most paths need no check.
    if ":" in text or text.startswith("~"):
        text = _checked_path(text)
    suffix = os.path.splitext(text)[1].lower()
    # For speed: other suffixes do not need the installed stores.
    if suffix not in ("", ".zarr"):
        _check_metadata_key(text)
        from zarr_core.known_extensions import FILE_SUFFIXES
        from zarr_core.registry.discovery import is_provided  # slow to import

        name = suffix[1:]
        # Without its distribution, a directory of that name would be created.
        expected = name in FILE_SUFFIXES and not os.path.isdir(text)
        if expected or is_provided("store", name):
            store_class = _store_class(name, Location(text))
            if store := store_from_object(store_class, text, read_only=read_only, **options):
                return store
    try:
        if options:
            return LocalStore.from_url(text, read_only=read_only, **options)
        return LocalStore(text, read_only)
    except StoreError:
        _check_metadata_key(text)
        raise


def _from_url(url: str, read_only: bool, options: dict[str, Any]) -> Store:
    """Open the store that the scheme of a URL names."""
    from zarr_core.known_extensions import URL_CHAINS
    from zarr_core.registry.discovery import is_provided  # slow to import

    scheme, _, rest = url.partition("://")
    name = scheme = scheme.lower()  # RFC 3986, 3.1: case does not matter
    if "::" in url and "://" in url.rpartition("::")[2]:
        name = URL_CHAINS  # such as simplecache::s3://bucket/field.zarr
    elif "+" in scheme and not is_provided("store", scheme):
        name = scheme.partition("+")[0]
    store_class = _store_class(name, Location(_shown(url)))
    return store_class.from_url(f"{scheme}://{rest}", read_only=read_only, **options)


def _check_metadata_key(text: str) -> None:
    """Reject the path of a metadata document, which users may confuse with its node."""
    from zarr_core.known_extensions import METADATA_KEYS

    directory, name = os.path.split(text)
    if any(name in keys for keys in METADATA_KEYS.values()) and os.path.isfile(text):
        raise StoreError(
            f"is the metadata document of a node; open its directory, {directory or '.'!r}",
            store=text,
        )


def _checked_path(text: str) -> str:
    """Expand the home directory; raise for a URL with one slash, or a Windows drive."""
    expanded = os.path.expanduser(text)
    url = _shown(text.replace(":/", "://", 1))
    if expanded.startswith("~"):
        reason = "this user has no home directory"
    elif (match := _SCHEME_OR_DRIVE(text)) and not os.path.splitdrive(text)[0]:
        meant = url.replace("file://", "file:///", 1)
        is_drive = len(match[1]) == 1
        reason = "only Windows has drives" if is_drive else f"a URL has two slashes: {meant!r}"
    else:
        return expanded
    shown = url.replace("://", ":/", 1)
    literal = f"for a directory of that name, write {'./' + shown!r}"
    raise StoreError(f"{reason}; {literal}", store=shown)


_SCHEME_OR_DRIVE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?:/|(?<=^.:)\\)").match


def _shown(url: str) -> str:
    """A URL for messages, without user, password and query, which may be secret."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2].partition('?')[0]}"


def _store_class(name: str, location: Location) -> type[Store]:
    from zarr_core.registry.resolve import find_class

    return find_class("store", name, location)


@contextmanager
def opened_store(
    location: StoreLike,
    path: str | None = None,
    *,
    read_only: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Iterator[tuple[Store, str]]:
    """Find a store and a path, as :func:`zarr_core.resolve_store_path` does.

    If it opened the store, it closes it at the end: a zip archive then writes its directory.
    """
    store, path = resolve_store_path(
        location, path, read_only=read_only, storage_options=storage_options
    )
    try:
        yield store, path
    finally:
        if isinstance(location, str | os.PathLike):
            store.close()
