"""Detect the format of a node; the message about a path without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.cache import Cache
from zarr_core.errors import (
    ExtensionError,
    MetadataError,
    NodeNotFoundError,
    StoreError,
    ZarrError,
    is_ordinary_error,
    reason,
)
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
    from collections.abc import Iterator

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
        metadata, failure = _read(format_, store, path)
        if failure is not None:
            if zarr_format is not None:
                raise failure
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
) -> tuple[NodeMetadata | None, ExtensionError | None]:
    """Read metadata in a format; the second item is the failure of a third-party format."""
    try:
        metadata = format_.read(store, path)
        if not isinstance(metadata, _METADATA):
            raise TypeError(f"read returned {metadata!r}, which is not metadata")
    except BaseException as error:
        is_expected = isinstance(error, ZarrError | OSError) or not is_ordinary_error(error)
        if is_expected or format_.name in DETECTION_ORDER:  # otherwise, the store has failed
            raise
        failure = format_provider(format_.name).failure(f"its read failed: {reason(error)}")
        failure.__cause__ = error
        return None, failure
    return metadata, None


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
    if _checked_nodes.get(node := (store.url, path)):
        return
    _checked_nodes.put(node, True)
    of_array, *others = METADATA_KEYS[other := CONFLICTS[name]]
    document = of_array if isinstance(metadata, ArrayMetadata) or not others else others[0]
    key = f"{path}/{document}" if path else document
    if other in _others() and store.exists(key):
        warn(
            f"{Location(store, path)}: has metadata documents of two formats: it is read as {name}, "
            f"and {key!r} is ignored; pass zarr_format=... to choose"
        )


def _no_node_message(store: Store, path: str, keys: list[str]) -> str:
    """The message about a path without a node: the missing ``keys``, and what exists instead."""
    prefix = f"{path}/" if path else ""
    message = f"no Zarr array or group here (looked for {', '.join(dict.fromkeys(keys))})"
    for name in DETECTION_ORDER:
        if METADATA_KEYS[name][0] in keys:
            continue
        for key in METADATA_KEYS[name]:
            if store.exists(prefix + key):
                advice = ": leave out zarr_format to open it"
                if not is_provided("format", name):
                    required = requirement("format", name)
                    advice = f", which is not installed: pip install {required}"
                return f"{message}. The key {prefix + key!r} belongs to the format {name!r}{advice}"
    return (
        f"{message}. {_instead(store, prefix)}. Use create_array or create_group to create a node"
    )


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
