"""Adapter for stores of zarr-python.

Names:          modules of the classes of such stores and of locations in them
URL:            none; pass the object to ``open``
"""

from __future__ import annotations

from inspect import iscoroutine
from itertools import chain
from typing import TYPE_CHECKING, Any

from zarr.abc.store import RangeByteRequest
from zarr.abc.store import Store as TheirStore
from zarr.core.common import concurrent_map
from zarr.core.sync import sync
from zarr.storage import LocalStore as TheirLocalStore
from zarr.storage import MemoryStore as TheirMemoryStore
from zarr_core.extension import (
    BufferByteReader,
    Store,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreReadOnlyError,
    ZarrError,
    check_key,
    check_prefix,
    key_lock,
)
from zarr_core.interfaces.store import to_bytes
from zarr_core.stores.local import LocalStore

from zarr_bridge.calls import buffer_of, bytes_of
from zarr_bridge.specs import PROTOTYPE
from zarr_bridge.store_reader import RangeReader, Readers
from zarr_bridge.store_secrets import check_no_credentials

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator
    from typing import Self

    from zarr_core.extension import Buffer, Buffers, ByteRange, ByteReader, Change

    # Defined here, because ``list`` is a method within the class.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]

__all__ = ["ZarrPythonStore"]

REQUESTS = 32
_SMALL_VALUE = 1 << 18  # bytes; smaller values are read as a whole


