"""Connections to one SQLite file, lent to whoever needs one."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from urllib.parse import quote

from zarr_stores._database import is_there
from zarr_stores._forked import in_children

# Of a process that forked this one: neither used here nor closed, for closing
# would release what the parent still holds.
_inherited: list[object] = []

_TIMEOUT = 60.0


class Connections:
    """Connections to one file; each is used by one thread at a time.

    They are lent as cursors, since to make one takes a seventh of a small read.

    Parameters
    ----------
    path : str
        The file.
    read_only : bool
        Never create or change anything.
    fsync : bool
        Have every transaction on the disk before it counts as done.
    """

    def __init__(self, path: str, read_only: bool, fsync: bool) -> None:
        self._path = path
        self._read_only = read_only
        self._fsync = fsync
        self._has_log: bool | None = None
        self.idle: list[sqlite3.Cursor] = []
        """Those that nobody has; who is done puts back what is in no transaction."""
        self.writing = threading.Lock()
        """Held while writing: SQLite has one writer, and lets others sleep, not queue."""
        in_children(self, Connections._renew)

    def _renew(self) -> None:
        _inherited.extend(self.idle)
        self.idle = []
        self.writing = threading.Lock()

    def take(self, *, create: bool = False) -> sqlite3.Cursor | None:
        """A connection; None if the file has no table yet and is not to be created.

        Raises
        ------
        sqlite3.Error
            If the file is not a database, or cannot be opened.
        OSError
            If its directory cannot be made, or not be looked at.
        """
        try:
            return self.idle.pop()
        except IndexError:
            connection = self._connect(create=create)
            return None if connection is None else connection.cursor()

    def close(self) -> None:
        """Close what is not lent out; the last one of all puts the log into the file."""
        self._has_log = None
        while self.idle:
            self.idle.pop().connection.close()

    def has_log(self, cursor: sqlite3.Cursor) -> bool:
        """Whether someone who reads keeps nobody from writing."""
        if self._has_log is None:  # nobody changes it while there is a connection
            (mode,) = cursor.execute("PRAGMA journal_mode").fetchone()
            self._has_log = mode == "wal"
        return self._has_log

    @staticmethod
    def keep_inherited(*used: object) -> None:
        """Keep what the process that forked this one still uses."""
        _inherited.extend(used)

    def _connect(self, *, create: bool) -> sqlite3.Connection | None:
        if create:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
        elif not is_there(self._path):
            return None
        mode = "ro" if self._read_only else "rwc" if create else "rw"
        if not create and self._cannot_change():
            mode = "ro&immutable=1"  # a log cannot be made beside it, and nobody writes
        connection = sqlite3.connect(
            f"file:{quote(self._path)}?mode={mode}",
            timeout=_TIMEOUT,
            isolation_level=None,  # transactions begin where this library says so
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
        connection.execute(f"PRAGMA synchronous={'FULL' if self._fsync else 'NORMAL'}")
        if create:
            _write_ahead(connection)
            connection.execute("CREATE TABLE IF NOT EXISTS zarr(k TEXT PRIMARY KEY, v BLOB)")
            return True
        return bool(
            connection.execute(
                "SELECT 1 FROM sqlite_master WHERE name = 'zarr' AND type = 'table'"
            ).fetchone()
        )

    def _cannot_change(self) -> bool:
        directory = os.path.dirname(self._path)
        return not os.access(directory, os.W_OK) and not os.path.exists(f"{self._path}-wal")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Have changes logged, so that readers go on while someone writes."""
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            # Where it cannot be (a network file system), SQLite says so and goes on as before.
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as error:
            # SQLite itself does not wait for this lock.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
