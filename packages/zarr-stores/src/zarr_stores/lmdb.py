"""A store in an LMDB environment.

Name:           lmdb
URL:            lmdb:///absolute/path, or the path of a file that ends in .lmdb or .mdb
Library:        lmdb
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from zarr_core.extension import (
    BufferReader,
    StoreError,
    StoreKeyError,
    StoreReadError,
    ValueReader,
    check_prefix,
)

from zarr_stores._database import DatabaseStore, encoded, is_key, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces

__all__ = ["LMDBStore"]

_KEY_LIMIT = 511
_FILE_SUFFIXES = (".lmdb", ".mdb")

# A process opens each environment once, or the locks of LMDB fail.
_environments: WeakValueDictionary[str, Any] = WeakValueDictionary()
_guard = threading.Lock()


class LMDBStore(DatabaseStore):
    """Keys and values in an LMDB environment, as zarr-python 2 has them.

    Parameters
    ----------
    path : str or os.PathLike
        A directory, or one file if ``subdir`` is False.
    read_only : bool
        Refuse changes, and create nothing.
    fsync : bool
        Have every change on the disk before ``set`` returns.  Without it writing is
        faster, but a power failure may damage the whole database.
    subdir : bool, optional
        Whether a new environment is a directory; if not given, it is one unless
        its name ends in ``.lmdb`` or ``.mdb``.  What is there already is used as
        it is.
    map_size : int
        The most that the environment can grow to, in bytes; address space, not
        memory or disk.

    Notes
    -----
    Any number of threads and processes may read and write at the same time, on a
    local disk.  Keys have at most 511 bytes.  Requires the package ``lmdb``.
    """

    scheme = "lmdb"
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
        self._process = os.getpid()

    # --- readable ---

    def _get(self, key: str) -> bytes | None:
        # In one piece, as this is what nearly always happens.
        environment = self._open(create=False)
        if environment is None:
            return None
        try:
            with environment.begin() as transaction:
                value: bytes | None = transaction.get(key.encode())
                return value
        except _failures() as error:
            raise _told(error, self, key, StoreReadError, "read") from error

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        self._check(key)
        with self._reading(key) as transaction:
            value = transaction and transaction.get(encoded(key))
            if value is None:
                return None
            count = min(len(value), len(buffer))
            buffer[:count] = value[:count]
            return len(value)

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Parts of values, in the order asked for, all of the same moment."""
        wanted = list(key_ranges)
        for key, _ in wanted:
            self._check(key)
        if not wanted:
            return []
        parts: list[Buffer | None] = []
        with self._reading(wanted[0][0]) as transaction:
            for key, (start, length) in wanted:
                value = transaction and transaction.get(encoded(key))
                if value is None:
                    parts.append(None)
                    continue
                size = len(value)
                first = min(size, max(0, size + start) if start < 0 else start)
                last = size if length is None else min(size, first + length)
                parts.append(bytes(value[first:last]))
        return parts

    def exists(self, key: str) -> bool:
        return self.getsize(key) is not None

    def getsize(self, key: str) -> int | None:
        self._check(key)
        with self._reading(key) as transaction:
            value = transaction and transaction.get(encoded(key))
            return None if value is None else len(value)

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self._check_to_change(key)
        data = joined(value)
        with self._writing(key) as transaction:
            transaction.put(encoded(key), data)

    def erase(self, key: str) -> None:
        self.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys in one transaction."""
        names = list(keys)
        for key in names:
            self._check_to_change(key)
        if names and self._open(create=False) is not None:
            with self._writing(names[0]) as transaction:
                for key in names:
                    transaction.delete(encoded(key))

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix in one transaction."""
        self._check_prefix_to_change(prefix)
        if self._open(create=False) is None:
            return
        first = encoded(prefix)
        with self._writing(prefix) as transaction, transaction.cursor() as cursor:
            found = cursor.set_range(first) if first else cursor.first()
            while found and bytes(cursor.key()).startswith(first):
                found = cursor.delete()  # moves on to the next

    def _swap(self, key: str, old: bytes | None, new: bytes | None) -> bool:
        name = encoded(key)
        with self._writing(key) as transaction:
            if transaction.get(name) != old:
                return False
            if new is None:
                transaction.delete(name)
            else:
                transaction.put(name, new)
            return True

    def _change_alone(self, key: str, change: Change) -> None:
        name = encoded(key)
        with self._writing(key) as transaction:
            old = transaction.get(name)
            value = change(None if old is None else BufferReader(old))
            if value is None:
                transaction.delete(name)
            elif not isinstance(value, ValueReader):
                transaction.put(name, joined(value))

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        first = encoded(prefix)
        keys: list[bytes] = []
        with self._reading(prefix, buffers=False) as transaction:
            if transaction is None:
                return iter(())
            with transaction.cursor() as cursor:
                if cursor.set_range(first) if first else cursor.first():
                    for key in cursor.iternext(values=False):
                        if not key.startswith(first):
                            break
                        keys.append(key)
        return filter(is_key, (key.decode(errors="replace") for key in keys))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        check_prefix(prefix)
        first = encoded(prefix)
        keys: list[str] = []
        prefixes: list[str] = []
        with self._reading(prefix, buffers=False) as transaction:
            if transaction is None:
                return keys, prefixes
            with transaction.cursor() as cursor:
                found = cursor.set_range(first) if first else cursor.first()
                while found and (key := cursor.key()).startswith(first):
                    head, slash, _ = key[len(first) :].partition(b"/")
                    name = prefix + head.decode(errors="replace")
                    if is_key(name):
                        (prefixes if slash else keys).append(name + slash.decode())
                    # "0" follows "/": over all that lies deeper
                    found = cursor.set_range(first + head + b"0") if slash else cursor.next()
        return keys, prefixes

    # --- lifetime ---

    def close(self) -> None:
        """Let go of the environment; what is used again afterwards is opened again."""
        self._environment = None

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.path, self.read_only, self._fsync, self._subdir, self._map_size)

    # --- the environment ---

    def _check(self, key: str) -> None:
        super()._check(key)
        if len(key) > _KEY_LIMIT or len(encoded(key)) > _KEY_LIMIT:
            raise StoreKeyError(
                f"too long: LMDB has keys of at most {_KEY_LIMIT} bytes", self, f"{key[:40]}..."
            )

    @contextmanager
    def _reading(self, key: str, *, buffers: bool = True) -> Iterator[Any]:
        environment = self._open(create=False)
        if environment is None:
            yield None
            return
        with _naming(self, key, StoreReadError, "read"), environment.begin(buffers=buffers) as it:
            yield it

    @contextmanager
    def _writing(self, key: str) -> Iterator[Any]:
        environment = self._open(create=True)
        with _naming(self, key, StoreError, "written"), environment.begin(write=True) as it:
            yield it

    def _open(self, *, create: bool) -> Any:
        environment = self._environment
        if environment is not None and self._process == os.getpid():
            return environment
        if not create and not os.path.exists(self.path):
            return None
        real = os.path.realpath(self.path)
        with _guard, _naming(self, "", StoreError, "opened"):
            environment = _environments.get(real)
            if environment is None:
                environment = self._open_new(real, create)
                if environment is not None:
                    _environments[real] = environment
        self._environment, self._process = environment, os.getpid()
        return environment

    def _open_new(self, path: str, create: bool) -> Any:
        import lmdb  # noqa: PLC0415 - lazy: an extra, wanted by few

        subdir = self._subdir
        if os.path.exists(path):
            subdir = os.path.isdir(path)
        elif subdir is None:
            subdir = not path.endswith(_FILE_SUFFIXES)
        data = os.path.join(path, "data.mdb") if subdir else path
        if not create and not os.path.exists(data):
            return None
        if create:
            os.makedirs(path if subdir else os.path.dirname(path), exist_ok=True)
        # One object serves readers and writers of this process.
        writable = create or os.access(data, os.W_OK)
        environment = lmdb.open(
            path,
            map_size=self._map_size,
            subdir=subdir,
            readonly=not writable,
            create=create,
            sync=self._fsync,
            metasync=self._fsync,
            lock=writable or os.access(os.path.dirname(data), os.W_OK),
            max_readers=1024,
            # A child that closes what it inherited gives up the places of kept
            # transactions in the table that it shares with its parent: keep none.
            max_spare_txns=0,
        )
        environment.reader_check()  # places that killed readers held
        return environment


