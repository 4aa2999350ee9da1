"""A pool of connections to an SQLite file.

``sqlite3`` has none; those of other libraries do not survive a fork.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zarr_stores._after_fork import register_after_fork
from zarr_stores.databases.database_store import INVALID_NAMES, path_exists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_stores.databases.sqlite_reader import BlobReader

# Objects inherited by a fork: neither used nor closed, because closing them would
# release locks of the parent.
_inherited: list[object] = []

_TIMEOUT = 60.0
_FORK_TIMEOUT = 2.0  # seconds that a fork waits for other threads

_pools: weakref.WeakValueDictionary[int, Connections] = weakref.WeakValueDictionary()
_opening = threading.Lock()
"""Held while a connection is opened, and while this process forks."""


class Connections:
    """A pool of connections to one file; each is used by one thread at a time.

    The pool contains cursors, because creating one takes a seventh of a small read.
    """

    def __init__(self, path: str, read_only: bool, fsync: bool) -> None:
        self._path = path
        self._read_only = read_only
        self._fsync = fsync
        self._has_log: bool | None = None
        self.idle: list[sqlite3.Cursor] = []
        """Idle cursors; a thread returns its cursor after the end of its transaction."""
        self.writing = threading.Lock()
        """Held while writing: SQLite allows one writer, and makes others sleep and poll."""
        self.readers: dict[int, weakref.ref[BlobReader]] = {}
        """Open readers, each with its own connection."""
        self._cursors: list[weakref.ref[sqlite3.Cursor]] = []
        self._suspended: list[sqlite3.Cursor] = []
        register_after_fork(self, Connections._reinitialize)
        _pools[id(self)] = self

    def _reinitialize(self) -> None:
        _inherited.extend([*self.idle, *self._suspended])
        self.idle, self._suspended, self._cursors = [], [], []
        self.writing = threading.Lock()

    def take(self, *, create: bool = False) -> sqlite3.Cursor | None:
        """Return a cursor; None if the table does not exist and ``create`` is False."""
        try:
            return self.idle.pop()
        except IndexError:
            with _opening:
                connection = self._connect(create=create)
                if connection is None:
                    return None
                cursor = connection.cursor()
                self._cursors = [
                    *(reference for reference in self._cursors if reference() is not None),
                    weakref.ref(cursor),
                ]
                return cursor

    @contextmanager
    def cursor(self, *, create: bool = False) -> Iterator[sqlite3.Cursor | None]:
        """Provide a cursor as :meth:`take`; after an error, closing it rolls back."""
        cursor = self.take(create=create)
        try:
            yield cursor
        except BaseException:
            if cursor is not None:
                cursor.connection.close()
            raise
        if cursor is not None:
            self.idle.append(cursor)

    def suspend(self) -> None:
        """Remove the idle cursors from the pool until :meth:`resume` is called."""
        with suppress(IndexError):
            while True:
                self._suspended.append(self.idle.pop())

    def resume(self) -> None:
        """Return the cursors removed by :meth:`suspend` to the pool."""
        while self._suspended:
            self.idle.append(self._suspended.pop())

    def is_busy(self) -> bool:
        """Return whether a thread is using the database."""
        readers = [one for item in tuple(self.readers.values()) if (one := item()) is not None]
        self._cursors = [item for item in self._cursors if item() is not None]
        lent = [item for made in self._cursors if (item := made()) is not None and _is_open(item)]
        kept = sum(
            item in lent
            for item in [*self.idle, *self._suspended, *(item.cursor for item in readers)]
        )
        return len(lent) > kept or any(item.reads for item in readers)

    def close(self) -> None:
        """Close the idle connections; closing the last one merges the log into the file."""
        self._has_log = None
        while self.idle:
            cursor = self.idle.pop()
            cursor.connection.close()

    def has_log(self, cursor: sqlite3.Cursor) -> bool:
        """Return whether the file has a write-ahead log, so that readers do not block writers."""
        if self._has_log is None:  # the mode cannot change while a connection is open
            (mode,) = cursor.execute("PRAGMA journal_mode").fetchone()
            self._has_log = mode == "wal"
        return self._has_log

    @staticmethod
    def keep_inherited(*used: object) -> None:
        """Keep inherited objects that the parent process still uses."""
        _inherited.extend(used)

    def _connect(self, *, create: bool) -> sqlite3.Connection | None:
        if create:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
        elif not path_exists(self._path):
            return None
        mode = "ro" if self._read_only else "rwc" if create else "rw"
        if not create and self._cannot_change():
            mode = "ro&immutable=1"  # a log cannot be created, and there are no writers
        connection = sqlite3.connect(
            f"file:{quote(self._path)}?mode={mode}",
            timeout=_TIMEOUT,
            isolation_level=None,  # no implicit transactions
            check_same_thread=False,
            uri=True,
        )
        try:
            if self._prepare(connection, create):
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
        return None

    def _prepare(self, connection: sqlite3.Connection, create: bool) -> bool:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute(f"PRAGMA synchronous={'FULL' if self._fsync else 'NORMAL'}")
        if create:
            _write_ahead(connection)
            connection.execute("CREATE TABLE IF NOT EXISTS zarr(k TEXT PRIMARY KEY, v BLOB)")
        return is_plain_table(connection, "zarr")

    def _cannot_change(self) -> bool:
        directory = os.path.dirname(self._path)
        return not os.access(directory, os.W_OK) and not os.path.exists(f"{self._path}-wal")


def is_plain_table(connection: sqlite3.Connection, name: str) -> bool:
    """Return whether a table exists."""
    row = connection.execute(
        "SELECT type, sql FROM sqlite_master WHERE name = ? AND type IN ('table', 'view')", (name,)
    ).fetchone()
    if row is None:
        return False
    kind, statement = row
    code = (
        connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'trigger'").fetchone()
        or connection.execute(f"SELECT 1 FROM pragma_table_xinfo('{name}') WHERE hidden").fetchone()
        or connection.execute(f"SELECT 1 FROM pragma_index_list('{name}') AS indexes, "
            "pragma_index_xinfo(indexes.name) AS columns WHERE columns.cid = -2 OR indexes.partial"
        ).fetchone()
    )  # fmt: skip
    if code or kind != "table" or not str(statement).upper().startswith("CREATE TABLE"):
        raise sqlite3.DatabaseError(
            f"the table {name!r} is a view or a virtual table, or has triggers, generated columns or "
            "indexes of expressions, which can execute code and use any amount of memory; if you "
            "trust the file, copy the columns to a plain table"
        )
    return True


def _is_open(cursor: sqlite3.Cursor) -> bool:
    try:
        return cursor.connection.total_changes >= 0
    except sqlite3.ProgrammingError:
        return False


def _all() -> list[Connections]:
    """Return all live pools; other threads may create more meanwhile."""
    return [pool_ for pool in _pools.valuerefs() if (pool_ := pool()) is not None]


def _before_fork() -> None:
    # The child process would inherit internal locks of SQLite held by other threads.
    _opening.acquire()
    pools = _all()
    until = time.monotonic() + _FORK_TIMEOUT
    while True:
        for pool in pools:
            pool.suspend()
        if not any(pool.is_busy() for pool in pools) or time.monotonic() > until:
            return
        time.sleep(1e-5)  # lets other threads finish their operations


def _after_fork_in_parent() -> None:
    for pool in _all():
        pool.resume()
    _opening.release()


def _after_fork() -> None:
    global _opening
    _opening = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork
    )


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Enable the write-ahead log, so that readers and writers do not block each other."""
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            # On network file systems SQLite keeps the old mode without an error.
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as error:
            # The busy timeout of SQLite does not apply to this lock.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def read_texts(cursor: sqlite3.Cursor, statement: str, arguments: Any) -> list[str]:
    """Return the first column of a query as text; NULL, from damaged files, is ignored."""
    try:
        rows = cursor.execute(statement, arguments).fetchall()
    except sqlite3.OperationalError as error:
        if hasattr(error, "sqlite_errorcode"):
            raise  # from SQLite; errors that Python raises have no code
        # Another program stored text that is not UTF-8: decode it to invalid keys.
        cursor.connection.text_factory = lambda data: data.decode(errors=INVALID_NAMES)
        try:
            rows = cursor.execute(statement, arguments).fetchall()
        finally:
            cursor.connection.text_factory = str
    return [text for (text,) in rows if text is not None]
