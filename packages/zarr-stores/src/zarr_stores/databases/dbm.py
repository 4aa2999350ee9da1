"""A store in a DBM database: gnu, ndbm, dumb, sqlite3 or Berkeley DB.

Name:           dbm
URL:            dbm:///absolute/path, or the path of a file that ends in .dbm

The locks are not those of ``filelock``, because readers share the lock of a database.
"""

from __future__ import annotations

import importlib
import os
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dbm import whichdb
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_core.extension import StoreError, key_lock
from zarr_core.stores.local_files import DirectoryTree

from zarr_stores.databases.database_store import INVALID_NAMES, DatabaseStore, path_exists
from zarr_stores.databases.dbm_sqlite import SQLiteTable, is_sqlite_file
from zarr_stores.remedies import required

try:
    from fcntl import LOCK_EX, LOCK_SH, LOCK_UN, flock
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
        ``"sqlite3"`` or ``"dumb"``; ``"gnu"`` or ``"ndbm"``, if Python was built with it;
        ``"berkeley"``, a B-tree of Berkeley DB, if the package ``berkeleydb`` is installed; or a
        function that opens a database, called with path and flag (``"r"``, ``"w"`` or ``"c"``),
        such as ``berkeleydb.hashopen``.  By default the backend of the existing database, and
        for a new database ``"sqlite3"``.

    Notes
    -----
    Each operation opens the database, and excludes writers in other threads and processes; this
    requires file locks.  The database is synchronized to disk after each change.  If a process is
    killed during a change, the changed value may be damaged, most likely in a ``dumb`` database,
    which is also slow for many keys.  If the disk is full, a change may damage other keys of a
    Berkeley DB tree.  A value is read as a whole.
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

    # --- operations ---

    def _get(self, key: str) -> bytes | None:
        with self._opened("r") as database:
            name = key.encode()
            # Not by KeyError, which is a failure of some backends as well.
            return bytes(database[name]) if database is not None and name in database else None

    def _set(self, values: Sequence[tuple[str, bytes]]) -> None:
        with self._opened("c") as database:
            for key, value in values:
                if not value and type(database).__module__ == "_dbm":
                    raise StoreError("ndbm does not support empty values", self, key)
                database[key.encode()] = value

    def _erase(self, keys: Sequence[str]) -> None:
        with self._opened("w") as database:
            for name in map(str.encode, keys if database is not None else ()):
                if name in database:
                    del database[name]

    def _swap(self, key: str, expected: bytes | None, new: bytes | None) -> bool:
        name = key.encode()
        with self._opened("c") as database:
            if (bytes(database[name]) if name in database else None) != expected:
                return False
            if new is None:
                del database[name]
            else:
                database[name] = new
            return True

    def _list(self, prefix: str) -> list[str]:
        with self._opened("r") as database:
            names = () if database is None else list(database.keys())
        keys = (
            item if isinstance(item, str) else item.decode(errors=INVALID_NAMES) for item in names
        )
        return [name for name in keys if name.startswith(prefix)]

    def _failures(self) -> tuple[type[BaseException], ...]:
        return (Exception,)  # the errors of the backends have no common base class

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.path, self.read_only, self._backend)

    # --- the database ---

    @contextmanager
    def _opened(self, flag: str) -> Iterator[Any]:
        """Open the database for one operation; None if it does not exist and is not created.

        It is locked first: some backends read everything when they open a database, and write it
        when they close it.  Threads take turns: closing any descriptor of an SQLite file gives up
        the locks of the whole process (fcntl).
        """
        writes = flag != "r"
        with ExitStack() as stack:
            stack.enter_context(key_lock(str(self._identity()), ""))
            if writes:
                stack.enter_context(self._creation_lock(flag))
            is_locked = self._lock(stack, writes)
            # What another process creates now is not locked, and is not read.
            database = self._open(flag) if is_locked or flag == "c" else None
            if database is None:
                yield None
                return
            with closing(database):
                if not (is_locked or isinstance(database, SQLiteTable)):
                    self._lock(stack, writes)  # a new file
                yield database
                if writes and hasattr(database, "sync"):
                    database.sync()

    def _creation_lock(self, flag: str) -> AbstractContextManager[None]:
        """Exclude other writers, also those that create the database, which has no file to lock.

        A directory that is not writable takes neither a new database nor a lock file.
        """
        path = os.path.realpath(self.path)
        directory = os.path.dirname(path)
        is_created = flag == "c" and not os.path.isdir(directory)
        lock = DirectoryTree(directory).lock(os.path.basename(path))
        return lock if is_created or os.access(directory, os.W_OK) else nullcontext()

    def _lock(self, stack: ExitStack, writes: bool) -> bool:
        """Lock a file of the database until the end of a block; return whether it exists."""
        for path in (f"{self.path}{suffix}" for suffix in _SUFFIXES):
            if path_exists(path) and not os.path.isdir(path):  # raises an error for a pipe
                open(path, "rb").close()  # ``whichdb`` ignores that a file cannot be read
        locked = next(filter(os.path.isfile, (self.path + suffix for suffix in _LOCKED)), None)
        if locked is None or not HAVE_LOCKS or is_sqlite_file(locked):
            return locked is not None
        file = stack.enter_context(os.fdopen(os.open(locked, os.O_RDONLY), "rb"))
        with suppress(OSError):  # a file system without locks
            flock(file, LOCK_EX if writes else LOCK_SH)
            stack.callback(flock, file, LOCK_UN)  # a forked child may have a copy of the descriptor
        return True

    def _open(self, flag: str) -> Any:
        flavour = whichdb(self.path)
        if flavour == "" and not os.path.getsize(self.path):
            flavour = None  # another process creates it, or was killed before it wrote anything
        if flavour is None and flag != "c":
            return None
        if flag == "c":
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
        if callable(self._backend):
            return self._backend(self.path, flag)
        berkeley = _berkeley(self.path) if flavour in ("", "dbhash") else None
        if berkeley is not None or (flavour is None and self._backend == "berkeley"):
            with required("berkeleydb", "berkeleydb", self):
                module = importlib.import_module("berkeleydb")
            return getattr(module, berkeley or "btopen")(self.path, flag)
        if flavour == "" and not is_sqlite_file(self.path):
            raise StoreError(
                "the file is not a DBM database, or its backend is not supported by this Python",
                self,
            )
        name = flavour or f"dbm.{self._backend or 'sqlite3'}"
        if name == "dbm.sqlite3" or is_sqlite_file(self.path):
            return SQLiteTable(self.path, flag)
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            raise StoreError(f"this Python was built without {name}", self) from error
        # The lock of gnu fails instead of waiting.
        return module.open(self.path, f"{flag}u" if name == "dbm.gnu" else flag)


def _berkeley(path: str) -> str | None:
    """Return the function that opens a Berkeley DB file; None for other files."""
    with open(path, "rb") as file:
        start = file.read(16)
    for order in ("little", "big"):
        if kind := _BERKELEY_MAGIC.get(int.from_bytes(start[12:], order)):
            return kind
    return None
