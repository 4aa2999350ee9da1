"""Targets of references: the stores that contain them, and which are allowed."""

from __future__ import annotations

import os
import posixpath
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from zarr_core.extension import Store, StoreError, StoreReadError
from zarr_core.stores.local import LocalStore

from zarr_stores.fsspec import FsspecStore
from zarr_stores.object import ObjectStore
from zarr_stores.secrets import names_of_secrets, without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LOCAL = ("file", "local")
_WEB = ("http", "https")
_OBJECTS = frozenset({
    "abfs", "abfss", "adl", "az", "azure", "gcs", "gs", "http", "https", "s3", "s3a",
})  # fmt: skip
_MOST_STORES = 64


class Targets:
    """The stores of the targets of references."""

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
        self._store = lru_cache(_MOST_STORES)(self._open_store)

    def all_local(self, urls: Iterable[str] | None) -> bool:
        """Return whether all targets are local files."""
        if urls is None:
            return False
        try:
            return all(local_path(self._complete(url)) is not None for url in urls)
        except StoreReadError:  # an invalid URL is reported when it is read
            return False

    def resolve(self, url: str) -> tuple[Store, str]:
        """Return the store and the key of a target."""
        whole = self._complete(url)
        self._check(whole)
        self._check_secrets(whole)
        root, key = _split(whole)
        return self._store(root), key

    def _open_store(self, root: str) -> Store:
        if self._allow is not None and root.partition("://")[0] in _WEB:
            return _without_redirects(root, self._options)
        return _store(root, self._options)

    def _complete(self, url: str) -> str:
        """Return a URL with a scheme; symbolic links of local files are resolved."""
        url = url or self._default or ""
        if not url:
            raise StoreReadError("is not a URL; pass the URL as target=")
        if "::" in url or "\0" in url:
            raise StoreReadError("is not the URL of one file")
        if not url.isascii() and any("\ud800" <= sign <= "\udfff" for sign in url):
            raise StoreReadError("is not a URL: it contains half of a surrogate pair")
        if "://" not in url:
            if self._protocol not in (None, *LOCAL):
                url = f"{self._protocol}://{url.lstrip('/')}"
            elif not os.path.isabs(url) and local_path(self._base) is None:
                return _joined(self._base, url)
        path = local_path(url)
        if path is None:
            if {".", ".."} & {*url.split("/")}:
                raise StoreReadError("is not a valid URL of a file: it contains . or ..")
            return url
        base = local_path(self._base)
        if "://" in url and not os.path.exists(path):
            path = unquote(path)
        return "file://" + os.path.realpath(os.path.join(base or "/", path))

    def _check(self, url: str) -> None:
        scheme = url.partition("://")[0]
        if self._allow is not None:
            if not any(url == one or url.startswith(f"{one}/") for one in self._allow):
                raise StoreReadError("is not allowed by allow=")
        elif self._network and scheme not in _OBJECTS:
            raise StoreReadError(
                "is a local file and is not read, because the references are remote; if you trust "
                "the references, pass its directory in allow="
            )

    def _check_secrets(self, url: str) -> None:
        """Raise an error if options with credentials would be sent to a server of any name."""
        scheme = url.partition("://")[0]
        if scheme in (*LOCAL, *(_OBJECTS - {*_WEB})) or self._allow is not None:
            return
        known = (self._base, self._default or "")
        names = names_of_secrets(self._options) or _headers(self._options)
        if names and _server(url) not in map(_server, known):
            raise StoreReadError(
                "is on a server that could receive the credentials or headers in remote_options; "
                "pass the servers that may receive them in allow="
            )


def local_path(url: str) -> str | None:
    """Return the local path of a URL or path; None for remote URLs."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    return rest if scheme in LOCAL else None


def directory_of(url: str) -> str:
    """Return the URL of the parent directory."""
    return url.rpartition("/")[0]


def open_target(url: str, options: Mapping[str, Any]) -> tuple[Store, str]:
    """Return the store and the key of a file."""
    root, key = _split(url)
    return _store(root, options), key


def _beginning(prefix: str) -> str:
    path = local_path(prefix)
    return prefix.rstrip("/") if path is None else "file://" + os.path.realpath(path).rstrip("/")


def _joined(base: str, relative: str) -> str:
    """Join a remote directory and a relative path, on the same host."""
    scheme, _, rest = base.partition("://")
    host, _, directory = rest.partition("/")
    path = posixpath.normpath(posixpath.join("/", directory, relative))
    return f"{scheme}://{host}{path}"


def _split(url: str) -> tuple[str, str]:
    """Split a URL into the URL of a bucket, server or directory, and a key."""
    scheme, _, rest = url.partition("://")
    if scheme == "reference":
        raise StoreReadError("is a reference URL; references must refer to files")
    if scheme in _OBJECTS:
        if scheme in _WEB and "?" in rest:
            # Such as a presigned URL.  All requests of a store have the query of its URL.
            path, _, query = rest.partition("?")
            directory, _, name = path.rpartition("/")
            if not directory or not name:
                raise StoreReadError("is not the URL of a file")
            return f"{scheme}://{directory}?{query}", unquote(name)
        host, _, key = rest.partition("/")
        key = unquote(key) if scheme in _WEB else key
        root = f"{scheme}://{host}"
    else:
        root, _, key = url.rpartition("/")
        root = root if root != "file://" else "file:///"
    if not key or not root.partition("://")[2]:
        raise StoreReadError("is not the URL of a file")
    return root, key


def _server(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}".lower() if separator else ""


def _headers(options: Mapping[str, Any]) -> dict[str, str]:
    """The header fields in options of obstore or of fsspec."""
    client = options.get("client_options") or {}
    return {**(client.get("default_headers") or {}), **(options.get("headers") or {})}


def _without_redirects(root: str, options: Mapping[str, Any]) -> Store:
    """A store of a web server that does not follow redirects, which obstore always does."""
    kept = {name: options[name] for name in ("max_concurrency",) if name in options}
    if others := options.keys() - kept.keys() - {"client_options", "headers"}:
        raise StoreError(
            "with allow=, remote_options can be headers, client_options and max_concurrency, "
            f"not {', '.join(sorted(others))}",
            without_secrets(root),
        )
    return FsspecStore.from_url(
        f"fsspec+{root}", read_only=True, headers=_headers(options), allow_redirects=False, **kept
    )


def _store(root: str, options: Mapping[str, Any]) -> Store:
    path = local_path(root)
    if path is not None:
        return LocalStore(path, read_only=True)
    if root.partition("://")[0] in _OBJECTS:
        return ObjectStore.from_url(root, read_only=True, **options)
    return FsspecStore.from_url(f"fsspec+{root}", read_only=True, **options)
