"""A store in a DBM database: gnu, ndbm, dumb, sqlite3 or Berkeley DB.

Name:           dbm
URL:            dbm:///absolute/path, or the path of a file that ends in .dbm

The locks are not those of ``filelock``, because readers share the lock of a database.
"""

from __future__ import annotations

import importlib
import os
import threading
from contextlib import contextmanager, nullcontext, suppress
from dbm import whichdb
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakValueDictionary

from zarr_core.extension import StoreError, encode_key
from zarr_core.stores.local_files import file_lock
from zarr_core.threads import call_after_fork

from zarr_stores._after_fork import register_after_fork
from zarr_stores.databases.database_store import INVALID_NAMES, DatabaseStore, path_exists
from zarr_stores.databases.dbm_sqlite import SQLiteTable, is_sqlite_file
from zarr_stores.remedies import required

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
except ImportError:  # a platform without file locks
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    Opener: TypeAlias = Callable[[str, str], Any]

__all__ = ["DBMStore"]

_BACKENDS = ("gnu", "ndbm", "dumb", "sqlite3", "berkeley")
_SUFFIXES = ("", ".dat", ".dir", ".pag", ".db")
_LOCKED = ("", ".dat", ".pag", ".db")  # the first that exists is locked
_SQLITE = "dbm.sqlite3"
_CLOSED_AFTER_USE = ("dbm.ndbm", "_dbm")  # these backends write to disk only when closed
_BERKELEY_MAGIC = {0x00053162: "btopen", 0x00061561: "hashopen"}


