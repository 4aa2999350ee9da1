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
    check_prefix,
)
from zarr_core.tools import only_keys

from zarr_stores._database import INVALID_NAMES, DatabaseStore, encode_key, is_key, to_bytes
from zarr_stores.lmdb_environment import (
    MappedReader,
    close_before_fork,
    is_environment,
    open_shared,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Self

    from zarr_core.extension import Buffer, Buffers, ByteRange, Change, Store

__all__ = ["LMDBStore"]

T = TypeVar("T")

_KEY_LIMIT = 511

_COPIED = 1 << 14  # bytes: smaller values are copied, larger ones are read from the memory map


class LMDBStore(DatabaseStore):
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
    def from_object(cls, place: Any, *, read_only: bool = False, **options: Any) -> Store | None:
        """Create a store from the path of a file, or of an LMDB environment."""
        if not isinstance(place, str) or (os.path.isdir(place) and not is_environment(place)):
            return None
        return cls.from_url(place, read_only=read_only, **options)

    # --- readable ---

    def get(self, key: str) -> bytes | None:
        check_key(key)
        environment = self._environment or self._open(create=False)
        if environment is None:
            self._name(key)
            return None
        try:
            transaction = environment.begin()
            try:
                value: bytes | None = transaction.get(key.encode())
                return value
            finally:
                transaction.abort()
        except _failures() as error:
            raise self._error(error, key, StoreReadError, "read") from error

    _get = get

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        check_key(key)
        environment = self._environment or self._open(create=False)
        if environment is None:
            self._name(key)
            return None
        try:
            transaction = environment.begin(buffers=True)
            try:
                value = transaction.get(key.encode())
                if value is None:
                    return None
                size = len(value)
                if size > limit:
                    return size
                if out is None:
                    return bytes(value)
                out[:size] = value
                return out[:size]
            finally:
                transaction.abort()
        except _failures() as error:
            raise self._error(error, key, StoreReadError, "read") from error

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Return parts of values in the given order, all from one snapshot."""
        wanted = list(key_ranges)
        environment = self._environment or self._open(create=False)
        if environment is None:
            for key, _ in wanted:
                self._name(key)
            return [None] * len(wanted)
        key = ""
        parts: list[Buffer | None] = []
        try:
            transaction = environment.begin(buffers=True)
            try:
                get = transaction.get
                for key, (start, length) in wanted:
                    value = get(check_key(key).encode())
                    if value is None:
                        parts.append(None)
                        continue
                    if start < 0:
                        start = max(0, len(value) + start)
                    parts.append(bytes(value[start : None if length is None else start + length]))
            finally:
                transaction.abort()
        except _failures() as error:
            raise self._error(error, key, StoreReadError, "read") from error
        return parts

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        check_key(key)
        environment = self._environment or self._open(create=False)
        if environment is None:
            self._name(key)
            return None
        try:
            transaction = environment.begin(buffers=True)
            kept = False
            try:
                value = transaction.get(key.encode())
                if value is None:
                    return None
                if len(value) <= _COPIED:
                    return BufferByteReader(bytes(value))
                kept = True
                return MappedReader(self, key, transaction, value)
            finally:
                if not kept:
                    transaction.abort()
        except _failures() as error:
            raise self._error(error, key, StoreReadError, "read") from error

    def getsize(self, key: str) -> int | None:
        return self._look(key, len)

    def _look(self, key: str, work: Callable[[memoryview], T]) -> T | None:
        """Return the result of a function of a value in the memory map; None if it is missing."""
        check_key(key)
        environment = self._environment or self._open(create=False)
        if environment is None:
            self._name(key)
            return None
        try:
            transaction = environment.begin(buffers=True)
            try:
                value = transaction.get(key.encode())
                return None if value is None else work(value)
            finally:
                transaction.abort()
        except _failures() as error:
            raise self._error(error, key, StoreReadError, "read") from error

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        check_key(key)
        if self.read_only:
            self._require_writable(key)
        data = value if type(value) is bytes else to_bytes(value)
        environment = self._environment or self._open(create=True)
        try:
            with environment.begin(write=True) as transaction:
                transaction.put(key.encode(), data)
        except _failures() as error:
            raise self._error(error, key, StoreError, "written") from error

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        """Store several values in one transaction: all, or after an error none of them."""
        items = list(values)
        for key, _ in items:
            self._check_writable(key)
        if items:
            with self._writing(items[0][0]) as transaction:
                for key, value in items:
                    transaction.put(encode_key(key), to_bytes(value))

    def erase(self, key: str) -> None:
        check_key(key)
        if self.read_only:
            self._require_writable(key)
        environment = self._environment or self._open(create=False)
        if environment is None:
            self._name(key)
            return
        try:
            with environment.begin(write=True) as transaction:
                transaction.delete(key.encode())
        except _failures() as error:
            raise self._error(error, key, StoreError, "written") from error

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys in one transaction."""
        names = list(keys)
        for key in names:
            self._check_writable(key)
        if names and self._open(create=False) is not None:
            with self._writing(names[0]) as transaction:
                for key in names:
                    transaction.delete(encode_key(key))

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix in one transaction."""
        self._check_prefix_writable(prefix)
        if self._open(create=False) is None:
            return
        first = encode_key(prefix)
        with self._writing(prefix) as transaction, transaction.cursor() as cursor:
            found = cursor.set_range(first) if first else cursor.first()
            while found and bytes(cursor.key()).startswith(first):
                found = cursor.delete()  # moves on to the next

    def _swap(self, key: str, old: bytes | None, new: bytes | None) -> bool:
        name = encode_key(key)
        with self._writing(key) as transaction:
            if transaction.get(name) != old:
                return False
            if new is None:
                transaction.delete(name)
            else:
                transaction.put(name, new)
            return True

    def _update_locked(self, key: str, change: Change) -> None:
        name = encode_key(key)
        with self._writing(key) as transaction:
            old = transaction.get(name)
            value = change(None if old is None else BufferByteReader(old))
            if value is None:
                transaction.delete(name)
            elif not isinstance(value, ByteReader):
                transaction.put(name, to_bytes(value))

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        first = encode_key(prefix)
        keys: list[bytes] = []
        with self._reading(prefix) as transaction:
            if transaction is None:
                return iter(())
            with transaction.cursor() as cursor:
                if cursor.set_range(first) if first else cursor.first():
                    for key in cursor.iternext(values=False):
                        if not key.startswith(first):
                            break
                        keys.append(key)
        return iter(only_keys([key.decode(errors=INVALID_NAMES) for key in keys]))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        check_prefix(prefix)
        first = encode_key(prefix)
        keys: list[str] = []
        prefixes: list[str] = []
        with self._reading(prefix) as transaction:
            if transaction is None:
                return keys, prefixes
            with transaction.cursor() as cursor:
                found = cursor.set_range(first) if first else cursor.first()
                while found and (key := cursor.key()).startswith(first):
                    head, slash, _ = key[len(first) :].partition(b"/")
                    name = prefix + head.decode(errors=INVALID_NAMES)
                    if is_key(name):
                        (prefixes if slash else keys).append(name + slash.decode())
                    # "0" follows "/": skips all deeper keys
                    found = cursor.set_range(first + head + b"0") if slash else cursor.next()
        return keys, prefixes

    # --- lifetime ---

    def flush(self) -> None:
        """Write changes to the disk; only ``fsync=False`` leaves them to the operating system."""
        environment = self._environment
        if environment is not None and not (self._fsync or self.read_only):
            with self._wrap_errors("", StoreError, "written to the disk"):
                environment.sync(True)

    def close(self) -> None:
        """Close the environment.  It is reopened at its next use."""
        self._environment = None

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.path, self.read_only, self._fsync, self._subdir, self._map_size)

    # --- the environment ---

    def _name(self, key: str) -> bytes:
        """Return the name of a key in the environment."""
        check_key(key)
        name = encode_key(key)
        if len(name) > _KEY_LIMIT:
            raise self._too_long(key)
        return name

    def _too_long(self, key: str) -> StoreKeyError:
        reason = f"the key is too long: LMDB supports at most {_KEY_LIMIT} bytes"
        return StoreKeyError(reason, self, f"{key[:40]}...")

    def _check(self, key: str) -> None:
        self._name(key)

    @contextmanager
    def _reading(self, key: str) -> Iterator[Any]:
        environment = self._open(create=False)
        if environment is None:
            yield None
            return
        with self._wrap_errors(key, StoreReadError, "read"), environment.begin() as it:
            yield it

    @contextmanager
    def _writing(self, key: str) -> Iterator[Any]:
        environment = self._open(create=True)
        with self._wrap_errors(key, StoreError, "written"), environment.begin(write=True) as it:
            yield it

    @contextmanager
    def _wrap_errors(self, key: str, kind: type[StoreError], done: str) -> Iterator[None]:
        """Add store and key to errors of the database."""
        try:
            import lmdb  # noqa: F401 - lazy: an extra, wanted by few
        except ImportError as error:
            reason = "the package lmdb is not installed: pip install 'zarr-stores[lmdb]'"
            raise StoreError(reason, self) from error
        try:
            yield
        except _failures() as error:
            raise self._error(error, key, kind, done) from error

    def _error(self, error: Exception, key: str, kind: type[StoreError], done: str) -> StoreError:
        import lmdb  # optional dependency

        encode_key(key)
        if isinstance(error, lmdb.BadValsizeError):
            return self._too_long(key)
        reason = str(error)
        if isinstance(error, lmdb.MapFullError):
            reason = "the environment is full; open it with a larger map_size"
        return kind(f"cannot be {done}: {reason}", self, key)

    def _open(self, *, create: bool) -> Any:
        environment = self._environment
        if environment is None:
            with self._wrap_errors("", StoreError, "opened"):
                environment = self._environment = open_shared(
                    self.path,
                    create=create,
                    subdir=self._subdir,
                    map_size=self._map_size,
                    fsync=self._fsync,
                )
        return environment  # remains open even if another thread closes the store


def _failures() -> tuple[type[Exception], ...]:
    """Return the exceptions of the database; evaluated only when one is raised."""
    import lmdb  # optional dependency

    return lmdb.Error, OSError, MemoryError, UnicodeEncodeError
