"""Stores of zarr-python as stores here.

Names:          the modules that such stores, or places in them, are from
URL:            none: the object itself is given to ``open``
"""

from __future__ import annotations

from inspect import iscoroutine
from typing import TYPE_CHECKING, Any

from zarr.abc.store import RangeByteRequest
from zarr.abc.store import Store as TheirStore
from zarr.core.common import concurrent_map
from zarr.core.sync import sync
from zarr.storage import LocalStore as TheirLocalStore
from zarr.storage import MemoryStore as TheirMemoryStore
from zarr_core.extension import (
    BufferReader,
    LocalStore,
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

from zarr_bridge.calls import buffer_of, bytes_of
from zarr_bridge.specs import PROTOTYPE
from zarr_bridge.store_reader import Readers
from zarr_bridge.store_secrets import check_to_pickle

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator
    from typing import Self

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces, ValueReader

    # Named here, because within the class ``list`` is the operation of that name.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]

__all__ = ["ZarrPythonStore"]

REQUESTS = 32
_WHOLE = 1 << 18  # bytes: smaller values are read at once rather than in parts


class ZarrPythonStore(Store):
    """Keys and values in a store of zarr-python, or below a path in it.

    Parameters
    ----------
    store : zarr.abc.store.Store
        The store.
    path : str
        Where in it the keys begin.
    read_only : bool
        Refuse changes, also if the store would take them.
    requests : int
        How many requests to keep in flight.

    Notes
    -----
    A store that its user made is not closed by ``close``.  ``update`` excludes other threads of
    this process that use this object; stores of zarr-python cannot do more.
    """

    def __init__(
        self, store: TheirStore, path: str = "", read_only: bool = False, requests: int = REQUESTS
    ) -> None:
        self.store = store
        """The store of zarr-python."""
        self._prefix = check_prefix(f"{path.strip('/')}/" if path.strip("/") else "")
        self._refuses = read_only
        self.read_only = read_only or store.read_only
        self.supports_listing = store.supports_listing
        self.supports_erasing = store.supports_deletes
        self.requests = None if isinstance(store, TheirMemoryStore) else requests
        self._readers = Readers()

    @classmethod
    def is_for(cls, path: str) -> bool:
        """No: the names of this store are modules."""
        return False

    @classmethod
    def from_object(cls, place: Any, *, read_only: bool = False) -> Store | None:
        """Make a store of a store, of a place in one, of a group or array of zarr-python.

        Notes
        -----
        A local directory becomes a :class:`LocalStore`, which replaces files at once, under locks.
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
            from zarr_bridge.icechunk import IcechunkStore  # noqa: PLC0415 - derived from this one

            return IcechunkStore(store, path, read_only)
        return cls(store, path, read_only)

    @property
    def url(self) -> str:
        return f"zarr-python://{type(self.store).__qualname__}/{id(self.store):#x}/{self._prefix}"

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        name = self._name(key)
        buffer = self._call(key, lambda: self.store.get(name, PROTOTYPE))
        return None if buffer is None else bytes_of(buffer).toreadonly()

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
        """Ranges of values, many at the same time.

        Parameters
        ----------
        ranges : list of (str, int, int)
            The key, the first byte, the one behind the last.

        Returns
        -------
        list of buffers
            None where the key is missing.
        """

        async def one(key: str, start: int, stop: int) -> Any:
            part = RangeByteRequest(start, stop)
            return await self.store.get(self._name(key), PROTOTYPE, part)

        async def work() -> list[Any]:
            wanted = [part for part in ranges if part[1] < part[2]]
            return await concurrent_map(wanted, one, self.requests or 1)

        got = iter((self._call(ranges[0][0], work) if ranges else None) or ())
        values: Values = []
        for _, start, stop in ranges:
            buffer = next(got, None) if start < stop else buffer_of(b"")
            values.append(None if buffer is None else bytes_of(buffer))
        return values

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        size = self.getsize(key)
        if size is None:
            return None
        if size > _WHOLE and self.requests is not None:
            return self._readers.open(self, key, size)
        value = self.get(key)
        return None if value is None else BufferReader(value)

    def exists(self, key: str) -> bool:
        name = self._name(key)
        return bool(self._call(key, lambda: self.store.exists(name)))

    def getsize(self, key: str) -> int | None:
        name = self._name(key)
        if type(self.store).getsize is TheirStore.getsize:  # which would read the value
            return super().getsize(key)

        async def work() -> int | None:
            # Of a key that is missing, not every store says so when it is asked for the size.
            return await self.store.getsize(name) if await self.store.exists(name) else None

        size: int | None = self._call(key, work)
        return size

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        name = self._name(key)
        self._require_writable(key)
        data = joined(value)
        with self._readers.changing(key):
            self._call(key, lambda: self.store.set(name, buffer_of(data)), StoreError)

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding other threads that use this object."""
        self._name(key)
        self._require_writable(key)
        with key_lock(self.url, key):
            self._change(key, change)

    def erase(self, key: str) -> None:
        name = self._name(key)
        self._require_writable(key)
        # zarr-python's local store would remove a directory of that name, with all in it.
        if not self.exists(key):
            return
        if not self.supports_erasing:
            raise StoreCapabilityError("nothing can be erased from this store", self, key)
        with self._readers.changing(key):
            self._call(key, lambda: self.store.delete(name), StoreError)

    def erase_prefix(self, prefix: str) -> None:
        check_prefix(prefix)
        self._require_writable(prefix)
        super().erase_prefix(prefix)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        found = self._collect(prefix, lambda: self.store.list_prefix(self._prefix + prefix))
        cut = len(self._prefix)
        return (
            name[cut:]
            for name in found
            if name.startswith(self._prefix + prefix) and _is_key(name[cut:])
        )

    def list_dir(self, prefix: str) -> Listing:
        """Keys and prefixes directly below a prefix.

        Notes
        -----
        zarr-python's stores do not say which of the names are keys: each is asked for.
        """
        check_prefix(prefix)
        names = self._collect(prefix, lambda: self.store.list_dir(self._prefix + prefix))
        # Some stores give a name twice, some with a slash behind that of a prefix.
        below = dict.fromkeys(prefix + name.rstrip("/") for name in names)

        async def look(key: str) -> tuple[str, bool, bool]:
            name = self._prefix + key
            try:
                is_key = await self.store.exists(name)
            except Exception as error:  # of any store
                if not self._is_missing(error):
                    raise
                is_key = False
            return key, is_key, not is_key or not await self.store.is_empty(f"{name}/")

        async def work() -> list[tuple[str, bool, bool]]:
            asked = [(key,) for key in below if _is_key(key)]
            return await concurrent_map(asked, look, self.requests or 1)

        kinds = self._call(prefix, work)
        keys = [key for key, is_key, _ in kinds if is_key]
        return keys, [f"{key}/" for key, _, is_prefix in kinds if is_prefix]

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZarrPythonStore):
            return NotImplemented
        if self._prefix != other._prefix or type(self.store) is not type(other.store):
            return False
        if isinstance(self.store, TheirMemoryStore):  # which are equal if their values are
            return vars(self.store)["_store_dict"] is vars(other.store)["_store_dict"]
        return bool(self.store == other.store)

    def __hash__(self) -> int:
        return hash((type(self.store), self._prefix))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}{', read_only=True' if self.read_only else ''})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self  # a store is a place

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        if isinstance(self.store, TheirMemoryStore) and not self.read_only:
            raise StoreError(
                "cannot be pickled: another process would write into a copy, and its work would "
                "be lost",
                store=self,
            )
        check_to_pickle(self.store, self)
        requests = self.requests or REQUESTS
        return type(self), (self.store, self._prefix, self._refuses or self.read_only, requests)

    # --- helpers ---

    def _name(self, key: str) -> str:
        return self._prefix + check_key(key)

    def _require_writable(self, key: str) -> None:
        if self.read_only or self.store.read_only:
            raise StoreReadOnlyError("the store is open for reading only", store=self, key=key)

    def _call(
        self,
        key: str,
        work: Callable[[], Coroutine[Any, Any, Any]],
        kind: type[StoreError] = StoreReadError,
    ) -> Any:
        """What a method of the store gives, waited for; failures name store and key."""
        try:
            return sync(work())
        except ZarrError:
            raise
        except Exception as error:  # of any store
            if kind is StoreReadError and self._is_missing(error):
                return None
            if isinstance(error, UnicodeError):
                raise StoreKeyError(
                    f"the store has no such keys: {error}", self, ascii(key)
                ) from error
            done = "read" if kind is StoreReadError else "changed"
            text = f"cannot be {done}: {type(error).__name__}: {error}"
            raise kind(text, store=self, key=key) from error

    def _is_missing(self, error: Exception) -> bool:
        """Whether an error says that there is no such key."""
        return False

    def _collect(self, prefix: str, listing: Callable[[], Any]) -> list[str]:
        async def work() -> list[str]:
            found = listing()
            if iscoroutine(found):  # as it is in some stores
                found = await found
            return [name async for name in found]

        names: list[str] = self._call(prefix, work)
        return names


def joined(value: Pieces) -> bytes:
    """A value in one piece that nobody else can change."""
    if isinstance(value, bytes):
        return value
    return bytes(value) if isinstance(value, bytearray | memoryview) else b"".join(value)


def _is_key(name: str) -> bool:
    try:
        return bool(check_key(name))
    except StoreKeyError:
        return False
