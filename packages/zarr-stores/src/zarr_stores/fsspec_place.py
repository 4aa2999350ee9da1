"""Which place of which file system a URL, or an object of fsspec's users, means."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreError

from zarr_stores.fsspec_secrets import names_of_secrets, without_secrets
from zarr_stores.fsspec_traits import again, manners, own

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

_FORCED = "fsspec+"
# Arguments that make no other place.
_MANNERS = frozenset({
    "asynchronous", "batch_size", "cache_regions", "config_kwargs", "listings_expiry_time", "loop",
    "max_paths", "skip_instance_cache", "use_listings_cache",
})  # fmt: skip
# Arguments that say which server it is.
_SERVERS = ("endpoint_url", "host", "account_name")


class Place:
    """A directory of a file system, and how to come there again in another process.

    Parameters
    ----------
    fs : AbstractFileSystem
        The file system.
    root : str
        The path in it.
    url : str
        The URL that led there; empty if an object was given.
    options : mapping
        The arguments that were given with the URL.
    """

    def __init__(
        self, fs: Any, root: str, url: str = "", options: Mapping[str, Any] | None = None
    ) -> None:
        self._url = url
        self._options = dict(options or {})
        self._process = os.getpid()
        while type(fs).__module__ == "fsspec.implementations.dirfs":  # a part of another one
            root = fs._join(fs._strip_protocol(root))  # noqa: SLF001 - no public name for it
            fs = fs.fs
        self._fs = own(fs) if not url else fs
        self.root: str = fs._strip_protocol(root)  # noqa: SLF001 - fsspec's public name for it
        """The path, as the file system writes it."""
        self.secrets = names_of_secrets({**self._all_options(), **self._options}, url)
        """Names of the arguments that are credentials."""
        self.url = self._told()
        """The URL, without credentials."""
        self.realm = self._realm()
        """What tells places of one URL apart: the file system with its options."""
        self.identity = (*self.realm, self.root)
        """Equal for the same place."""

    def __str__(self) -> str:
        """The URL, with the server or the account where that does not say it."""
        options = self._all_options()
        for given in (options, options.get("client_kwargs") or {}):
            for name in _SERVERS:
                if name not in self.secrets and (server := given.get(name)):
                    server = without_secrets(str(server))
                    return self.url if server in self.url else f"{self.url} at {server}"
        return self.url

    @classmethod
    def at(cls, url: str, options: Mapping[str, Any]) -> Self:
        """The place of a URL, or of a chain of them.

        Raises
        ------
        StoreError
            If fsspec, or the library for the scheme, is not there, or refuses the arguments.
        """
        address = url.removeprefix(_FORCED)
        if "://" not in address:
            suffix = next(it for it in SUFFIXES if address.lower().endswith(it))
            address = f"{suffix[1:]}://::file://{os.path.abspath(address)}"
        try:
            import fsspec  # type: ignore[import-untyped]  # noqa: PLC0415 - lazy; has no types

            told = dict(options)
            if "::" not in address:
                told |= manners(fsspec.get_filesystem_class(address.partition("://")[0]), told)
            fs, root = fsspec.url_to_fs(address, **told)
        except ImportError as error:
            # Of fsspec itself, or of what fsspec says has to be installed.
            raise StoreError(
                f"{error}; pip install 'zarr-stores[fsspec]' and the library for the scheme",
                store=without_secrets(url),
            ) from error
        except Exception as error:  # of any file system
            said = without_secrets(f"{type(error).__name__}: {error}", options)
            raise StoreError(
                f"fsspec cannot open it: {said}", store=without_secrets(url, options)
            ) from None
        return cls(fs, root, address, options)

    def fs(self) -> Any:
        """The file system, a new one after a fork: connections belong to one process."""
        if self._process != os.getpid():
            self._fs, self._process = self.again().fs(), os.getpid()
        return self._fs

    def again(self) -> Place:
        """The same place by a new connection."""
        if self._url:
            return Place.at(self._url, self._options)
        shared = type(self._fs).__module__ in _OF_THE_PROCESS
        return Place(self._fs if shared else again(self._fs), self.root)

    def recipe(self) -> tuple[Any, ...]:
        """What is pickled: the URL with its arguments, or the file system with a path."""
        return (self._url, self._options) if self._url else (self._fs, self.root)

    def path(self, name: str) -> str:
        """The path of something in the directory."""
        path = f"{self.root.rstrip('/')}/{name}" if self.root else name
        whole: str = self._fs._strip_protocol(path)  # noqa: SLF001 - as above
        return whole

    def masked(self, text: str) -> str:
        """A text without credentials."""
        return without_secrets(text, {**self._all_options(), **self._options})

    def _all_options(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        fs = self._fs
        while fs is not None:  # each layer has those of the one below, or that itself
            found = {**getattr(fs, "storage_options", {}), **found}
            fs = getattr(fs, "fs", None)
        return {name: value for name, value in found.items() if name != "fs"}

    def _told(self) -> str:
        if "::" in self._url:
            return without_secrets(self._url)
        url = self._url or self._fs.unstrip_protocol(self.root)
        if type(self._fs).__module__ == "fsspec.implementations.local":
            url = self._fs.unstrip_protocol(self.root)
        return without_secrets(f"{_FORCED}{url.rstrip('/')}" if _is_forced(url) else url)

    def _realm(self) -> tuple[Any, ...]:
        options = {
            name: value
            for name, value in self._all_options().items()
            if name not in _MANNERS and name not in self.secrets
        }
        kind = type(self._fs)
        told = sorted((name, repr(value)) for name, value in options.items())
        if kind.__module__.endswith(".memory"):  # of which there may be several
            told = [("store", str(id(self._fs.store)))]
        return kind.__module__, kind.__qualname__, tuple(told)


_OF_THE_PROCESS = ("fsspec.implementations.local", "fsspec.implementations.memory")
# Of archives that are found by their names.
SUFFIXES = (".tar",)
# Schemes by which this store is found without saying so; the entry points of the package.
SCHEMES = frozenset({
    "arrow_hdfs", "dav", "dbfs", "dir", "dropbox", "ftp", "gdrive", "gist", "git",
    "github", "hdfs", "hf", "jlab", "jupyter", "lakefs", "libarchive", "oci", "oss",
    "smb", "tar", "tos", "webdav", "webhdfs",
})  # fmt: skip


def _is_forced(url: str) -> bool:
    return url.partition("://")[0] not in SCHEMES


def place_of(given: Any) -> Place | None:
    """The place that an object of fsspec, or of universal_pathlib, stands for.

    Raises
    ------
    StoreError
        If it stands for a single file.
    """
    if isinstance(given, os.PathLike):
        return None  # a path like any other, though its class is theirs
    names = {kind.__name__ for kind in type(given).__mro__}
    if "FSMap" in names:
        return Place(given.fs, given.root)
    if {"UPath", "_UPathMixin"} & names:
        return Place(given.fs, given.path)
    if "AbstractFileSystem" in names:
        return Place(given, given.root_marker)
    if {"OpenFile", "AbstractBufferedFile"} & names:
        raise StoreError(
            f"a {type(given).__name__} is one file, and a hierarchy has many; give the URL, for an "
            "archive with its scheme before: zip://::https://host/field.zip"
        )
    return None