@contextmanager
def _naming(store: LMDBStore, key: str, kind: type[StoreError], done: str) -> Iterator[None]:
    """Add store and key to what goes wrong in the database."""
    try:
        import lmdb  # noqa: F401, PLC0415 - lazy: an extra, wanted by few
    except ImportError as error:
        raise StoreError("needs lmdb: pip install zarr-stores[lmdb]", store) from error
    try:
        yield
    except _failures() as error:
        raise _told(error, store, key, kind, done) from error


def _failures() -> tuple[type[Exception], ...]:
    """What can go wrong in the database; looked at only when something did."""
    import lmdb  # noqa: PLC0415 - lazy: an extra, wanted by few

    return lmdb.Error, OSError, MemoryError


def _told(
    error: Exception, store: LMDBStore, key: str, kind: type[StoreError], done: str
) -> StoreError:
    import lmdb  # noqa: PLC0415 - lazy: an extra, wanted by few

    if isinstance(error, lmdb.MapFullError):
        reason = "the environment is full; open it with a larger map_size"
    else:
        reason = str(error)
    return kind(f"cannot be {done}: {reason}", store, key)


def _after_fork() -> None:
    # What was inherited must not be used, and nothing else can be opened beside it.
    global _guard
    _guard = threading.Lock()
    for environment in list(_environments.values()):
        environment.close()
    _environments.clear()


os.register_at_fork(after_in_child=_after_fork)
