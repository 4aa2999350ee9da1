"""A store in any file system of fsspec.

Name:           fsspec, and the schemes that no other store uses (ftp, github, hdfs, hf ...)
URL:            URLs of fsspec; ``fsspec+s3://`` for schemes of other stores; chains with ``::``
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.extension import (
    Store,
    StoreCapabilityError,
    StoreError,
    StoreReadError,
    StoreReadOnlyError,
    StoreTraits,
    check_key,
    check_prefix,
    key_lock,
)
from zarr_core.interfaces.store import to_bytes
from zarr_core.stores.local import LocalStore

from zarr_stores.databases.database_store import is_key
from zarr_stores.fsspec.calls import MISSING, Calls
from zarr_stores.fsspec.files import (
    PARTIAL,
    find_files,
    list_directory,
    path_in,
    remove_file,
    write_file,
)
from zarr_stores.fsspec.http import (
    BodyTooLargeError,
    EncodedRangeError,
    limited_bodies,
    read_limited,
)
from zarr_stores.fsspec.location import SUFFIXES, Location, is_asynchronous, location_of
from zarr_stores.fsspec.reader import generation_of, open_file_reader, open_range_reader
from zarr_stores.fsspec.traits import Traits
from zarr_stores.secrets import check_pickle, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, Buffers, ByteRange, ByteReader, Change
    from zarr_core.interfaces.store import Listing, Values


__all__ = ["FsspecStore"]

REQUESTS = 64
TIMEOUT = 60.0
_MOST_UNREQUESTED = 1 << 28  # bytes that a server without ranges sends in addition
_NO_RANGES = (
    "the server does not support range requests, and the value has {} bytes; copy the store to a "
    "local directory, or use a server that supports them, such as zarr-core serve"
)
T = TypeVar("T")


class FsspecStore(Store):
    """A store in a directory of an fsspec file system.

    Parameters
    ----------
    fs : AbstractFileSystem or Location
        The file system, synchronous or asynchronous, or a parsed URL.
    path : str
        Path of the directory in the file system.
    read_only : bool
        If True, changes raise an error.
    max_concurrency : int, optional
        Maximum number of concurrent requests.  By default 64 for file systems that support
        concurrent requests, and None for others.
    timeout : float
        Time limit in seconds of a call of an asynchronous file system (S3, GCS, Azure, HTTP), plus
        1 s for each 32 KiB of data.  Other file systems have their own limits.
    retry_timeout : float
        Time in seconds during which calls are repeated that an HTTP server rejects with status
        429 or 503, after random pauses of up to 5 s.  s3fs, gcsfs and adlfs repeat requests
        themselves.
    denied_is_missing : bool
        Whether a key that may not be read, such as with status 403, is missing.

    Notes
    -----
    ``update`` excludes other threads of this process, but not other processes, because fsspec
    has no locks or conditional writes.  Use the stores for S3, GCS, Azure or local directories
    if several processes write to one chunk or shard.

    Values are replaced atomically if the file system renames files (SFTP).  Otherwise a
    value is sent with one request, and it depends on the service whether readers can see a part
    of it.  Listings are not cached.  Only ``FileNotFoundError`` means that a key is missing.
    After parts of large values are read, the generation of the file is compared.
    """

    def __init__(
        self,
        fs: Any,
        path: str = "",
        read_only: bool = False,
        *,
        max_concurrency: int | None = None,
        timeout: float = TIMEOUT,
        retry_timeout: float = TIMEOUT,
        denied_is_missing: bool = False,
    ) -> None:
        self._location = location = fs if isinstance(fs, Location) else Location(fs, path)
        self.traits = StoreTraits(endpoint=location.realm)
        self._traits = traits = Traits(location.fs())
        if traits.local:
            raise StoreError("a local directory is opened without fsspec: pass its path", self)
        # In the notation of the file system: some paths begin with a slash.
        self._base: str = location.path("x")[:-1]
        self._limits = timeout, retry_timeout
        self.calls = Calls(location, traits, location, *self._limits, denied_is_missing)
        """All calls of the file system."""
        self.read_only = read_only or bool(traits.read_only)
        self.supports_listing = not traits.target_http
        self.max_concurrency = max_concurrency or (REQUESTS if traits.waits else None)

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Create a store from a URL of fsspec, or a chain of URLs.

        Parameters
        ----------
        url : str
            Such as ``ftp://host/field.zarr``, ``fsspec+s3://bucket/field.zarr``,
            ``simplecache::s3://bucket/field.zarr``, ``zip://::https://host/field.zip``.
        read_only : bool
            If True, changes raise an error.
        **options
            ``max_concurrency`` and ``denied_is_missing`` of the class, and
            ``timeout`` and ``retry_timeout`` if the file system is asynchronous; all others are passed to fsspec.  In a chain, the options of one file system are under its name: ``{"s3": {"anon": True}}``.

        Raises
        ------
        StoreError
            If fsspec or the library for the scheme is not installed, or rejects the options.
        """
        if "reference" in (part.partition("://")[0] for part in url.split("::")):
            # fsspec would allow remote references to local files.
            raise StoreError(
                "references are not supported by the fsspec store; use "
                "reference+https://host/refs.json, reference+s3://bucket/refs.parq, or "
                'reference:// with the option "fo"',
                store=without_secrets(url),
            )
        settings: dict[str, Any] = {
            name: options.pop(name)
            for name in ("max_concurrency", "denied_is_missing")
            if name in options
        }
        limits = [name for name in ("timeout", "retry_timeout") if name in options]
        if limits and is_asynchronous(url):
            settings |= {name: float(options.pop(name)) for name in limits}
        return cls(Location.at(url, options), read_only=read_only, **settings)

    @classmethod
    def from_object(cls, location: Any, *, read_only: bool = False, **options: Any) -> Store | None:
        """Create a store from a file system or mapper of fsspec, a UPath, or an archive's path.

        Notes
        -----
        For a local directory a :class:`LocalStore` is returned.  The ``missing_exceptions`` of
        a mapper are ignored.
        """
        if isinstance(location, str) and location.lower().endswith(SUFFIXES):
            if os.path.isdir(location):
                return None
            return cls.from_url(location, read_only=read_only, **options)
        known = None if isinstance(location, (str, tuple)) else location_of(location)
        if known is None:
            return None
        if Traits(known.fs()).local:
            return LocalStore(known.root, read_only=read_only)
        return cls(known, read_only=read_only)

    @property
    def url(self) -> str:
        return self._location.url

    # --- readable ---

    def get(self, key: str) -> bytes | None:
        path, whole = self._path(key), self._traits.whole

        def work(fs: Any) -> bytes:
            data: bytes = fs.cat_file(path, **whole)
            return data

        return self._read(key, path, work)

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        if self._traits.memory:
            return super().get_limited(key, limit)
        path, http = self._path(key), self._traits.http
        return self._read(key, path, lambda fs: read_limited(fs, path, limit, http))

    def _read(self, key: str, path: str, work: Callable[[Any], T]) -> T | None:
        """Return what a function reads; None only if the file system behind caches has no file."""
        with suppress(*MISSING), self.calls.reading(key, path) as fs:
            return work(fs)
        if self._traits.cached:
            with suppress(*MISSING), self.calls.reading_target(key) as target:
                return work(target)
        return None

    def read_ranges(self, key: str, size: int, ranges: Sequence[tuple[int, int]]) -> Values:
        """Read ranges of a value, concurrently if the file system supports it; None if missing.

        Each range has the first byte and the byte after the last; ``size`` is the length of the
        value.
        """
        path = self._path(key)
        starts, stops = map(list, zip(*ranges, strict=True))
        total = sum(stops) - sum(starts)

        def work(fs: Any) -> list[Any]:
            with limited_bodies(total + _MOST_UNREQUESTED):
                return list(fs.cat_ranges([path] * len(ranges), starts, stops, on_error="return"))

        got = self._read(key, path, work) or [None] * len(ranges)
        return [
            self._checked_range(key, path, size, start, stop, value)
            for (start, stop), value in zip(ranges, got, strict=True)
        ]

    def _checked_range(
        self, key: str, path: str, size: int, start: int, stop: int, value: Any
    ) -> Buffer | None:
        """Return a range that was read, or instead of which an error was returned."""
        if self._traits.cached and isinstance(value, MISSING):
            with suppress(*MISSING), self.calls.reading_target(key) as target:
                value = target.cat_file(path, start=start, end=stop)
        if isinstance(value, EncodedRangeError):
            value = self.get_limited(key, size)
            if isinstance(value, int):
                raise StoreReadError(f"the value has more than {size} bytes", self, key)
        if value is None or isinstance(value, MISSING):
            return None
        if isinstance(value, BodyTooLargeError):
            raise StoreReadError(_NO_RANGES.format(size), self, key)
        with self.calls.wrap_errors(key):
            if isinstance(value, BaseException):
                raise value
        # A server without support for ranges sends the whole value.
        part = memoryview(value)[start:stop] if len(value) == size else value
        if len(part) != stop - start:
            raise StoreReadError(
                f"received {len(part)} of {stop - start} bytes at offset {start}", self, key
            )
        return part

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        if self._traits.memory:
            return super().open_value(key, first)
        path = self._path(key)
        if self._traits.renames:
            return open_file_reader(self, key, path)
        return open_range_reader(self, key, path, self._traits, first)

    def info(self, key: str) -> Mapping[str, Any] | None:
        """Return the information of the file system about a file; None if it does not exist."""
        path = self._path(key)
        # A cache may answer by a listing, which many servers do not have.
        reading = self.calls.reading_target if self._traits.cached else self.calls.reading
        try:
            with reading(key) as fs:
                fs.invalidate_cache()
                info: Mapping[str, Any] = fs.info(path)
        except MISSING:
            return None
        return None if info.get("type") == "directory" else info

    def exists(self, key: str) -> bool:
        return self.info(key) is not None

    def getsize(self, key: str) -> int | None:
        info = self.info(key)
        if info is None:
            return None
        size = info.get("size")
        return super().getsize(key) if size is None else int(size)

    def generation(self, key: str) -> str | None:
        info = self.info(key)
        return None if info is None else generation_of(info) or super().generation(key)

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        path = self._path(key)
        self._require_writable(key)
        data = to_bytes(value)
        with self.calls.writing(key) as fs:
            write_file(fs, self._traits, path, data)
            fs.invalidate_cache()

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding other threads of this process."""
        self._path(key)
        self._require_writable(key)
        with key_lock(repr(self._location.identity), key):
            self._update_unlocked(key, change)

    def erase(self, key: str) -> None:
        path = self._path(key)
        self._require_writable(key)
        with self.calls.writing(key) as fs:
            remove_file(fs, self._traits, path, len(self._base) - 1)
            fs.invalidate_cache()

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        directory = self._directory(prefix)
        if self._traits.flat or self._traits.memory:
            try:
                with self.calls.reading(prefix) as fs:
                    fs.invalidate_cache()
                    names = find_files(fs, directory)
            except MISSING:
                return iter(())
            return iter([key for key in map(self._key, names) if _is_listed(key, prefix)])
        all_keys: list[str] = []
        below = [(prefix, directory)]
        while below:  # no recursion: keys may be deep
            keys, prefixes = self._children(*below.pop())
            all_keys += keys
            below += ((one, f"{self._base}{one}".rstrip("/")) for one in prefixes)
        return iter(all_keys)

    def list_dir(self, prefix: str) -> Listing:
        return self._children(prefix, self._directory(prefix))

    def _children(self, prefix: str, directory: str) -> Listing:
        try:
            with self.calls.reading(prefix) as fs:
                fs.invalidate_cache()
                entries = list_directory(fs, directory)
        except MISSING:
            return [], []
        keys: list[str] = []
        prefixes: dict[str, None] = {}
        for entry in entries:
            key = self._key(entry["name"])
            if _is_listed(key, prefix):
                if entry.get("type") == "directory":
                    prefixes[f"{key}/"] = None
                else:
                    keys.append(key)
        return keys, list(prefixes)

    # --- the object ---

    def _identity(self) -> Hashable:
        return self._location.identity

    def __str__(self) -> str:
        return str(self._location)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self  # a copy would be equal

    def __reduce__(self) -> tuple[Any, ...]:
        if self._traits.memory:
            raise StoreError(
                "cannot be pickled, because the memory file system belongs to this process",
                store=self,
            )
        check_pickle(self, self._location.secrets)
        timeout, retry_timeout = self._limits
        settings: dict[str, Any] = {
            "read_only": self.read_only, "max_concurrency": self.max_concurrency,
            "timeout": timeout, "retry_timeout": retry_timeout,
            "denied_is_missing": self.calls.denied_is_missing,
        }  # fmt: skip
        return partial(type(self), **settings), (self._location,)

    # --- helpers ---

    def _path(self, key: str) -> str:
        check_key(key)
        path = path_in(self._location.fs(), self._traits, self._base, key)
        return path + self._location.query

    def _directory(self, prefix: str) -> str:
        check_prefix(prefix)
        if not self.supports_listing:
            raise StoreCapabilityError("HTTP servers cannot list keys", self, prefix)
        return f"{self._base}{prefix}".rstrip("/") or self._location.root

    def _key(self, name: str) -> str:
        """Return the key of a path in a listing, with or without a leading slash."""
        base = self._base.lstrip("/")
        path = str(name).lstrip("/")
        return path[len(base) :] if path.startswith(base) else ""

    def _require_writable(self, key: str) -> None:
        if self.read_only:
            why = self._traits.read_only or "the store is open for reading only"
            raise StoreReadOnlyError(why, store=self, key=key)


def _is_listed(key: str, prefix: str) -> bool:
    return is_key(key, prefix) and not (key.endswith(PARTIAL) and "/." in f"/{key}")
