"""Properties of fsspec file systems that their common interface does not provide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_CACHE = "SimpleCacheFileSystem"  # the other caches are not thread-safe
_CONNECTIONS = 64  # size of the connection pool of s3fs; its default is 10
# File systems that do not support writing, or not as a store requires.
_READ_ONLY = {
    "cached": "a file cache may return old values after a write; "
    "write to the file system behind the cache",
    "data": "a data URL cannot be changed",
    "gist": "writing to a gist is not supported",
    "git": "a commit cannot be changed",
    "github": "writing to GitHub is not supported",
    "http": "writing to HTTP servers is not supported",
    "libarchive": "an archive cannot be changed",
    "reference": "writing to references is not supported",
    "tar": "an archive cannot be changed",
    "zip": "writing to an archive through fsspec is not supported; pass the path of a local "
    ".zip file",
}
# Their cache of listings can be disabled.  The caches of others are invalidated at each use.
_LISTING_CACHES = {"s3fs", "gcsfs", "adlfs", "ossfs", "http", "ftp", "github"}
# Each call is an independent request.
_REQUESTING = {"huggingface_hub", "gist", "github", "webhdfs"}
# Other file systems are used by one thread at a time.
_SAFE_IN_THREADS = {"memory"} | _REQUESTING
_RENAMING = {"sftp"}  # renaming replaces the target atomically; an open file keeps its contents


def kinds_of(kind: type[Any]) -> set[str]:
    """Return names of a class of file systems and its bases: their modules or libraries."""
    modules = (base.__module__ for base in kind.__mro__)
    return {name.removeprefix("fsspec.implementations.").partition(".")[0] for name in modules}


class Traits:
    """Properties of a file system."""

    def __init__(self, fs: Any) -> None:
        kinds = kinds_of(type(fs))
        self.local = "local" in kinds
        self.memory = "memory" in kinds
        self.http = "http" in kinds
        self.s3 = "s3fs" in kinds
        self.caching = any(kind.__name__ == _CACHE for kind in type(fs).__mro__)
        """Whether it caches whole files: only one thread at a time can fetch a file."""
        target = target_of(fs)
        self.cached = target is not fs
        """Whether it is a cache of another file system."""
        self.target_http = "http" in kinds_of(type(target))
        """Whether the file system behind caches is HTTP."""
        # A cache reports the ``async_impl`` of the file system behind it.
        self.concurrent = bool(fs.async_impl) and "cached" not in kinds
        """Whether it sends concurrent requests in its own event loop."""
        self.waits = self.concurrent or self.caching or bool(kinds & _REQUESTING)
        """Whether concurrent requests hide its latency."""
        self.alone = not (self.concurrent or self.caching or kinds & _SAFE_IN_THREADS)
        """Whether only one thread at a time can use it."""
        self.renames = bool(kinds & _RENAMING)
        """Whether a file can be replaced atomically, and an open one keeps its contents."""
        self.flat = _overrides(fs, "find") or (self.concurrent and _overrides(fs, "_find"))
        """Whether all files below a path can be listed with one call."""
        self.directories = not (self.flat or self.memory)
        """Whether directories must be created, and remain if they are empty."""
        self.read_only = next((why for kind, why in _READ_ONLY.items() if kind in kinds), "")
        """Why writing is not supported; empty if it is supported."""
        # Concurrent requests for one value could mix two generations.
        self.whole: dict[str, Any] = {"max_concurrency": 1} if self.s3 else {}
        """Arguments for reading a value with one request."""


def target_of(fs: Any) -> Any:
    """Return the file system behind caches of fsspec; the file system itself if it is none."""
    while "cached" in kinds_of(type(fs)):
        fs = fs.fs
    return fs


def _overrides(fs: Any, method: str) -> bool:
    function = getattr(type(fs), method, None)
    module = getattr(function, "__module__", None)
    return module not in (None, "fsspec.spec", "fsspec.asyn")


def without_listings_cache(fs: Any) -> Any:
    """Return the file system, or a new instance without a cache of listings.

    The given instance is not changed.
    """
    remembers = kinds_of(type(fs)) & _LISTING_CACHES
    return new_instance(fs) if remembers or getattr(fs, "asynchronous", False) else fs


def new_instance(fs: Any) -> Any:
    """Return a new synchronous instance of a file system for this process."""
    options = {**fs.storage_options, **default_options(type(fs), fs.storage_options)}
    if "reference" not in kinds_of(type(fs)):
        return type(fs)(*fs.storage_args, **_synchronous(options))
    # The same references, which kerchunk changes.
    made = type(fs)(*fs.storage_args, **_synchronous(options), skip_instance_cache=True)
    made.references = fs.references
    return made


def _synchronous(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options for a synchronous instance, also of the file systems of references."""
    kept = {key: value for key, value in options.items() if key not in ("asynchronous", "loop")}
    for name in ("remote_options", "target_options"):
        if isinstance(kept.get(name), dict):
            kept[name] = _synchronous(kept[name])
    if isinstance(kept.get("fs"), dict):
        kept["fs"] = {protocol: _synchronous_fs(fs) for protocol, fs in kept["fs"].items()}
    elif "fs" in kept:
        kept["fs"] = _synchronous_fs(kept["fs"])
    return kept


def _synchronous_fs(fs: Any) -> Any:
    if hasattr(fs, "sync_fs"):  # a wrapper that makes a file system asynchronous
        return fs.sync_fs
    return new_instance(fs) if getattr(fs, "asynchronous", False) else fs


def default_options(kind: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default options for a class of file systems."""
    kinds = kinds_of(kind)
    further: dict[str, Any] = {}
    if kinds & _LISTING_CACHES:
        further["use_listings_cache"] = False
    if "s3fs" in kinds:
        arguments = options.get("config_kwargs") or {}
        further["config_kwargs"] = {"max_pool_connections": _CONNECTIONS, **arguments}
    return further
