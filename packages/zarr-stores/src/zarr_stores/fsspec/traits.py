"""Properties of fsspec file systems that their common interface does not provide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zarr_core.extension import StoreKeyError
from zarr_core.tools import encode_key

if TYPE_CHECKING:
    from collections.abc import Mapping

_HERE = "fsspec.implementations."
# Their cache of listings can be disabled.  The caches of others are invalidated at each use.
_LISTING_CACHES = (
    "s3fs", "gcsfs", "adlfs", "ossfs", f"{_HERE}http", f"{_HERE}ftp", f"{_HERE}github",
)  # fmt: skip
_CACHE = "SimpleCacheFileSystem"  # the other caches are not thread-safe
_CONNECTIONS = 64  # size of the connection pool of s3fs; its default is 10
# File systems that do not support writing, or not as a store requires.
_READ_ONLY = {
    f"{_HERE}{name}": why
    for name, why in {
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
    }.items()
}
# Moving a file replaces the target atomically.
_RENAMING = (f"{_HERE}local", f"{_HERE}sftp")
# Each call is an independent request.
_REQUEST_MODULES = ("huggingface_hub", f"{_HERE}gist", f"{_HERE}github", f"{_HERE}webhdfs")
# Other file systems are used by one thread at a time.
_SAFE_IN_THREADS = (f"{_HERE}local", f"{_HERE}memory", *_REQUEST_MODULES)
_HANDLES = (f"{_HERE}local", f"{_HERE}sftp")  # an open file keeps its contents
_STRONG = ("ETag", "etag", "generation", "content_md5", "md5", "md5Hash", "checksum")
_WEAK = ("mtime", "modified", "LastModified", "last_modified", "updated", "created", "size")


class Traits:
    """Properties of a file system.

    Parameters
    ----------
    fs : AbstractFileSystem
        The file system.
    """

    def __init__(self, fs: Any) -> None:
        kinds = [kind.__module__ for kind in type(fs).__mro__]
        self.local = _is_any(kinds, (f"{_HERE}local",))
        self.memory = _is_any(kinds, (f"{_HERE}memory",))
        self.http = _is_any(kinds, (f"{_HERE}http",))
        self.caching = any(kind.__name__ == _CACHE for kind in type(fs).__mro__)
        """Whether it caches whole files: only one thread at a time can fetch a file."""
        target = target_of(fs)
        self.cached = target is not fs
        """Whether it is a cache of another file system."""
        target_kinds = [kind.__module__ for kind in type(target).__mro__]
        self.target_http = _is_any(target_kinds, (f"{_HERE}http",))
        """Whether the file system behind caches is HTTP."""
        # A cache reports the ``async_impl`` of the file system behind it.
        self.concurrent = bool(fs.async_impl) and not _is_any(kinds, (f"{_HERE}cached",))
        """Whether it sends concurrent requests in its own event loop."""
        self.waits = self.concurrent or self.caching or _is_any(kinds, _REQUEST_MODULES)
        """Whether concurrent requests hide its latency."""
        self.alone = not (self.concurrent or self.caching or _is_any(kinds, _SAFE_IN_THREADS))
        """Whether only one thread at a time can use it."""
        self.renames = _is_any(kinds, _RENAMING)
        """Whether a file can be replaced atomically."""
        self.handles = _is_any(kinds, _HANDLES)
        """Whether an open file keeps its contents if it is replaced."""
        self.flat = _overrides(fs, "find") or (self.concurrent and _overrides(fs, "_find"))
        """Whether all files below a path can be listed with one call."""
        self.directories = not (self.flat or self.memory)
        """Whether directories must be created, and remain if they are empty."""
        self.read_only = next((_READ_ONLY[kind] for kind in kinds if kind in _READ_ONLY), "")
        """Why writing is not supported; empty if it is supported."""
        # Concurrent requests for one value could mix two generations.
        self.whole: dict[str, Any] = {"max_concurrency": 1} if _is_any(kinds, ("s3fs",)) else {}
        """Arguments for reading a value with one request."""
        self.s3 = _is_any(kinds, ("s3fs",))


def target_of(fs: Any) -> Any:
    """Return the file system behind caches of fsspec; the file system itself if it is none."""
    while _is_any([kind.__module__ for kind in type(fs).__mro__], (f"{_HERE}cached",)):
        fs = fs.fs
    return fs


def _is_any(kinds: list[str], modules: tuple[str, ...]) -> bool:
    return any(
        kind == module or kind.startswith(f"{module}.") for kind in kinds for module in modules
    )


def _overrides(fs: Any, method: str) -> bool:
    found = getattr(type(fs), method, None)
    module = getattr(found, "__module__", None)
    return module not in (None, "fsspec.spec", "fsspec.asyn")


def without_listings_cache(fs: Any) -> Any:
    """Return the file system, or a new instance without a cache of listings.

    The given instance is not changed.
    """
    remembers = _is_any([kind.__module__ for kind in type(fs).__mro__], _LISTING_CACHES)
    return new_instance(fs) if remembers or getattr(fs, "asynchronous", False) else fs


def new_instance(fs: Any) -> Any:
    """Return a new synchronous instance of a file system for this process."""
    options = {**fs.storage_options, **default_options(type(fs), fs.storage_options)}
    if not _is_any([kind.__module__ for kind in type(fs).__mro__], (f"{_HERE}reference",)):
        return type(fs)(*fs.storage_args, **_synchronous(options))
    # The same references, which kerchunk changes.
    made = type(fs)(*fs.storage_args, **_synchronous(options), skip_instance_cache=True)
    made.references = fs.references
    return made


def _synchronous(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options for a synchronous instance, also of the file systems of references."""
    found = {key: value for key, value in options.items() if key not in ("asynchronous", "loop")}
    for name in ("remote_options", "target_options"):
        if isinstance(found.get(name), dict):
            found[name] = _synchronous(found[name])
    if isinstance(found.get("fs"), dict):
        found["fs"] = {protocol: _synchronous_fs(fs) for protocol, fs in found["fs"].items()}
    elif "fs" in found:
        found["fs"] = _synchronous_fs(found["fs"])
    return found


