"""What is known about the file systems of fsspec beyond their common interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zarr_core.extension import StoreKeyError

if TYPE_CHECKING:
    from collections.abc import Mapping

_HERE = "fsspec.implementations."
# They remember listings, and can be told not to.  What others remember is dropped each time.
_REMEMBERING = (
    "s3fs", "gcsfs", "adlfs", "ossfs", f"{_HERE}http", f"{_HERE}ftp", f"{_HERE}github",
)  # fmt: skip
_CACHE = "SimpleCacheFileSystem"  # the others keep accounts, which threads would disturb
_CONNECTIONS = 64  # of the pool that s3fs has; 10 if nobody says so
# In them nothing can be written, or not in the way of a store.
_READ_ONLY = {
    f"{_HERE}{name}": why
    for name, why in {
        "cached": "what is read through a cache of files would not be what was written; "
        "write to the place behind it",
        "data": "a data URL cannot be changed",
        "gist": "a gist is not written to",
        "git": "a commit cannot be changed",
        "github": "GitHub is not written to",
        "http": "HTTP servers are not written to",
        "libarchive": "an archive cannot be changed",
        "reference": "references to parts of other files are not written to",
        "tar": "an archive cannot be changed",
        "zip": "through fsspec an archive is not written to; give the path of a local .zip file",
    }.items()
}
# Moving a file within them replaces the target at once.
_RENAMING = (f"{_HERE}local", f"{_HERE}sftp")
# Each call of them is a request of its own, which another thread does not disturb.
_REQUESTING = ("huggingface_hub", f"{_HERE}gist", f"{_HERE}github", f"{_HERE}webhdfs")
# Others have to be asked one after the other.
_SAFE_IN_THREADS = (f"{_HERE}local", f"{_HERE}memory", *_REQUESTING)
_HANDLES = (f"{_HERE}local", f"{_HERE}sftp")  # an open file stays what it was
_STRONG = ("ETag", "etag", "generation", "content_md5", "md5", "md5Hash", "checksum")
_WEAK = ("mtime", "modified", "LastModified", "last_modified", "updated", "created", "size")


class Traits:
    """How a file system is to be treated.

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
        """Whether it keeps whole files, which several threads may fetch, but not the same one."""
        # A cache says of itself what holds for the file system behind it.
        self.concurrent = bool(fs.async_impl) and not _is_any(kinds, (f"{_HERE}cached",))
        """Whether it has many requests in flight, in a loop of its own."""
        self.waits = self.concurrent or self.caching or _is_any(kinds, _REQUESTING)
        """Whether it has latency, during which it can be asked for more."""
        self.alone = not (self.concurrent or self.caching or _is_any(kinds, _SAFE_IN_THREADS))
        """Whether it must not be called by two threads at the same time."""
        self.renames = _is_any(kinds, _RENAMING)
        """Whether a new file can take the place of an old one at once."""
        self.handles = _is_any(kinds, _HANDLES)
        """Whether an open file goes on having the old content when it is replaced."""
        self.flat = _overrides(fs, "find") or (self.concurrent and _overrides(fs, "_find"))
        """Whether everything below a path can be listed at once, without directories."""
        self.directories = not (self.flat or self.memory)
        """Whether directories have to be made, and stay when they are empty."""
        self.read_only = next((_READ_ONLY[kind] for kind in kinds if kind in _READ_ONLY), "")
        """Why nothing can be written; empty if it can."""
        # In pieces that are fetched at the same time two versions could be mixed.
        self.whole: dict[str, Any] = {"max_concurrency": 1} if _is_any(kinds, ("s3fs",)) else {}
        """Arguments that make a value come in one piece."""
        self.s3 = _is_any(kinds, ("s3fs",))


def _is_any(kinds: list[str], modules: tuple[str, ...]) -> bool:
    return any(
        kind == module or kind.startswith(f"{module}.") for kind in kinds for module in modules
    )


def _overrides(fs: Any, method: str) -> bool:
    found = getattr(type(fs), method, None)
    module = getattr(found, "__module__", None)
    return module not in (None, "fsspec.spec", "fsspec.asyn")


def own(fs: Any) -> Any:
    """The file system, or another instance of it, which remembers no listing.

    Others may go on using the instance that was given as it is.
    """
    remembers = _is_any([kind.__module__ for kind in type(fs).__mro__], _REMEMBERING)
    return again(fs) if remembers or getattr(fs, "asynchronous", False) else fs


def again(fs: Any) -> Any:
    """An instance of a file system for this process, to be called without awaiting."""
    options = {**fs.storage_options, **manners(type(fs), fs.storage_options)}
    for name in ("asynchronous", "loop"):
        options.pop(name, None)
    return type(fs)(*fs.storage_args, **options)


def manners(kind: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """What a file system is told that its user has not said."""
    kinds = [base.__module__ for base in kind.__mro__]
    further: dict[str, Any] = {}
    if _is_any(kinds, _REMEMBERING):
        further["use_listings_cache"] = False
    if _is_any(kinds, ("s3fs",)):
        given = options.get("config_kwargs") or {}
        further["config_kwargs"] = {"max_pool_connections": _CONNECTIONS, **given}
    return further


def path_in(fs: Any, traits: Traits, base: str, key: str) -> str:
    """The path of a key.

    Raises
    ------
    StoreKeyError
        If the file system would take it for another one.
    """
    try:
        key.encode()
    except UnicodeEncodeError as error:
        raise StoreKeyError("cannot be encoded as UTF-8", key=ascii(key)) from error
    path = base + (quote(key, safe="/~!$&'()*+,;=:@") if traits.http else key)
    if fs._strip_protocol(path) != path or (traits.s3 and "?versionId=" in key):  # noqa: SLF001 - fsspec's, for this
        raise StoreKeyError(
            f"a {type(fs).__name__} takes this for something else than a name", key=key
        )
    return path


def version_of(info: Mapping[str, Any]) -> str | None:
    """What identifies a version of a file for certain; None if nothing does."""
    for name in _STRONG:
        if value := info.get(name):
            return str(value).strip('"')
    return None


def marks_of(info: Mapping[str, Any]) -> tuple[Any, ...]:
    """What is another one if a file was replaced, as far as can be known."""
    version = version_of(info)
    return (version,) if version else tuple(str(info.get(name)) for name in _WEAK)
