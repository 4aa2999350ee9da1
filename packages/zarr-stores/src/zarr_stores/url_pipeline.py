"""URL pipelines: a location, then what is in it, as in ``s3://bucket/a.zip|zip:b|zarr3:c``.

The syntax is that of TensorStore and of the url-pipeline specification: parts are separated by
``|``, from the outside to the inside.  The first is a path or a URL, the others have the form
``scheme:path``, with percent escapes in the path.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from zarr_core.extension import (
    ByteRange,
    Location,
    StoreCapabilityError,
    StoreError,
    StoreReadError,
)
from zarr_core.interfaces.store import store_from_object
from zarr_core.names import join, normalise_path
from zarr_core.registry.discovery import is_provided
from zarr_core.registry.resolve import find_class, format_named
from zarr_core.stores.local import path_from_url

from zarr_stores.secrets import plain_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import Store

    OpenPlace = Callable[[str, bool, dict[str, Any]], Store]

_AUTO = "auto"
_PART = re.compile(r"([a-z][a-z0-9+.-]*)(:?)(.*)", re.DOTALL | re.IGNORECASE)
_VERSION = re.compile(r"zarr(\d+)")
_SIGNATURES = {"zip": (b"PK\x03\x04", b"PK\x05\x06"), "sqlite": (b"SQLite format 3\x00",)}
"""For a store in one file, the first bytes of such files."""
_SIGNATURE_BYTES = 16


class Part(NamedTuple):
    """A part of a pipeline after the first."""

    scheme: str
    path: str


def parse_pipeline(text: str) -> tuple[str, list[Part]] | None:
    """The first part of a pipeline, and the others; None if the text is a path that contains ``|``."""
    location, *rest = text.split("|")
    matches = [_PART.fullmatch(part) for part in rest]
    if "://" not in location and not all(
        match and (match[2] or _is_known(match[1])) for match in matches
    ):
        return None
    if not location:
        raise _error(text, "it begins with a path or a URL")
    parts = []
    for part, match in zip(rest, matches, strict=True):
        if match is None or (match[3] and not match[2]):
            raise _error(
                text, f"{part!r} is not a scheme and a path, such as 'zip:' or 'zarr3:a/b'"
            )
        parts.append(Part(match[1].lower(), unquote(match[3])))
    for inner in parts[:-1]:
        if inner.scheme == _AUTO or _format_of(inner.scheme) is not None:
            raise _error(text, f"{inner.scheme!r} must be the last part")
    return location, parts


def split_format(
    text: str, path: str | None, zarr_format: int | str | None
) -> tuple[str, str | None, int | str | None]:
    """Remove the format from the end of a pipeline.

    Returns the location, the path in it and the format, in the form of the arguments, which are
    unchanged if the pipeline names no format.

    Raises a StoreError if ``zarr_format`` is another format.
    """
    parsed = parse_pipeline(text)
    version = None if parsed is None else _format_of(parsed[1][-1].scheme)
    if parsed is None or version is None:
        return text, path, zarr_format
    last = parsed[1][-1]
    named = f"v{zarr_format}" if isinstance(zarr_format, int) else zarr_format
    if named not in (None, version):
        raise _error(text, f"zarr_format={zarr_format!r} contradicts {last.scheme!r}")
    below = join(normalise_path(last.path), "" if path is None else path)
    return text.rpartition("|")[0], below, version


def resolve_pipeline(
    text: str, read_only: bool, options: dict[str, Any], open_place: OpenPlace
) -> tuple[Store, str] | None:
    """The store and path that a pipeline names; None if the text is a path that contains ``|``."""
    parsed = parse_pipeline(text)
    if parsed is None:
        return None
    location, parts = parsed
    state = _State(text, read_only, options, open_place, location)
    for part in parts:
        if part.scheme == _AUTO:
            scheme = state.container()
            if scheme is not None:
                state.enter(scheme)
        elif _format_of(part.scheme) is None:
            state.enter(part.scheme)
        state.path = join(state.path, part.path)
    store, path = state.opened(), state.path
    format_ = _format_of(parts[-1].scheme)
    # Functions that create nodes of this format have removed it from the pipeline.
    if format_ is not None and not format_named(format_).has_node(store, path):
        raise _error(text, f"no node in the format {format_!r} exists at {path!r}")
    return store, path


@dataclass
class _State:
    """What the parts before have led to."""

    text: str
    read_only: bool
    options: dict[str, Any]
    open_place: OpenPlace
    place: str
    """The first part."""
    store: Store | None = None
    """The store; None while the first part can still be a file."""
    path: str = ""
    """A path in the store."""

    @property
    def local(self) -> str | None:
        """The local path of the first part, or None."""
        if "://" in self.place and not self.place.lower().startswith("file:"):
            return None
        return os.path.expanduser(path_from_url(self.place))

    def opened(self) -> Store:
        """The store of the first part as a directory, or the one that was entered."""
        if self.store is None:
            self.store = self.open_place(self.place, self.read_only, self.options)
        return self.store

    def enter(self, scheme: str) -> None:
        """Open the container at the location."""
        kind = _store_class(scheme, self.text)
        if self.store is None and (local := self.local) is not None:
            if os.path.isdir(local):
                raise _error(self.text, f"{local!r} is a directory, not a file for {scheme!r}")
            options, self.options = self.options, {}
            self.store = kind.from_url(os.path.abspath(local), read_only=self.read_only, **options)
        else:
            value = self._value()
            self.store = store_from_object(kind, value, read_only=True)
            if self.store is None:
                problem = "cannot be opened within another store; copy the file to a directory"
                raise StoreCapabilityError(f"a {kind.__name__} {problem}", *value)
        self.path = ""

    def container(self) -> str | None:
        """The scheme of the container at the location, determined by its first bytes, or None."""
        if self.store is None and (local := self.local) is not None:
            return _container_of_file(local)
        is_directory = self.place.partition("?")[0].endswith("/") or not _split_url(self.place)
        if self.store is None and is_directory:  # or a bucket, or a server
            return None
        if self.store is not None and not self.path:
            return None
        store, key = self._value()
        try:
            (start,) = store.get_partial_values([(key, ByteRange(0, _SIGNATURE_BYTES))])
        except StoreReadError:  # of servers that show directories as pages
            return None
        return None if start is None else _container(bytes(start))

    def _value(self) -> tuple[Store, str]:
        """The store and the key of the value at the location."""
        if self.store is not None:
            if not self.path:
                raise _error(self.text, f"a path is missing: {self.store} is not a file")
            return self.store, self.path
        split = _split_url(self.place)
        if split is None:
            raise _error(self.text, f"{self.place!r} has no path of a file")
        directory, key = split
        store = self.open_place(directory, True, self.options)
        if "%" in key and not store.exists(key):  # an escape in most URLs, but not in all
            key = unquote(key)
        return store, key


def _split_url(url: str) -> tuple[str, str] | None:
    """Return the URL of the directory and the last part of the path; None without a path."""
    before, query, rest = url.partition("?")
    before = before.rstrip("/")
    slash = before.rfind("/")
    if slash <= before.find("://") + 2:
        return None
    return before[:slash] + query + rest, before[slash + 1 :]


def _is_known(scheme: str) -> bool:
    scheme = scheme.lower()
    return scheme == _AUTO or _format_of(scheme) is not None or is_provided("store", scheme)


def _format_of(scheme: str) -> str | None:
    """The name of the format that a scheme is for."""
    if match := _VERSION.fullmatch(scheme):
        return f"v{match[1]}"
    return scheme if is_provided("format", scheme) else None


def _container_of_file(path: str) -> str | None:
    if not os.path.isfile(path):  # opening a pipe would wait for its writer
        return None
    with open(path, "rb", buffering=0) as file:
        return _container(file.read(_SIGNATURE_BYTES))


def _container(start: bytes) -> str | None:
    return next((scheme for scheme, first in _SIGNATURES.items() if start.startswith(first)), None)


def _store_class(scheme: str, text: str) -> type[Store]:
    return find_class("store", scheme, Location(_shown(text)))


def _error(text: str, reason: str) -> StoreError:
    return StoreError(f"the URL pipeline is invalid: {reason}", store=_shown(text))


def _shown(text: str) -> str:
    """A pipeline for messages, without user, password and query, which may be secret."""
    location, bar, rest = text.partition("|")
    return (plain_url(location) if "://" in location else location) + bar + rest
