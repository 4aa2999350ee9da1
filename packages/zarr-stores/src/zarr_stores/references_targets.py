"""Where references lead: to which of the stores, if they may."""

from __future__ import annotations

import os
import posixpath
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from zarr_core.extension import LocalStore, Store, StoreReadError

from zarr_stores._forked import in_children
from zarr_stores.fsspec import FsspecStore
from zarr_stores.object import ObjectStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LOCAL = ("file", "local")
_WEB = ("http", "https")
_OBJECTS = frozenset({
    "abfs", "abfss", "adl", "az", "azure", "gcs", "gs", "http", "https", "s3", "s3a",
})  # fmt: skip
_MOST_STORES = 64


class Targets:
    """Finds the stores in which targets are.

    Parameters
    ----------
    base : str
        The directory or URL that relative targets are relative to.
    network : bool
        Whether the references came from a network.
    allow : tuple of str or None
        Beginnings of URLs, or directories, in which targets may be.
    remote_protocol : str, optional
        The scheme of targets without one; if given, ``remote_options`` are fsspec's.
    remote_options : mapping
        For stores in networks.
    default : str, optional
        What references without a URL mean.
    """

    def __init__(
        self,
        base: str,
        *,
        network: bool,
        allow: tuple[str, ...] | None,
        remote_protocol: str | None,
        remote_options: Mapping[str, Any],
        default: str | None,
    ) -> None:
        self._base = base
        self._network = network
        self._allow = None if allow is None else tuple(map(_beginning, allow))
        self._protocol = remote_protocol
        self._options = dict(remote_options)
        self._default = default
        self._stores: OrderedDict[str, Store] = OrderedDict()
        self._guard = threading.Lock()
        in_children(self, Targets._renew)

    def _renew(self) -> None:
        self._guard = threading.Lock()

    def all_local(self, urls: Iterable[str] | None) -> bool:
        """Whether all of some targets are files of this machine."""
        if urls is None:
            return False
        try:
            return all(local_path(self._complete(url)) is not None for url in urls)
        except StoreReadError:  # of a URL that is none, of which is told when it is read
            return False

    def place(self, url: str) -> tuple[Store, str]:
        """The store of a target, and its key there.

        Raises
        ------
        StoreReadError
            If the target may not be read, or its URL is none.
        StoreError
            If the library for it is missing.
        """
        whole = self._complete(url)
        self._check(whole)
        root, key = _split(whole)
        with self._guard:
            store = self._stores.get(root)
            if store is not None:
                self._stores.move_to_end(root)
                return store, key
        options = {} if local_path(root) is not None else self._options
        fsspec = bool(self._protocol) and bool(self._options)
        store = _store(root, options, through_fsspec=fsspec)
        with self._guard:
            self._stores[root] = store
            while len(self._stores) > _MOST_STORES:
                self._stores.popitem(last=False)
        return store, key

    def _complete(self, url: str) -> str:
        """A URL with a scheme, of local files with all links followed."""
        url = url or self._default or ""
        if not url:
            raise StoreReadError("is no URL: say what it means by target=")
        if "::" in url or "\0" in url:
            raise StoreReadError("is no URL of one file")
        if "://" not in url:
            if self._protocol not in (None, *LOCAL):
                url = f"{self._protocol}://{url.lstrip('/')}"
            elif not os.path.isabs(url) and local_path(self._base) is None:
                return _joined(self._base, url)
        path = local_path(url)
        if path is None:
            if {".", ".."} & {*url.split("/")}:
                raise StoreReadError("is no URL of a file: it has . or .. in it")
            return url
        base = local_path(self._base)
        if "://" in url and not os.path.exists(path):
            path = unquote(path)
        return "file://" + os.path.realpath(os.path.join(base or "/", path))

    def _check(self, url: str) -> None:
        scheme = url.partition("://")[0]
        if self._allow is not None:
            if not any(url == one or url.startswith(f"{one}/") for one in self._allow):
                raise StoreReadError("is in no place that allow= names")
        elif self._network and scheme not in _OBJECTS:
            raise StoreReadError(
                "is not read, as the references come from a network, and would have files of this "
                "machine read by whoever wrote them; if you trust them, name the directory by allow="
            )


def local_path(url: str) -> str | None:
    """The path that a URL, or a path, means on this machine; None if it means none."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    return rest if scheme in LOCAL else None


def directory_of(url: str) -> str:
    """What a URL is in."""
    return url.rpartition("/")[0]


def opened(url: str, options: Mapping[str, Any], *, through_fsspec: bool) -> tuple[Store, str]:
    """The store in which a file is, and its key there.

    Raises
    ------
    StoreError
        If there is no such store, or it refuses the options.
    """
    root, key = _split(url)
    return _store(root, options, through_fsspec=through_fsspec), key


def _beginning(given: str) -> str:
    path = local_path(given)
    return given.rstrip("/") if path is None else "file://" + os.path.realpath(path).rstrip("/")


def _joined(base: str, relative: str) -> str:
    """A URL relative to a directory in a network; it stays on the same machine."""
    scheme, _, rest = base.partition("://")
    host, _, directory = rest.partition("/")
    path = posixpath.normpath(posixpath.join("/", directory, relative))
    return f"{scheme}://{host}{path}"


def _split(url: str) -> tuple[str, str]:
    """The URL of a store, and the key in it: of a bucket or server, or of a directory."""
    scheme, _, rest = url.partition("://")
    if scheme == "reference":
        raise StoreReadError("is a reference, and references lead to files")
    if scheme in _OBJECTS:
        if scheme in _WEB and "?" in rest:
            raise StoreReadError("has a query, with which no parts of files can be read here")
        host, _, key = rest.partition("/")
        key = unquote(key) if scheme in _WEB else key
        root = f"{scheme}://{host}"
    else:
        root, _, key = url.rpartition("/")
        root = root if root != "file://" else "file:///"
    if not key or not root.partition("://")[2]:
        raise StoreReadError("is no URL of a file")
    return root, key


def _store(root: str, options: Mapping[str, Any], *, through_fsspec: bool) -> Store:
    path = local_path(root)
    if path is not None:
        return LocalStore(path, read_only=True)
    if root.partition("://")[0] in _OBJECTS and not through_fsspec:
        return ObjectStore.from_url(root, read_only=True, **options)
    return FsspecStore.from_url(f"fsspec+{root}", read_only=True, **options)
