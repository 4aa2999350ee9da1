"""Connections to an SQLite file, and a reader of its large values.

``sqlite3`` has none; those of other libraries do not survive a fork.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from zarr_core.extension import ByteReader, StoreReadError

from zarr_stores.databases.database_store import INVALID_NAMES, path_exists

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.extension import Store

_TIMEOUT = 60.0
_FORK_TIMEOUT = 2.0  # seconds that a fork waits for other threads

_inherited: list[sqlite3.Cursor] = []
"""Connections of the parent process: neither used nor closed."""

_pools: weakref.WeakSet[Connections] = weakref.WeakSet()
_opening = threading.RLock()
"""Held while a pool or a connection is created, and while this process forks."""


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
        self._open: set[sqlite3.Cursor] = set()
        """All cursors, also those that threads and readers use."""
        self._readers: dict[sqlite3.Cursor, threading.RLock] = {}
        """Cursors of open readers, each with a lock that is held while it is used."""
        self._held: dict[sqlite3.Cursor, threading.RLock] = {}
        with _opening:
            _pools.add(self)

    def take(self, *, create: bool = False) -> sqlite3.Cursor | None:
        """Return a cursor; None if the table does not exist and ``create`` is False."""
        with suppress(IndexError):
            return self.idle.pop()
        with _opening:
            connection = self._connect(create=create)
            if connection is None:
                return None
            cursor = connection.cursor()
            self._open.add(cursor)
            return cursor

    def discard(self, cursor: sqlite3.Cursor) -> None:
        """Close a connection, which rolls a transaction back."""
        cursor.connection.close()
        self._open.discard(cursor)

    @contextmanager
    def cursor(self, *, create: bool = False) -> Iterator[sqlite3.Cursor | None]:
        """Provide a cursor as :meth:`take`; an error closes the connection."""
        cursor = self.take(create=create)
        if cursor is None:
            yield None
            return
        try:
            yield cursor
        except BaseException:
            self.discard(cursor)
            raise
        self.idle.append(cursor)

    def begin_reading(self, cursor: sqlite3.Cursor) -> threading.RLock:
        """Leave a cursor to an open reader; return the lock for its use.

        The lock can be entered again: a reader may be deleted while this process forks.
        """
        lock = self._readers[cursor] = threading.RLock()
        return lock

    def end_reading(self, cursor: sqlite3.Cursor) -> None:
        """Return the cursor of a reader to the pool, after the end of its transaction."""
        del self._readers[cursor]
        self.idle.append(cursor)

    def close(self) -> None:
        """Close the idle connections; closing the last one merges the log into the file."""
        self._has_log = None
        while self.idle:
            with suppress(IndexError):  # another thread has taken the last one
                self.discard(self.idle.pop())

    # --- forks ---

    def suspend(self, until: float) -> None:
        """Close the connections, those of other threads after the end of their operations.

        SQLite knows which locks of the file a process has, and a child process would inherit this
        knowledge without the locks.  The connections of open readers are locked instead.
        """
        while True:
            self.close()
            for cursor, lock in list(self._readers.items()):
                if cursor not in self._held and lock.acquire(blocking=False):
                    self._held[cursor] = lock
            if len(self._held) == len(self._open) or time.monotonic() > until:
                return
            time.sleep(1e-5)

    def resume(self) -> None:
        """Release the connections of open readers after :meth:`suspend`."""
        while self._held:
            self._held.popitem()[1].release()

    def leave(self) -> None:
        """Forget the connections in a forked process; open readers keep theirs."""
        self.resume()
        _inherited.extend(self._open)
        self._open, self._readers, self.idle = set(), {}, []
        self.writing = threading.Lock()

    # --- opening ---

    def has_log(self, cursor: sqlite3.Cursor) -> bool:
        """Return whether the file has a write-ahead log, so that readers do not block writers."""
        if self._has_log is None:  # the mode cannot change while a connection is open
            (mode,) = cursor.execute("PRAGMA journal_mode").fetchone()
            self._has_log = mode == "wal"
        return self._has_log

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
        # Other programs store text that is not UTF-8.
        connection.text_factory = partial(str, encoding="utf-8", errors=INVALID_NAMES)
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


def _before_fork() -> None:
    # The child process would inherit internal locks of SQLite held by other threads.
    _opening.acquire()
    until = time.monotonic() + _FORK_TIMEOUT
    for pool in list(_pools):
        pool.suspend(until)


def _after_fork_in_parent() -> None:
    for pool in list(_pools):
        pool.resume()
    _opening.release()


def _after_fork() -> None:
    global _opening
    _opening = threading.RLock()
    for pool in list(_pools):
        pool.leave()


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


class BlobReader(ByteReader):
    """Reader of a blob, with its own connection in a read transaction."""

    def __init__(
        self,
        store: Store,
        key: str,
        blob: sqlite3.Blob,
        connections: Connections,
        cursor: sqlite3.Cursor,
    ) -> None:
        self._store = store
        self._key = key
        self._blob = blob
        self.size = len(blob)
        self._lock = connections.begin_reading(cursor)
        arguments = os.getpid(), self._lock, blob, connections, cursor
        self._closing = weakref.finalize(self, _end_reading, *arguments)

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        try:
            with self._lock:
                for start, buffer in parts:
                    if buffer:
                        buffer[:] = cast("bytes", self._blob[start : start + len(buffer)])
        except sqlite3.Error as error:
            reason = f"cannot be read: {error}"
            raise StoreReadError(reason, self._store, self._key) from error

    def close(self) -> None:
        self._closing()


def _end_reading(
    process: int,
    lock: threading.RLock,
    blob: sqlite3.Blob,
    connections: Connections,
    cursor: sqlite3.Cursor,
) -> None:
    if process != os.getpid():
        return  # kept by ``_inherited``
    with lock:
        blob.close()
        cursor.execute("COMMIT")
        connections.end_reading(cursor)