def _synchronous_fs(fs: Any) -> Any:
    if hasattr(fs, "sync_fs"):  # a wrapper that makes a file system asynchronous
        return fs.sync_fs
    return new_instance(fs) if getattr(fs, "asynchronous", False) else fs


def default_options(kind: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default options for a class of file systems."""
    kinds = [base.__module__ for base in kind.__mro__]
    further: dict[str, Any] = {}
    if _is_any(kinds, _LISTING_CACHES):
        further["use_listings_cache"] = False
    if _is_any(kinds, ("s3fs",)):
        given = options.get("config_kwargs") or {}
        further["config_kwargs"] = {"max_pool_connections": _CONNECTIONS, **given}
    return further


def path_in(fs: Any, traits: Traits, base: str, key: str) -> str:
    """Return the path of a key.

    Raises
    ------
    StoreKeyError
        If the file system would change the path.
    """
    encode_key(key)
    path = base + (quote(key, safe="/~!$&'()*+,;=:@") if traits.http else key)
    if fs._strip_protocol(path) != path or (traits.s3 and "?versionId=" in key):  # noqa: SLF001 - fsspec's, for this
        raise StoreKeyError(f"is not a file name for the file system {type(fs).__name__}", key=key)
    return path


def generation_of(info: Mapping[str, Any]) -> str | None:
    """Return a reliable generation of a file; None if there is none."""
    for name in _STRONG:
        if value := info.get(name):
            return str(value).strip('"')
    return None


def change_markers(info: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return values that change if a file is replaced, as far as known."""
    generation = generation_of(info)
    return (generation,) if generation else tuple(str(info.get(name)) for name in _WEAK)
