"""Locations in fsspec file systems, from URLs and from objects of fsspec."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreError
from zarr_core.registry.discovery import providers

from zarr_stores.databases.database_store import path_exists
from zarr_stores.fsspec.http import http_options, limit_bodies
from zarr_stores.fsspec.traits import (
    default_options,
    kinds_of,
    new_instance,
    without_listings_cache,
)
from zarr_stores.remedies import remedy
from zarr_stores.secrets import names_of_secrets, without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

_FORCED = "fsspec+"
_LOCAL = ("file://", "local://")
# Arguments that do not change the location.
_IGNORED_OPTIONS = frozenset({
    "asynchronous", "batch_size", "cache_regions", "config_kwargs", "listings_expiry_time", "loop",
    "max_paths", "skip_instance_cache", "use_listings_cache",
})  # fmt: skip
# Arguments that identify the server.
_SERVERS = ("endpoint_url", "host", "account_name")


class Location:
    """A directory of a file system, which can be reopened in another process."""

    def __init__(
        self, fs: Any, root: str, url: str = "", options: Mapping[str, Any] | None = None
    ) -> None:
        self._url = url
        self._options = dict(options or {})
        self._process = os.getpid()
        while "dirfs" in kinds_of(type(fs)):  # a directory of another
            root = fs._join(fs._strip_protocol(root))  # noqa: SLF001 - no public name for it
            fs = fs.fs
        self._fs = without_listings_cache(fs) if not url else fs
        limit_bodies(self._fs)
        self.root: str = fs._strip_protocol(root)  # noqa: SLF001 - fsspec's public name for it
        """Path in the notation of the file system."""
        self.query = ""
        """The query of a URL, such as a signature, which follows the path of each file."""
        if self.root.startswith(("http://", "https://")):
            self.root, mark, query = self.root.partition("?")
            self.query = mark + query
        self.secrets = names_of_secrets({**self._all_options(), **self._options}, url)
        """Names of the options that contain credentials."""
        self.url = self._safe_url()
        """URL without credentials."""
        self.realm = self._realm()
        """File system and options, which distinguish locations with the same URL."""
        self.identity = (*self.realm, self.root)
        """Equal for the same location."""

    def __str__(self) -> str:
        """Return the URL, with the server or account if the URL does not contain it."""
        options = self._all_options()
        for arguments in (options, options.get("client_kwargs") or {}):
            for name in _SERVERS:
                if name not in self.secrets and (server := arguments.get(name)):
                    server = without_secrets(str(server))
                    return self.url if server in self.url else f"{self.url} at {server}"
        return self.url

    @classmethod
    def at(cls, url: str, options: Mapping[str, Any]) -> Self:
        """Return the location of a URL, or of a chain of URLs."""
        address = url.removeprefix(_FORCED)
        if "://" not in address:
            suffix = next(ending for ending in SUFFIXES if address.lower().endswith(ending))
            address = f"{suffix[1:]}://::file://{os.path.abspath(address)}"
        try:
            for part in address.split("::"):
                if part.startswith(_LOCAL):
                    path_exists(part.partition("://")[2])  # opening a pipe would wait
            import fsspec  # type: ignore[import-untyped]  # has no types

            arguments = dict(options)
            if "::" not in address:
                arguments |= default_options(
                    fsspec.get_filesystem_class(address.partition("://")[0]), arguments
                )
            fs, root = fsspec.url_to_fs(address, **http_options(address, arguments))
        except ImportError as error:
            # The message names fsspec or the library that it requires.
            raise StoreError(
                f"{error}; pip install 'zarr-stores[fsspec]' and the library for the scheme",
                store=without_secrets(url),
            ) from error
        except Exception as error:  # file systems raise any exception
            message = without_secrets(f"{type(error).__name__}: {error}", options, url)
            advice = f"; {remedy(message)}" if remedy(message) else ""
            raise StoreError(
                f"fsspec cannot open the URL: {message}{advice}",
                store=without_secrets(url, options),
            ) from None
        return cls(fs, root, address, options)

    def fs(self) -> Any:
        """Return the file system; a new instance after a fork, for new connections."""
        if self._process != os.getpid():
            self._fs, self._process = self.reopen().fs(), os.getpid()
        return self._fs

    def reopen(self) -> Location:
        """Return the same location with a new connection."""
        if self._url:
            return Location.at(self._url, self._options)
        shared = kinds_of(type(self._fs)) & {"local", "memory"}
        return Location(self._fs if shared else new_instance(self._fs), self.root + self.query)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._url:
            return Location.at, (self._url, self._options)
        return Location, (self._fs, self.root + self.query)

    def path(self, name: str) -> str:
        """Return the path of a name in the directory."""
        path = f"{self.root.rstrip('/')}/{name}" if self.root else name
        whole: str = self._fs._strip_protocol(path)  # noqa: SLF001 - as above
        return whole

    def mask_secrets(self, text: str) -> str:
        """Return a text with credentials masked."""
        return without_secrets(text, {**self._all_options(), **self._options}, self._url)

    def _all_options(self) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        fs = self._fs
        while fs is not None:  # each layer has the options of the one below, or the layer itself
            merged = {**getattr(fs, "storage_options", {}), **merged}
            fs = getattr(fs, "fs", None)
        return {name: value for name, value in merged.items() if name != "fs"}

    def _safe_url(self) -> str:
        if "::" in self._url:
            return without_secrets(self._url)
        url = self._url or self._fs.unstrip_protocol(self.root)
        return without_secrets(f"{_FORCED}{url.rstrip('/')}" if _is_forced(url) else url)

    def _realm(self) -> tuple[Any, ...]:
        options = {
            name: value
            for name, value in self._all_options().items()
            if name not in _IGNORED_OPTIONS and name not in self.secrets
        }
        if "client_kwargs" in options:  # without the limits of http_options
            arguments = {**(options["client_kwargs"] or {})}
            arguments.pop("timeout", None)
            options["client_kwargs"] = arguments
        kind = type(self._fs)
        parts = sorted((name, repr(value)) for name, value in options.items())
        if "memory" in kinds_of(kind):  # there may be several
            parts = [("store", str(id(self._fs.store)))]
        return kind.__module__, kind.__qualname__, tuple(parts)


# Suffixes of archives.
SUFFIXES = (".tar",)


def _is_forced(url: str) -> bool:
    """Return whether a URL needs ``fsspec+``: without it, another store or none opens the URL."""
    targets = (provider.target for provider in providers("store", url.partition("://")[0]))
    return not any(target.startswith(f"{__package__}:") for target in targets)


def is_asynchronous(url: str) -> bool:
    """Return whether the file system of a URL without a chain has asynchronous calls."""
    scheme, separator, _ = url.removeprefix(_FORCED).partition("://")
    if not separator or "::" in url:
        return False
    try:
        import fsspec  # its types: see above

        return bool(fsspec.get_filesystem_class(scheme).async_impl)
    except (ImportError, ValueError):  # reported when the URL is opened
        return False


def location_of(value: Any) -> Location | None:
    """Return the location of an object of fsspec or universal_pathlib; None for others."""
    if isinstance(value, os.PathLike):
        return None  # a local UPath, which is handled as a path
    names = {kind.__name__ for kind in type(value).__mro__}
    if "FSMap" in names:
        return Location(value.fs, value.root)
    if {"UPath", "_UPathMixin"} & names:
        return Location(value.fs, value.path)
    if "AbstractFileSystem" in names:
        return Location(value, value.root_marker)
    if {"OpenFile", "AbstractBufferedFile"} & names:
        raise StoreError(
            f"cannot open a store from a single file ({type(value).__name__}); pass the URL of a "
            "directory, or of an archive: zip://::https://host/field.zip"
        )
    return None
