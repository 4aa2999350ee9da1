"""Detect the format of a node; the message about a path without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.cache import Cache
from zarr_core.errors import (
    ExtensionError,
    MetadataError,
    NodeNotFoundError,
    StoreError,
    StoreReadError,
    ZarrError,
    is_ordinary_error,
    reason,
)
from zarr_core.formats.v3 import has_version_uri, metadata_key
from zarr_core.interfaces.metadata_document import read_metadata
from zarr_core.known_extensions import CONFLICTS, DETECTION_ORDER, METADATA_KEYS
from zarr_core.location import Location
from zarr_core.messages import warn
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.registry.discovery import is_provided, usable_names
from zarr_core.registry.hints import requirement
from zarr_core.registry.overrides import cache_key
from zarr_core.registry.provider import registry_cache
from zarr_core.registry.resolve import format_named, format_provider, formats_without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store

# Tuples of types: isinstance() with a union would create it for every node that is opened.
_METADATA = (ArrayMetadata, GroupMetadata, type(None))
_checked_nodes: Cache[tuple[str, str], bool] = Cache(4096)


def read_node(
    store: Store, path: str, zarr_format: int | str | None = None
) -> tuple[Format, NodeMetadata]:
    """Read the metadata of a node in any installed format, or in ``zarr_format`` only.

    The NodeNotFoundError names the keys, what exists instead, and what to install.  A node with
    metadata of two formats is reported once; not in stores with latency, where this would take
    more requests than opening.
    """
    keys: list[str] = []
    broken: list[str] = []
    for name in _candidates(zarr_format):
        try:
            format_ = format_named(name)
        except ExtensionError as error:  # broken or in conflict: try the others
            if zarr_format is not None:
                raise
            broken.append(f"The format {name!r} could not be tried: {error}")
            continue
        metadata, fault = _read(format_, store, path)
        if fault is not None:
            failure = format_provider(name).failure(f"its read failed: {reason(fault)}")
            if zarr_format is not None or name in DETECTION_ORDER:
                raise failure from fault
            # A broken third-party format: try the others.
            broken.append(f"The format {name!r} could not be tried: {failure}")
            continue
        if metadata is not None:
            if zarr_format is None and store.max_concurrency is None and format_.name in CONFLICTS:
                _warn_of_conflict(store, path, format_.name, metadata)
            return format_, metadata
        keys += format_.detection_keys
    location = Location(store, path)
    raise NodeNotFoundError(location, ". ".join([_no_node_message(store, path, keys), *broken]))


def format_of_new(store: Store, path: str, zarr_format: int | str | None) -> Format:
    """The format of a new node: ``zarr_format``, else that of its hierarchy, else version 3."""
    if zarr_format is not None:
        return format_named(zarr_format)
    newest = format_named("v3")
    if path and newest.read(store, "") is None:
        for ancestor in dict.fromkeys((path.rpartition("/")[0], "")):
            if newest.read(store, ancestor) is not None:
                break
            if other := conflicting_format(store, ancestor, newest):
                return other
    return newest


def conflicting_format(store: Store, path: str, format_: Format) -> Format | None:
    """Another format that has a node at a path, valid or damaged."""
    prefix = f"{path}/" if path else ""
    if store.supports_listing and next(iter(store.list_prefix(prefix)), None) is None:
        return None  # the usual case of a new node: one request
    for other in formats_without(format_.name):
        try:
            if _read(other, store, path)[0] is not None:
                return other
        except MetadataError:
            return other
    return None


def _read(
    format_: Format, store: Store, path: str
) -> tuple[NodeMetadata | None, BaseException | None]:
    """Read metadata in a format; the second item is the unexpected error of a broken format.

    Raises StoreReadError if the error is one of the store: then the format can read when it tries
    again, or the store also fails without the format.
    """
    metadata, error = _attempt(format_.read, store, path)
    if error is None:
        if isinstance(metadata, _METADATA):
            return metadata, None
        return None, TypeError(f"read returned {metadata!r}, which is not metadata")
    prefix = f"{path}/" if path else ""
    keys = [prefix + key for key in format_.detection_keys]
    if _attempt(format_.read, store, path)[1] and not _attempt(lambda: [*map(store.get, keys)])[1]:
        return None, error
    message = f"{type(store).__name__} failed with {type(error).__name__}: {error}"
    raise StoreReadError(message, store, path) from error


def _attempt(call: Callable[..., Any], *arguments: Any) -> tuple[Any, BaseException | None]:
    """The result of a call, or its unexpected error; raises other errors."""
    try:
        return call(*arguments), None
    except BaseException as error:
        if isinstance(error, ZarrError | OSError) or not is_ordinary_error(error):
            raise
        return None, error


def _candidates(zarr_format: int | str | None) -> Iterator[int | str]:
    """The formats to try; others than version 3 are looked up only if it is not found."""
    if zarr_format is not None:
        yield zarr_format
        return
    yield DETECTION_ORDER[0]
    yield from _others()


def _others() -> tuple[str, ...]:
    """The names of the other installed formats in the order of detection; cached."""
    order: tuple[str, ...] | None = registry_cache.get(key := ("detection order", cache_key()))
    if order is None:
        installed = {*usable_names("format")} - {DETECTION_ORDER[0]}
        order = registry_cache.put(key, tuple(sorted(installed, key=_rank)))
    return order


def _rank(name: str) -> tuple[int, int, str]:
    """Formats of this project first, then others by their priorities."""
    if name in DETECTION_ORDER:
        return DETECTION_ORDER.index(name), 0, name
    try:
        return len(DETECTION_ORDER), -format_named(name).detection_priority, name
    except ExtensionError:  # reported when the format is tried
        return len(DETECTION_ORDER), 0, name


def _warn_of_conflict(store: Store, path: str, name: str, metadata: NodeMetadata) -> None:
    node = (store.url, path)
    if _checked_nodes.get(node):
        return
    _checked_nodes.put(node, True)
    other, of_array, of_group = CONFLICTS[name]
    document = of_array if isinstance(metadata, ArrayMetadata) else of_group
    key = f"{path}/{document}" if path else document
    if other in _others() and store.exists(key):
        warn(
            f"{store} {'/' + path!r} has metadata documents of two formats: it is read as {name}, and "
            f"{key!r} is ignored; pass zarr_format=... to choose",
        )


def _no_node_message(store: Store, path: str, keys: list[str]) -> str:
    """The message about a path without a node: the missing ``keys``, and what exists instead."""
    prefix = f"{path}/" if path else ""
    message = f"no Zarr array or group here (looked for {', '.join(dict.fromkeys(keys))})"
    root = metadata_key("")
    for name in DETECTION_ORDER:
        install = (
            ""
            if is_provided("format", name)
            else f", which is not installed: pip install {requirement('format', name)}"
        )
        if install and root in METADATA_KEYS[name] and _has_version_uri(store, root):
            return f"{message}. The hierarchy has the format {name!r} or another draft{install}"
        if METADATA_KEYS[name][0] in keys:
            continue
        for key in METADATA_KEYS[name]:
            if store.exists(prefix + key):
                advice = install or ": leave out zarr_format to open it"
                return f"{message}. The key {prefix + key!r} belongs to the format {name!r}{advice}"
    return (
        f"{message}. {_instead(store, prefix)}. Use create_array or create_group to create a node"
    )


def _has_version_uri(store: Store, key: str) -> bool:
    try:
        data = read_metadata(store, key)
        return data is not None and has_version_uri(strictjson.loads(data))
    except ZarrError:
        return False


def _instead(store: Store, prefix: str) -> str:
    """Describe the keys below a prefix; no final period."""
    if not prefix and store.url.lower().endswith((".json", ".parq")):
        return f"Open references as reference+{store.url}"
    if not store.supports_listing:
        return "Check the path; the store cannot list its keys"
    try:
        keys, prefixes = store.list_dir(prefix)
    except StoreError:
        return "Check the path"
    below = sorted([*keys, *prefixes])
    if not below:
        return "Nothing is stored here: check the path"
    count = f"{len(below)} other {'keys or prefixes' if len(below) > 1 else 'key or prefix'}"
    return f"Check the path: {count} here, such as {below[0][len(prefix) :]!r}"