class ZarrPythonStore(Store):
    """Keys and values in a store of zarr-python, or below a path in it.

    Parameters
    ----------
    store : zarr.abc.store.Store
        The wrapped store.
    path : str
        Path in the store below which the keys are.
    read_only : bool
        Whether changes raise an error, even if the store permits them.
    max_concurrency : int
        Largest number of concurrent requests.

    Notes
    -----
    ``close`` does not close the store of zarr-python.  ``update`` excludes other threads of this
    process that use this object, but not other processes: zarr-python has no locks.
    """

    def __init__(
        self,
        store: TheirStore,
        path: str = "",
        read_only: bool = False,
        max_concurrency: int = REQUESTS,
    ) -> None:
        self.store = store
        """The store of zarr-python."""
        self._prefix = check_prefix(f"{path.strip('/')}/" if path.strip("/") else "")
        self._read_only = read_only
        self.read_only = read_only or store.read_only
        self.supports_listing = store.supports_listing
        self.traits = self.traits._replace(
            supports_erasing=store.supports_deletes,
            supports_consolidated_metadata=store.supports_consolidated_metadata,  # not of Icechunk
        )
        self.max_concurrency = None if isinstance(store, TheirMemoryStore) else max_concurrency
        self._readers = Readers()

    @classmethod
    def from_object(cls, place: Any, *, read_only: bool = False, **options: Any) -> Store | None:
        """Return a store for a store, store path, group or array of zarr-python.

        A local directory becomes a :class:`LocalStore`, which replaces files atomically.
        """
        place = getattr(place, "store_path", place)  # of a group or an array
        path = getattr(place, "path", "")
        store = place if isinstance(place, TheirStore) else getattr(place, "store", None)
        if not isinstance(store, TheirStore):
            return None
        if store is place or not isinstance(path, str):
            path = ""
        if type(store) is TheirLocalStore:
            return LocalStore(store.root / path, read_only=read_only or store.read_only)
        if type(store).__module__.partition(".")[0] == "icechunk":
            from zarr_bridge.icechunk import IcechunkStore  # circular import

            return IcechunkStore(store, path, read_only)
        return cls(store, path, read_only)

    @property
    def url(self) -> str:
        return f"zarr-python://{type(self.store).__qualname__}/{id(self.store):#x}/{self._prefix}"

    # --- readable ---

    def get(self, key: str, part: RangeByteRequest | None = None) -> Buffer | None:
        name = self._name(key)
        buffer = self._call(key, lambda: self.store.get(name, PROTOTYPE, part))
        return None if buffer is None else bytes_of(buffer).toreadonly()

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        try:
            value = self.get(key, RangeByteRequest(0, limit + 1))
        except StoreError as error:  # not every store has ranges beyond the end of a value
            if isinstance(error.__cause__, OSError):
                raise
            return super().get_limited(key, limit)
        if value is None or len(value) <= limit:
            return value
        reads = self.max_concurrency and type(self.store).getsize is TheirStore.getsize
        return max(len(value), 0 if reads else self.getsize(key) or 0)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        asked = list(key_ranges)
        sizes = {key: self.getsize(key) for key in dict.fromkeys(key for key, _ in asked)}
        wanted = [
            None if (size := sizes[key]) is None else (key, *part.within(size))
            for key, part in asked
        ]
        got = iter(self.get_ranges([one for one in wanted if one is not None]))
        return [None if one is None else next(got) for one in wanted]

    def get_ranges(self, ranges: list[tuple[str, int, int]]) -> Values:
        """Return byte ranges of values, read concurrently."""

        async def one(key: str, start: int, stop: int) -> Any:
            part = RangeByteRequest(start, stop)
            return await self.store.get(self._name(key), PROTOTYPE, part)

        async def work() -> list[Any]:
            wanted = [part for part in ranges if part[1] < part[2]]
            return await concurrent_map(wanted, one, self.max_concurrency or 1)

        got = iter((self._call(ranges[0][0], work) if ranges else None) or ())
        values: Values = []
        for _, start, stop in ranges:
            buffer = next(got, None) if start < stop else buffer_of(b"")
            values.append(None if buffer is None else bytes_of(buffer))
        return values

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        size = self.getsize(key)
        if size is None:
            return None
        if size > _SMALL_VALUE and self.max_concurrency is not None:
            reader = RangeReader(self, self.get_ranges, key, size)
            self._readers.add(key, reader)
            return reader
        value = self.get(key)
        return None if value is None else BufferByteReader(value)

    def exists(self, key: str) -> bool:
        name = self._name(key)
        return bool(self._call(key, lambda: self._exists(name)))

    def getsize(self, key: str) -> int | None:
        name = self._name(key)
        if type(self.store).getsize is TheirStore.getsize:  # it would read the value
            return super().getsize(key)

        async def work() -> int | None:
            # getsize of some stores does not report a missing key.
            return await self.store.getsize(name) if await self._exists(name) else None

        try:
            size: int | None = self._call(key, work)
        except StoreCapabilityError:
            return super().getsize(key)
        return size

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        name = self._name(key)
        self._require_writable(key)
        data = to_bytes(value)
        with self._readers.invalidating(key):
            self._call(key, lambda: self.store.set(name, buffer_of(data)), StoreError)

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding other threads that use this object."""
        self._name(key)
        self._require_writable(key)
        with key_lock(self.url, key):
            self._update_unlocked(key, change)

    def erase(self, key: str) -> None:
        name = self._name(key)
        self._require_writable(key)
        # The local store of zarr-python would remove a directory of that name.
        if not self.exists(key):
            return
        if not self.traits.supports_erasing:
            raise StoreCapabilityError("the store does not support erasing", self, key)
        with self._readers.invalidating(key):
            self._call(key, lambda: self.store.delete(name), StoreError)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        try:
            found = self._collect(prefix, lambda: self.store.list_prefix(self._prefix + prefix))
        except StoreCapabilityError:
            keys, prefixes = self.list_dir(prefix)
            return chain(keys, *map(self.list_prefix, prefixes))
        cut = len(self._prefix)
        return (
            name[cut:]
            for name in found
            if name.startswith(self._prefix + prefix) and _is_key(name[cut:])
        )

    def list_dir(self, prefix: str) -> Listing:
        """List keys and prefixes directly below a prefix.

        Stores of zarr-python do not tell keys from prefixes, so the existence of each is checked.
        """
        check_prefix(prefix)
        names = self._collect(prefix, lambda: self.store.list_dir(self._prefix + prefix))
        # Some stores list a name twice, or prefixes with a trailing slash.
        below = dict.fromkeys(prefix + name.rstrip("/") for name in names)

        async def look(key: str) -> tuple[str, bool, bool]:
            name = self._prefix + key
            try:
                is_key = await self._exists(name)
            except Exception as error:  # a store may raise anything
                if not self._is_missing(error):
                    raise
                is_key = False
            return key, is_key, not is_key or not await self._is_empty(f"{name}/")

        async def work() -> list[tuple[str, bool, bool]]:
            asked = [(key,) for key in below if _is_key(key)]
            return await concurrent_map(asked, look, self.max_concurrency or 1)

        kinds = self._call(prefix, work)
        keys = [key for key, is_key, _ in kinds if is_key]
        return keys, [f"{key}/" for key, _, is_prefix in kinds if is_prefix]

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZarrPythonStore):
            return NotImplemented
        if self._prefix != other._prefix or type(self.store) is not type(other.store):
            return False
        if isinstance(self.store, TheirMemoryStore):  # its __eq__ compares values
            return vars(self.store)["_store_dict"] is vars(other.store)["_store_dict"]
        return bool(self.store == other.store)

    def __hash__(self) -> int:
        return hash((type(self.store), self._prefix))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self  # copies refer to the same location

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        if isinstance(self.store, TheirMemoryStore) and not self.read_only:
            raise StoreError(
                "cannot be pickled, because changes by another process would be lost; open it "
                "read-only or use another store",
                store=self,
            )
        check_no_credentials(self.store, self)
        max_concurrency = self.max_concurrency or REQUESTS
        return type(self), (
            self.store,
            self._prefix,
            self._read_only or self.read_only,
            max_concurrency,
        )

    # --- helpers ---

    def _name(self, key: str) -> str:
        return self._prefix + check_key(key)

    def _require_writable(self, key: str) -> None:
        if self.read_only or self.store.read_only:
            raise StoreReadOnlyError("the store is read-only", store=self, key=key)

    def _call(
        self,
        key: str,
        work: Callable[[], Coroutine[Any, Any, Any]],
        kind: type[StoreError] = StoreReadError,
    ) -> Any:
        """Return the result of a method of the store; errors contain the store and the key."""
        try:
            return sync(work())
        except ZarrError:
            raise
        except Exception as error:  # a store may raise anything
            if kind is StoreReadError and self._is_missing(error):
                return None
            if isinstance(error, UnicodeError):
                raise StoreKeyError(
                    f"the store does not support the key: {error}", self, ascii(key)
                ) from error
            if isinstance(error, NotImplementedError):
                raise StoreCapabilityError(
                    f"the store does not implement it: {error}", self, key
                ) from error
            verb = "read from" if kind is StoreReadError else "change"
            text = f"cannot {verb} the store: {type(error).__name__}: {error}"
            raise kind(text, store=self, key=key) from error

    async def _exists(self, name: str) -> bool:
        try:
            return await self.store.exists(name)
        except NotImplementedError:  # zarr-python reads arrays and groups without it
            try:
                return await self.store.get(name, PROTOTYPE) is not None
            except (LookupError, ValueError):  # it is not a key
                return False

    async def _is_empty(self, prefix: str) -> bool:
        try:
            return await self.store.is_empty(prefix)
        except NotImplementedError:
            return True

    def _is_missing(self, error: Exception) -> bool:
        """Return whether an error means that the key is missing."""
        return False

    def _collect(self, prefix: str, listing: Callable[[], Any]) -> list[str]:
        async def work() -> list[str]:
            found = listing()
            if iscoroutine(found):  # in some stores
                found = await found
            return [name async for name in found]

        names: list[str] = self._call(prefix, work)
        return names


def _is_key(name: str) -> bool:
    try:
        return bool(check_key(name))
    except StoreKeyError:
        return False
