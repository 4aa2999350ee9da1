"""A store in an LMDB environment.

Name:           lmdb
URL:            lmdb:///absolute/path, or the path of a file that ends in .lmdb or .mdb
Library:        lmdb
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.extension import (
    BufferByteReader,
    ByteReader,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreTraits,
    check_key,
    encode_key,
)

from zarr_stores.databases.database_store import INVALID_NAMES, DatabaseStore, SortedStore
from zarr_stores.databases.lmdb_environment import (
    MappedReader,
    close_before_fork,
    is_environment,
    open_shared,
)
from zarr_stores.remedies import required

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, ByteRange, Store

__all__ = ["LMDBStore"]

T = TypeVar("T")

_KEY_LIMIT = 511

_COPIED = 1 << 14  # bytes: smaller values are copied, larger ones are read from the memory map


class LMDBStore(SortedStore, DatabaseStore):
    """A store in an LMDB environment, with the layout of zarr-python 2.

    Parameters
    ----------
    path : str or os.PathLike
        Path of a directory, or of a file if ``subdir`` is False.
    read_only : bool
        If True, changes raise an error and no file is created.
    fsync : bool
        Whether ``set`` returns only after the change is on disk.  Without it, writing is
        faster, but a power failure may damage the whole database.
    subdir : bool, optional
        Whether a new environment is a directory; by default it is, unless its name ends in
        ``.mdb``.  Ignored if the environment exists.
    map_size : int
        Maximum size of the environment in bytes.  It reserves address space, not memory or
        disk space.

    Notes
    -----
    Threads and processes can read and write concurrently, on a local disk.  Keys have at
    most 511 bytes.  Requires the package ``lmdb``.
    """

    scheme = "lmdb"
    traits = StoreTraits(batch_nbytes=1 << 22)
    options = frozenset({"fsync", "subdir", "map_size"})

    def __init__(
        self,
        path: str | os.PathLike[str],
        read_only: bool = False,
        fsync: bool = True,
        subdir: bool | None = None,
        map_size: int = 1 << 40,
    ) -> None:
        super().__init__(path, read_only)
        self._fsync = fsync
        self._subdir = subdir
        self._map_size = map_size
        self._environment: Any = None
        close_before_fork(self)

    @classmethod
    def from_object(cls, location: Any, *, read_only: bool = False, **options: Any) -> Store | None:
        """Create a store from the path of a file, or of an LMDB environment."""
        if not isinstance(location, str) or (
            os.path.isdir(location) and not is_environment(location)
        ):
            return None
        return cls.from_url(location, read_only=read_only, **options)

    # --- readable ---

    def get(self, key: str) -> bytes | None:
        return self._view(key, bytes)

    _get = get

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        return self._view(key, lambda value: len(value) if len(value) > limit else bytes(value))

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        self._check(key)

        def work() -> ByteReader | None:
            environment = self._open(create=False)
            if environment is None:
                return None
            transaction = environment.begin(buffers=True)
            value = transaction.get(key.encode())
            if value is not None and len(value) > _COPIED:
                return MappedReader(self, key, transaction, value)
            try:
                return None if value is None else BufferByteReader(bytes(value))
            finally:
                transaction.abort()

        return self.request(key, StoreReadError, "read", work)

    def getsize(self, key: str) -> int | None:
        return self._view(key, len)

    def _view(self, key: str, work: Callable[[memoryview], T]) -> T | None:
        """Return the result of a function of a value in the memory map; None if it is missing."""
        check_key(key)
        environment = self._environment or self._open(create=False)
        if environment is None:
            self._check(key)
            return None
        try:
            transaction = environment.begin(buffers=True)
            try:
                value = transaction.get(key.encode())
                return None if value is None else work(value)
            finally:
                transaction.abort()
        except self._failures() as error:
            raise self._failure(error, key, StoreReadError, "read") from error

    # --- writeable ---

    def _set(self, values: Sequence[tuple[str, bytes]]) -> None:
        with self._open(create=True).begin(write=True) as transaction:
            for key, value in values:
                transaction.put(key.encode(), value)

    def _erase(self, keys: Sequence[str]) -> None:
        with self._transaction(write=True) as transaction:
            for key in keys if transaction is not None else ():
                transaction.delete(key.encode())

    def _erase_below(self, prefix: str) -> None:
        first = encode_key(prefix)
        with self._transaction(write=True) as transaction:
            if transaction is None:
                return
            with transaction.cursor() as cursor:
                exists = cursor.set_range(first) if first else cursor.first()
                while exists and bytes(cursor.key()).startswith(first):
                    exists = cursor.delete()  # moves on to the next

    def _swap(self, key: str, expected: bytes | None, new: bytes | None) -> bool:
        name = key.encode()
        with self._open(create=True).begin(write=True) as transaction:
            if transaction.get(name) != expected:
                return False
            if new is None:
                transaction.delete(name)
            else:
                transaction.put(name, new)
            return True

    # --- listable ---

    def _list(self, prefix: str) -> list[str]:
        first = encode_key(prefix)
        keys: list[bytes] = []
        with self._transaction() as transaction:
            if transaction is None:
                return []
            with transaction.cursor() as cursor:
                if cursor.set_range(first) if first else cursor.first():
                    for key in cursor.iternext(values=False):
                        if not key.startswith(first):
                            break
                        keys.append(key)
        return [key.decode(errors=INVALID_NAMES) for key in keys]

    def _children(self, prefix: str) -> list[str]:
        first = encode_key(prefix)
        names: list[str] = []
        with self._transaction() as transaction:
            if transaction is None:
                return names
            with transaction.cursor() as cursor:
                exists = cursor.set_range(first) if first else cursor.first()
                while exists and (key := cursor.key()).startswith(first):
                    head, slash, _ = key[len(first) :].partition(b"/")
                    names.append(prefix + (head + slash).decode(errors=INVALID_NAMES))
                    # "0" follows "/": skips all deeper keys
                    exists = cursor.set_range(first + head + b"0") if slash else cursor.next()
        return names

    # --- lifetime ---

    def flush(self) -> None:
        """Write changes to the disk; only ``fsync=False`` leaves them to the operating system."""
        environment = self._environment
        if environment is not None and not (self._fsync or self.read_only):
            self.request("", StoreError, "written to the disk", lambda: environment.sync(True))

    def close(self) -> None:
        """Close the environment.  It is reopened at its next use."""
        self._environment = None

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.path, self.read_only, self._fsync, self._subdir, self._map_size)

    # --- the environment ---

    def _check(self, key: str) -> None:
        if len(encode_key(check_key(key))) > _KEY_LIMIT:
            raise self._too_long(key)

    def _too_long(self, key: str) -> StoreKeyError:
        reason = f"the key is too long: LMDB supports at most {_KEY_LIMIT} bytes"
        return StoreKeyError(reason, self, f"{key[:40]}...")

    def _failures(self) -> tuple[type[BaseException], ...]:
        import lmdb  # optional dependency

        return lmdb.Error, OSError, MemoryError, UnicodeEncodeError

    def _failure(
        self, error: BaseException, key: str, kind: type[StoreError], done: str
    ) -> StoreError:
        import lmdb  # optional dependency

        encode_key(key)
        if isinstance(error, lmdb.BadValsizeError):
            return self._too_long(key)
        reason = str(error)
        if isinstance(error, lmdb.MapFullError):
            reason = "the environment is full; open it with a larger map_size"
        return kind(f"cannot be {done}: {reason}", self, key)

    @contextmanager
    def _transaction(self, **options: Any) -> Iterator[Any]:
        """Begin a transaction of an existing environment; None if it does not exist."""
        environment = self._open(create=False)
        if environment is None:
            yield None
            return
        with environment.begin(**options) as transaction:
            yield transaction

    def _open(self, *, create: bool) -> Any:
        environment = self._environment
        if environment is None:
            with required("lmdb", "lmdb", self):
                import lmdb  # noqa: F401 - lazy: an extra, wanted by few

            def work() -> Any:
                return open_shared(
                    self.path,
                    create=create,
                    subdir=self._subdir,
                    map_size=self._map_size,
                    fsync=self._fsync,
                )

            environment = self._environment = self.request("", StoreError, "opened", work)
        return environment  # remains open even if another thread closes the store