class DBMStore(DatabaseStore):
    """A store in a DBM database, with the layout of zarr-python 2.

    Parameters
    ----------
    path : str or os.PathLike
        Path of the database; most backends append a suffix.
    read_only : bool
        If True, changes raise an error and no file is created.
    backend : str or callable, optional
        ``"dumb"`` or ``"sqlite3"`` (the default of Python 3.13); ``"gnu"`` or ``"ndbm"``, if
        Python was built with it; ``"berkeley"``, a B-tree of Berkeley DB, if the package
        ``berkeleydb`` is installed; or a function that opens a database, called with path and
        flag (``"r"`` or ``"c"``), such as ``berkeleydb.hashopen``.  By default the backend of
        the existing database, and for a new database the default of ``dbm.open``.

    Notes
    -----
    The threads of a process take turns, and with ``sqlite3`` those of all processes.  With the
    other backends, several processes can read the database; a process can only write if no other
    process has it open, otherwise an error is raised.  Except for ``gnu``, which has its own
    locks, this requires file locks, which Windows does not have.  The database is synchronized to
    disk after each change.  If a process is killed during a change, the changed value may be
    damaged, most likely in a ``dumb`` database, which is also slow for many keys.  If the disk is
    full, a change may damage other keys of a Berkeley DB tree.  A value is read as a whole.
    Use :class:`zarr_stores.databases.sqlite.SQLiteStore` for new data.
    """

    scheme = "dbm"
    options = frozenset({"backend"})

    def __init__(
        self,
        path: str | os.PathLike[str],
        read_only: bool = False,
        backend: str | Opener | None = None,
    ) -> None:
        super().__init__(path, read_only)
        if isinstance(backend, str) and backend not in _BACKENDS:
            raise StoreError(f"backend must be one of {', '.join(_BACKENDS)}", store=self)
        self._backend = backend
        self._database = _shared(self.path)

    # --- operations ---

    def _get(self, key: str) -> bytes | None:
        with self._reading() as database:
            name = key.encode()
            # Not by KeyError, which is a failure of some backends as well.
            return bytes(database[name]) if database is not None and name in database else None

    def _set(self, values: Sequence[tuple[str, bytes]]) -> None:
        with self._writing() as database:
            for key, value in values:
                if not value and type(database).__module__ == "_dbm":
                    raise StoreError("ndbm does not support empty values", self, key)
                database[key.encode()] = value

    def _erase(self, keys: Sequence[str]) -> None:
        with self._reading() as database:
            if database is None:
                return
        with self._writing() as database:
            for name in map(str.encode, keys):
                if name in database:
                    del database[name]

    def _swap(self, key: str, expected: bytes | None, new: bytes | None) -> bool:
        name = key.encode()
        # All other databases are locked while they are open for writing.
        with (
            self._writing() as database,
            database.transaction() if isinstance(database, SQLiteTable) else nullcontext(),
        ):
            if (bytes(database[name]) if name in database else None) != expected:
                return False
            if new is None:
                del database[name]
            else:
                database[name] = new
            return True

    def _list(self, prefix: str) -> list[str]:
        with self._reading() as database:
            names = () if database is None else list(database.keys())
        found = (it if isinstance(it, str) else it.decode(errors=INVALID_NAMES) for it in names)
        return [name for name in found if name.startswith(prefix)]

    def _failures(self) -> tuple[type[BaseException], ...]:
        return (Exception,)  # the errors of the backends have no common base class

    def _failure(
        self, error: BaseException, key: str, kind: type[StoreError], done: str
    ) -> StoreError:
        encode_key(key)
        self._database.forget()
        return super()._failure(error, key, kind, done)

    # --- lifetime ---

    def close(self) -> None:
        """Close the database.  It is reopened at its next use."""
        try:
            self._database.close()
        except Exception as error:
            raise StoreError(f"cannot be closed: {error}", self) from error

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        self.close()  # some backends cannot be opened by two processes
        return type(self), (self.path, self.read_only, self._backend)

    # --- the database ---

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """Lock the database for this thread; None if it does not exist."""
        with self._database.lock:
            yield self._opened()
            self._end_use()

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        """Exclude other writers, create the database if necessary, and synchronize it to disk."""
        with self._database.lock, self._creation_lock():
            database = self._opened(create=True)
            yield database
            if not self._end_use() and hasattr(database, "sync"):
                database.sync()

    def _creation_lock(self) -> AbstractContextManager[None]:
        """Exclude other writers, also those that create the database, which has no file to lock.

        A directory that is not writable takes neither a new database nor a lock file.
        """
        path = os.path.realpath(self.path)
        directory = os.path.dirname(path)
        fixed = os.path.isdir(directory) and not os.access(directory, os.W_OK)
        return nullcontext() if fixed else file_lock(path)

    def _end_use(self) -> bool:
        """Close the database if its backend requires it; return whether it was closed."""
        is_closed = type(self._database.opened).__module__ in _CLOSED_AFTER_USE
        if is_closed:
            self._database.close()
        return is_closed

    def _opened(self, *, create: bool = False) -> Any:
        """Return the open database, with the lock held; None if it does not exist."""
        shared = self._database
        if shared.opened is None or (create and not shared.writable):
            shared.close()
            try:
                self._lock(create)
                shared.opened = self._open(create)
                # For a new file.  Not for SQLite: closing any descriptor of its file gives up
                # the locks of the process (fcntl), and another process deletes the log of writes.
                if shared.descriptor is None and not isinstance(shared.opened, SQLiteTable):
                    self._lock(create)
            except BaseException:
                shared.forget()
                raise
            shared.writable = create
        return shared.opened

    def _lock(self, create: bool) -> None:
        """Lock a file of the database, for this process only if it writes.

        This is done first: some backends read everything when they open a database, and write it
        when they close it.
        """
        found = filter(os.path.isfile, (self.path + suffix for suffix in _LOCKED))
        path = next(found, None)
        if not HAVE_LOCKS or path is None or self._locks_itself():
            return
        descriptor = os.open(path, os.O_RDONLY)
        try:
            flock(descriptor, (LOCK_EX if create else LOCK_SH) | LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            what = "is open in" if create else "is being written by"
            reason = f"the database {what} another process; close it there first"
            raise StoreError(reason, self) from None
        except OSError:  # a file system without locks
            os.close(descriptor)
            return
        self._database.descriptor = descriptor

    def _locks_itself(self) -> bool:
        """Whether the backend of the existing database excludes other processes."""
        if whichdb(self.path) == "dbm.gnu":
            return True
        return not callable(self._backend) and is_sqlite_file(self.path)

    def _open(self, create: bool) -> Any:
        flag = "c" if create else "r"
        for suffix in _SUFFIXES:
            path_exists(f"{self.path}{suffix}")  # refuses what is not a file
        if create:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
        found = whichdb(self.path)
        if found is None and not create:
            _refuse_hidden(self.path)
            return None
        if callable(self._backend):
            return self._backend(self.path, flag)
        berkeley = _berkeley(self.path) if found in ("", "dbhash") else None
        if berkeley is not None or (found is None and self._backend == "berkeley"):
            with required("berkeleydb", "berkeleydb", self):
                module = importlib.import_module("berkeleydb")
            return getattr(module, berkeley or "btopen")(self.path, flag)
        name = found or (f"dbm.{self._backend}" if self._backend else "dbm")
        if is_sqlite_file(self.path) or name == _SQLITE:
            return SQLiteTable(self.path, flag)
        if found == "":
            raise StoreError(
                "the file is not a DBM database, or its backend is not supported by this Python",
                self,
            )
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            raise StoreError(f"this Python was built without {name}", self) from error
        opened = module.open(self.path, flag)
        if type(opened).__module__ != _SQLITE:
            return opened
        opened.close()  # other threads cannot use it
        return SQLiteTable(self.path, flag)


def _refuse_hidden(path: str) -> None:
    """Raise OSError if files of the database exist but cannot be read."""
    for suffix in _SUFFIXES:
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            open(f"{path}{suffix}", "rb").close()


def _berkeley(path: str) -> str | None:
    """Return the function that opens a Berkeley DB file; None for other files."""
    with open(path, "rb") as file:
        start = file.read(16)
    for order in ("little", "big"):
        if kind := _BERKELEY_MAGIC.get(int.from_bytes(start[12:], order)):
            return kind
    return None


class _Database:
    """An open database, shared by all stores of this process with the same path."""

    def __init__(self) -> None:
        self.opened: Any = None
        self.writable = False
        self.descriptor: int | None = None
        self.lock = threading.RLock()
        register_after_fork(self, _Database._reinitialize)

    def _reinitialize(self) -> None:
        _inherited.append(self.opened)  # closing it could write data of the parent
        self.opened = None
        self._unlock()  # closes a copy of the descriptor; the parent keeps its lock
        self.lock = threading.RLock()

    def _unlock(self) -> None:
        descriptor, self.descriptor = self.descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def close(self) -> None:
        with self.lock:
            opened, self.opened = self.opened, None
            try:
                if opened is not None:
                    opened.close()
            finally:
                self._unlock()

    def forget(self) -> None:
        """Close the database after a failure: its memory may differ from the file."""
        with suppress(Exception):
            self.close()

    def __del__(self) -> None:
        self.close()


_databases: WeakValueDictionary[str, _Database] = WeakValueDictionary()
_inherited: list[Any] = []
_guard = threading.Lock()


def _shared(path: str) -> _Database:
    real = os.path.realpath(path)
    with _guard:
        database = _databases.get(real)
        if database is None:
            database = _databases[real] = _Database()
        return database


def _after_fork() -> None:
    global _guard
    _guard = threading.Lock()  # another thread may have held it


call_after_fork(_after_fork)
