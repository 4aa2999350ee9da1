"""A store in a DBM database: gnu, ndbm, dumb, sqlite3, or of another library such as Berkeley DB.

Name:           dbm
URL:            dbm:///absolute/path, or the path of a file that ends in .dbm
"""

from __future__ import annotations

import importlib
import os
from contextlib import ExitStack, closing, contextmanager
from dbm import whichdb
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreError, key_lock
from zarr_core.stores.local_files import file_lock

from zarr_stores.databases.database_store import INVALID_NAMES, DatabaseStore, path_exists
from zarr_stores.databases.dbm_sqlite import SQLiteTable, is_sqlite_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

__all__ = ["DBMStore"]

_BACKENDS = ("gnu", "ndbm", "dumb", "sqlite3")
_SUFFIXES = ("", ".dat", ".dir", ".pag", ".db")


class DBMStore(DatabaseStore):
    """A store in a DBM database, with the layout of zarr-python 2.

    Parameters
    ----------
    path : str or os.PathLike
        Path of the database; most backends append a suffix.
    read_only : bool
        If True, changes raise an error and no file is created.
    backend : {"sqlite3", "dumb", "gnu", "ndbm"} or callable
        The backend of a new database; of an existing one it is detected.  Python must have been built
        with ``"gnu"`` or ``"ndbm"``.  Or a function that opens every database, called with path and
        flag (``"r"``, ``"w"`` or ``"c"``), such as ``berkeleydb.btopen``.

    Notes
    -----
    Each operation opens the database, and excludes those of other threads and processes; in a
    directory that is not writable, only of other threads.  This requires file locks.  The database
    is synchronized to disk after each change.  If a process is killed during a change, the changed
    value may be damaged, most likely in a ``dumb`` database, which is also slow for many keys.
    A value is read as a whole.
    Use :class:`zarr_stores.databases.sqlite.SQLiteStore` for new data.
    """

    scheme = "dbm"
    options = frozenset({"backend"})

    def __init__(
        self,
        path: str | os.PathLike[str],
        read_only: bool = False,
        backend: str | Callable[[str, str], Any] = "sqlite3",
    ) -> None:
        super().__init__(path, read_only)
        if not (callable(backend) or backend in _BACKENDS):
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
        when they close it.  The lock file is beside the database, which may be created now, and
        consists of several files.
        """
        path = os.path.realpath(self.path)
        directory = os.path.dirname(path)
        with ExitStack() as stack:
            # Closing any descriptor of an SQLite file gives up the locks of the whole process (fcntl).
            stack.enter_context(key_lock(path, ""))
            if os.access(directory, os.W_OK) or (flag == "c" and not os.path.isdir(directory)):
                stack.enter_context(file_lock(path))
            database = self._open(flag)
            if database is None:
                yield None
                return
            with closing(database):
                yield database
                if flag != "r" and hasattr(database, "sync"):
                    database.sync()

    def _open(self, flag: str) -> Any:
        for path in (f"{self.path}{suffix}" for suffix in _SUFFIXES):
            if path_exists(path) and not os.path.isdir(path):  # raises an error for a pipe
                open(path, "rb").close()  # ``whichdb`` ignores that a file cannot be read
        name = whichdb(self.path)
        if name == "" and not os.path.getsize(self.path):
            name = None  # a process was killed before it wrote anything
        elif name == "" and is_sqlite_file(self.path):
            name = "dbm.sqlite3"  # not known before Python 3.13
        if name is None:
            if flag != "c":
                return None
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            name = f"dbm.{self._backend}"
        if callable(self._backend):
            return self._backend(self.path, flag)
        if name == "dbm.sqlite3":
            return SQLiteTable(self.path, flag)
        reason = "the file is not a DBM database, or its backend is not supported by this Python"
        if not name:
            raise StoreError(reason, self)
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            raise StoreError(reason, self) from error
        # The lock of gnu fails instead of waiting.
        return module.open(self.path, f"{flag}u" if name == "dbm.gnu" else flag)
