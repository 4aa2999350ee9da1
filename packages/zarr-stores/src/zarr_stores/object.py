"""A store in the buckets of S3, Google Cloud, Azure, or on a server of HTTP.

Name:           s3, s3a, gs, gcs, az, azure, abfs, abfss, adl, http, https
URL:            s3://bucket/prefix, gs://bucket/prefix, az://container/prefix, https://host/path
Library:        obstore
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    ByteRange,
    Store,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    ValueReader,
    check_key,
    check_prefix,
    key_lock,
    run_in_threads,
)

from zarr_stores.object_client import Client
from zarr_stores.object_place import store_from_url
from zarr_stores.object_reader import ObjectReader
from zarr_stores.object_update import Updates
from zarr_stores.object_version import word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from zarr_core.extension import Buffer, Change, Pieces

    # Named here, because within the class ``list`` is the operation of that name.
    Keys = list[str]
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]

__all__ = ["ObjectStore"]

REQUESTS = 64
GAP_BYTES = 1 << 18
_FIRST = ByteRange(0, 1 << 16)
_BULK = {"S3Store": 1000, "AzureStore": 256}  # keys that one request removes


_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]").search


class ObjectStore(Store):
    """A store in what a store of the library obstore leads to.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        ``S3Store``, ``GCSStore``, ``AzureStore``, ``HTTPStore``, or what has their methods.
    read_only : bool
        Refuse changes.
    requests : int
        How many requests to keep in flight.
    gap_bytes : int
        Unneeded bytes between two parts of a value that are read rather than skipped.
    conditional : bool
        Whether the service minds the conditions of a write (``If-Match``,
        ``If-None-Match``).  If it does not, :meth:`update` excludes only the threads of
        this process.  Services of HTTP never do.
    listing : bool
        Whether the service can list; a plain server of HTTP cannot.
    root : str
        What stands before every key, besides the prefix that ``store`` may have.

    Notes
    -----
    Every request is repeated where that is safe, as the store's ``retry_config`` says.
    Credentials are nobody's business here: they are in no URL, message or pickle.
    """

    def __init__(
        self,
        store: Any,
        read_only: bool = False,
        requests: int = REQUESTS,
        gap_bytes: int = GAP_BYTES,
        conditional: bool = True,
        listing: bool = True,
        root: str = "",
    ) -> None:
        if requests < 1 or gap_bytes < 0:
            raise StoreError(f"not possible: requests={requests}, gap_bytes={gap_bytes}")
        self.store = store
        """What does the work."""
        self.read_only = read_only
        self.requests: int = requests
        self.gap_bytes = gap_bytes
        """Unneeded bytes between two parts of a value that are read rather than skipped."""
        self.supports_listing = listing
        self._root = check_prefix(f"{root.strip('/')}/" if root.strip("/") else "")
        self._client = Client(store, self._root, requests)
        self._updates = Updates(self._client)
        self._place = self._client.place
        self.realm = self._place.further
        self._conditional = conditional and self._place.kind != "HTTPStore"
        self._suffixes = self._place.kind != "AzureStore"

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Make a store from a URL.

        Parameters
        ----------
        url : str
            With the scheme of a service.
        read_only : bool
            Refuse changes.
        **options
            ``requests``, ``gap_bytes`` and ``conditional`` of the class; ``config``,
            ``client_options``, ``retry_config`` and ``credential_provider`` of obstore; single
            settings of ``config`` by their names, such as ``region``.  For HTTP ``webdav``:
            whether the server can list and be written to, which a plain one cannot.

        Raises
        ------
        StoreError
            If an option is unknown.
        """
        own = {
            name: options.pop(name)
            for name in ("requests", "gap_bytes", "conditional")
            if name in options
        }
        store, root, plain = store_from_url(url, options)
        return cls(store, read_only=read_only or plain, listing=not plain, root=root, **own)

    @classmethod
    def from_object(cls, place: Any, *, read_only: bool = False) -> Self | None:
        """Make a store of one of obstore's; a plain server of HTTP cannot list."""
        if not hasattr(place, "get_ranges"):
            return None
        plain = type(place).__name__ == "HTTPStore"
        return cls(place, read_only=read_only or plain, listing=not plain)

    @property
    def url(self) -> str:
        return self._place.url

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        result = self._client.get(_checked(key))
        return None if result is None else self._client.body(key, result)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        """Parts of values, in the order asked for; those of one value are joined where near."""
        asked = [*key_ranges]
        values: Values = [None] * len(asked)
        by_key: dict[str, list[int]] = {}
        for number, (key, _) in enumerate(asked):
            by_key.setdefault(key, []).append(number)

        def work(item: tuple[str, list[int]]) -> None:
            key, numbers = item
            reader = self.open_value(key, asked[numbers[0]][1])
            if reader is None:
                return
            with reader:
                ends = [asked[number][1].within(reader.size) for number in numbers]
                if len(ends) == 1:
                    values[numbers[0]] = reader.read(ends[0][0], ends[0][1] - ends[0][0])
                    return
                buffers = [memoryview(bytearray(stop - start)) for start, stop in ends]
                reader.read_into(
                    [(start, buffer) for (start, _), buffer in zip(ends, buffers, strict=True)]
                )
                for number, buffer in zip(numbers, buffers, strict=True):
                    values[number] = buffer

        run_in_threads(by_key.items(), work, True, self.requests)
        return values

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        """Read a value with one request for no more than the buffer holds."""
        if not buffer:
            return self.getsize(key)
        result = self._client.get(_checked(key), (0, len(buffer)))
        if result is None:
            return None
        size: int = result.meta["size"]
        start, stop = result.range
        if start or stop < min(size, len(buffer)):
            raise StoreReadError(f"bytes {start} to {stop} came of {size}", self, key)
        self._client.body_into(key, result, buffer)  # perhaps less than all that comes
        return size

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        """Open a value with the request that reads what will be read first.

        By default its first 64 KiB; where Azure is asked for the end, too.
        """
        start, length = first or _FIRST
        wanted: Any
        if start < 0:
            if not self._suffixes:
                return self.open_value(key)
            wanted = {"suffix": -start}
        elif length is None:
            wanted = {"offset": start} if start else None
        else:
            wanted = (start, start + max(length, 1))
        result = self._client.get(_checked(key), wanted)
        if result is None:
            return None
        return ObjectReader(self._client, key, result, self.requests, self.gap_bytes)

    def exists(self, key: str) -> bool:
        return self._client.head(_checked(key)) is not None

    def getsize(self, key: str) -> int | None:
        meta = self._client.head(_checked(key))
        return None if meta is None else int(meta["size"])

    def version(self, key: str) -> str | None:
        meta = self._client.head(_checked(key))
        return None if meta is None else word(meta)

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self._check_to_change(key)
        self._client.set(key, value)

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding every other such change of the key.

        Raises
        ------
        StoreError
            If others were faster each time; or if the answer was lost and it cannot be found
            out whether the new value was stored.

        Notes
        -----
        The new value is stored if the old one is still there; else it is changed anew.
        To erase a value services have no condition: it is looked at just before.
        """
        self._check_to_change(key)
        with key_lock(self._place, key):
            if self._conditional:
                self._conditional = self._updates.make(key, change)
            if not self._conditional:
                self._change(key, change)

    def erase(self, key: str) -> None:
        self._check_to_change(key)
        self._client.delete([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys, with as few requests as the service allows."""
        names = list(keys)
        for key in names:
            self._check_to_change(key)
        count = _BULK.get(self._place.kind, 1)

        def work(some: Keys) -> None:
            # Where one is missing, the others may be left.
            if not self._client.delete(some) and len(some) > 1:
                run_in_threads(some, self.erase, True, self.requests)

        batches = [names[start : start + count] for start in range(0, len(names), count)]
        run_in_threads(batches, work, True, self.requests)

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix."""
        check_prefix(prefix)
        self._require_writable(prefix)
        self.erase_values(list(self.list_prefix(prefix)))

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        self._check_listing(prefix)
        return self._client.list(prefix)

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
                "a plain server of HTTP cannot list; if it knows WebDAV, say "
                'storage_options={"webdav": True}',
                self,
                prefix,
            )

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObjectStore):
            return NotImplemented
        return self._place == other._place

    def __hash__(self) -> int:
        return hash(self._place)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __repr__(self) -> str:
        read_only = ", read_only=True" if self.read_only else ""
        return f"{type(self).__name__}({str(self)!r}{read_only})"

    def __str__(self) -> str:
        return str(self._place)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        self._place.check_to_pickle(self.store)
        return type(self), (
            self.store, self.read_only, self.requests, self.gap_bytes, self._conditional,
            self.supports_listing, self._root,
        )  # fmt: skip

    # --- checks ---

    def _check_to_change(self, key: str) -> None:
        _checked(key)
        self._require_writable(key)


def _checked(key: str) -> str:
    """Return the key if it is one, and nothing that obstore refuses."""
    check_key(key)
    if _CONTROL(key):
        raise StoreKeyError(
            "object stores take no control characters, no surrogates", key=ascii(key)
        )
    return key
