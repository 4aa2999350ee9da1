"""A store in a bucket of S3, Google Cloud or Azure, or on an HTTP server.

Name:           s3, s3a, gs, gcs, az, azure, abfs, abfss, adl, http, https
URL:            s3://bucket/prefix, gs://bucket/prefix, az://container/prefix, https://host/path
Library:        obstore
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    BufferByteReader,
    ByteRange,
    ByteReader,
    CachingStore,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreTraits,
    check_key,
    check_prefix,
    key_lock,
)
from zarr_core.threads import parallel_for

from zarr_stores.cache.pool import CachePool
from zarr_stores.object.client import Client
from zarr_stores.object.location import store_from_url
from zarr_stores.object.reader import ObjectReader
from zarr_stores.object.response import DecodedResponse, HeldResponse, generation_of
from zarr_stores.object.services import BY_KIND, OTHER
from zarr_stores.object.update import Updates

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator
    from typing import Self

    from zarr_core.extension import Buffer, Buffers, Change
    from zarr_core.interfaces.store import Listing

    Keys = list[str]  # ``list`` is a method within the class

__all__ = ["ObjectStore"]

_FIRST = ByteRange(0, 1 << 16)
_MAX_OPENINGS_NBYTES = 1 << 23
_ONE_WRITER = (
    "cannot be created or updated exclusively: most WebDAV servers ignore conditional writes, so "
    "changes by several writers could be lost; if this process is the only writer, pass "
    "storage_options={'conditional': False}; whole chunks of existing arrays can be written without it"
)

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]").search


class ObjectStore(CachingStore):
    """A store in an object store, through the library obstore.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        ``S3Store``, ``GCSStore``, ``AzureStore``, ``HTTPStore``, or an object with the same
        methods.
    read_only : bool
        If True, changes raise an error.
    max_concurrency : int, optional
        Maximum number of concurrent requests; by default 256, and 64 for HTTP servers.
    conditional : bool
        Whether the service supports conditional writes (``If-Match``, ``If-None-Match``).
        If not, :meth:`update` excludes only other threads of this process.  For a WebDAV
        server, :meth:`update` raises an error unless this is False.
    listing : bool
        Whether the service can list keys; plain HTTP servers cannot.
    denied_is_missing : bool
        Whether a key that may not be read, with status 403, is missing.  S3 answers so for missing
        keys if the credentials do not permit listing.
    root : str
        Prefix of all keys, in addition to the prefix of ``store``.

    Notes
    -----
    Requests are retried if that is safe, according to the ``retry_config`` of the store.
    Values with a ``Content-Encoding`` of gzip or deflate are decompressed, up to 256 MiB unless
    the metadata permits more; ``getsize`` is the length of the stored form.
    URLs, messages and pickles contain no credentials.
    """

    def __init__(
        self,
        store: Any,
        read_only: bool = False,
        max_concurrency: int | None = None,
        conditional: bool = True,
        listing: bool = True,
        root: str = "",
        denied_is_missing: bool = False,
    ) -> None:
        self._service = BY_KIND.get(type(store).__name__, OTHER)
        if max_concurrency is None:
            max_concurrency = self._service.max_concurrency
        if max_concurrency < 1:
            raise StoreError(f"max_concurrency must be at least 1, not {max_concurrency}")
        self.read_only = read_only
        self.max_concurrency: int = max_concurrency
        self.supports_listing = listing
        self._root = check_prefix(f"{root.strip('/')}/" if root.strip("/") else "")
        self._client = Client(store, self._root, max_concurrency, denied_is_missing)
        # The first parts of values, such as the indexes of shards, which each selection would request
        # again.  The requests for other parts verify that the value was not replaced.
        self._openings = CachePool(_MAX_OPENINGS_NBYTES)
        self._location = self._client.location
        self._updates = Updates(self._client)
        self.traits = StoreTraits(endpoint=self._location.further)
        self._conditional = conditional

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Create a store from a URL.

        Parameters
        ----------
        url : str
            URL with the scheme of a service.
        read_only : bool
            If True, changes raise an error.
        **options
            ``max_concurrency``, ``conditional`` and ``denied_is_missing`` of the class; ``config``, ``client_options``, ``retry_config`` and ``credential_provider`` of obstore; single
            settings of ``config`` by name, such as ``region``.  For HTTP, ``webdav``: whether the
            server supports WebDAV, and with it listing and writing.

        Raises
        ------
        StoreError
            If an option is unknown.
        """
        own = {
            name: options.pop(name)
            for name in ("max_concurrency", "conditional", "denied_is_missing")
            if name in options
        }
        store, root, plain = store_from_url(url, options)
        return cls(store, read_only=read_only or plain, listing=not plain, root=root, **own)

    @classmethod
    def from_object(cls, location: Any, *, read_only: bool = False, **options: Any) -> Self | None:
        """Create a store from a store of obstore; an ``HTTPStore`` cannot list."""
        if not hasattr(location, "get_ranges"):
            return None
        plain = type(location).__name__ == "HTTPStore"
        return cls(location, read_only=read_only or plain, listing=not plain)

    @property
    def store(self) -> Any:
        """The store of obstore; replaced if a bucket of S3 is in another region."""
        return self._client.store

    @property
    def url(self) -> str:
        return self._location.url

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        result = self._client.get(_checked(key))
        return None if result is None else self._client.body(key, result)

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        if out is not None and not limit:
            return out[:0] if (size := self.getsize(key)) == 0 else size
        wanted = None if out is None else (0, limit)
        result = self._client.get(_checked(key), wanted, limit)
        if result is None:
            return None
        size = int(result.meta["size"])  # known before the body is received
        if size > limit:
            return size
        if out is None:
            return self._client.body(key, result)
        start, stop = result.range
        if start or stop < size:
            raise StoreReadError(f"received only bytes {start} to {stop} of {size}", self, key)
        self._client.body_into(key, result, out)
        return out[:size]

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        """Open a value with a request that also reads the range ``first``.

        By default that is the first 64 KiB.  Azure does not support ranges from the end, so
        the first 64 KiB are read for them, too.
        """
        start, length = first or _FIRST
        wanted: Any
        if start < 0:
            if not self._service.has_suffix_ranges:
                return self.open_value(key)
            wanted = {"suffix": -start}
        elif length is None:
            wanted = {"offset": start} if start else None
        else:
            wanted = (start, start + max(length, 1))
        result = self._client.get(_checked(key), wanted)
        if result is None:
            return None
        if isinstance(result, DecodedResponse):
            return BufferByteReader(result.bytes())
        return self._reader(key, result)

    def open_cached(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        """Open a value; the range ``first`` is kept in memory, if it is not the whole value."""
        first = first or _FIRST
        known: Any = self._openings.use(key, first)
        if known is None:
            changes = self._openings.changes(key)
            reader = self.open_value(key, first)
            if not isinstance(reader, ObjectReader):  # missing, or decompressed
                return reader
            start, stop = first.within(reader.size)
            if stop - start in (0, reader.size) or not self._client.has_ranges:
                return reader
            with reader:
                known = HeldResponse(reader.meta, start, reader.read(start, stop - start))
            tag = reader.meta.get("e_tag")
            # Other properties of two generations, such as times, may be equal.
            if tag and not tag.startswith("W/") and known.nbytes <= _MAX_OPENINGS_NBYTES // 8:
                self._openings.keep(key, first, known, changes)
            # Its request has just returned this generation.
            return self._reader(key, known)
        return self._reader(key, known, verified=False)

    def _reader(self, key: str, result: Any, verified: bool = True) -> ObjectReader:
        return ObjectReader(self._client, key, result, self.max_concurrency, verified)

    def discard_cached(self, key: str) -> None:
        self._openings.forget(key)

    def exists(self, key: str) -> bool:
        return self._client.head(_checked(key)) is not None

    def getsize(self, key: str) -> int | None:
        meta = self._client.head(_checked(key))
        return None if meta is None else int(meta["size"])

    def generation(self, key: str) -> str | None:
        meta = self._client.head(_checked(key))
        return None if meta is None else generation_of(meta)

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        self._check_writable(key)
        self._openings.forget(key)
        self._client.set(key, value)

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding other updates of the key.

        Raises
        ------
        StoreError
            If other writers changed the value at every attempt, if a response was lost and it is
            unknown whether the new value was stored, or for a WebDAV server.

        Notes
        -----
        The new value is stored if the old one is still present.  Otherwise the update is
        retried.  S3, Google Cloud and Azure have no conditional deletes, so a value is compared
        immediately before it is deleted.
        """
        self._check_writable(key)
        self._openings.forget(key)
        if self._conditional and self._location.kind == "HTTPStore":
            raise StoreError(_ONE_WRITER, self, key)
        with key_lock(self._location, key):
            if self._conditional:
                self._conditional = self._updates.make(key, change)
            if not self._conditional:
                self._update_unlocked(key, change)

    def erase(self, key: str) -> None:
        self._check_writable(key)
        self._openings.forget(key)
        self._client.delete([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys with the minimum number of requests."""
        names = list(keys)
        for key in names:
            self._check_writable(key)
        for key in names:
            self._openings.forget(key)
        count = self._service.bulk

        def work(some: Keys) -> None:
            # If one key is missing, others may not have been removed.
            if not self._client.delete(some) and len(some) > 1:
                parallel_for(some, self.erase, True, self.max_concurrency)

        batches = [names[start : start + count] for start in range(0, len(names), count)]
        parallel_for(batches, work, True, self.max_concurrency)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        return (key for key, _ in self.list_sizes(prefix))

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        self._check_listing(prefix)
        return self._client.list_sizes(prefix)

    def list_dir(self, prefix: str) -> Listing:
        self._check_listing(prefix)
        return self._client.list_dir(prefix)

    def _check_listing(self, prefix: str) -> None:
        check_prefix(prefix)
        if not self.supports_listing:
            raise StoreCapabilityError(
                "plain HTTP servers cannot list keys; if the server supports WebDAV, pass "
                'storage_options={"webdav": True}',
                self,
                prefix,
            )

    # --- the object ---

    def _identity(self) -> Hashable:
        return self._location

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __str__(self) -> str:
        return str(self._location)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        self._location.check_to_pickle(self.store)
        return type(self), (
            self.store, self.read_only, self.max_concurrency, self._conditional,
            self.supports_listing, self._root, self._client.denied_is_missing,
        )  # fmt: skip

    # --- checks ---

    def _check_writable(self, key: str) -> None:
        _checked(key)
        self._require_writable(key)


def _checked(key: str) -> str:
    """Return the key if it is valid and obstore supports it."""
    check_key(key)
    if _CONTROL(key):
        raise StoreKeyError(
            "object stores do not support control characters or surrogates", key=ascii(key)
        )
    return key
