"""Connections to one SQLite file, lent to whoever needs one."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from zarr_stores._database import is_there
from zarr_stores._forked import in_children

if TYPE_CHECKING:
    from zarr_stores.sqlite_reader import BlobReader

# Of a process that forked this one: neither used here nor closed, for closing
# would release what the parent still holds.
_inherited: list[object] = []

_TIMEOUT = 60.0
_PATIENCE = 2.0  # seconds that a fork waits for others

_places: weakref.WeakValueDictionary[int, Connections] = weakref.WeakValueDictionary()
_opening = threading.Lock()
"""Held while a connection is made, and while this process forks."""


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
        self.readers: dict[int, weakref.ref[BlobReader]] = {}
        """Open values, each of which keeps a connection."""
        self._made: list[weakref.ref[sqlite3.Cursor]] = []
        self._aside: list[sqlite3.Cursor] = []
        in_children(self, Connections._renew)
        _places[id(self)] = self

    def _renew(self) -> None:
        _inherited.extend([*self.idle, *self._aside])
        self.idle, self._aside, self._made = [], [], []
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
            with _opening:
                connection = self._connect(create=create)
                if connection is None:
                    return None
                cursor = connection.cursor()
                self._made = [*(it for it in self._made if it() is not None), weakref.ref(cursor)]
                return cursor

    def hold_back(self) -> None:
        """Take away those that nobody has, until :meth:`go_on`."""
        with suppress(IndexError):
            while True:
                self._aside.append(self.idle.pop())

    def go_on(self) -> None:
        """Lend again."""
        while self._aside:
            self.idle.append(self._aside.pop())

    def at_work(self) -> bool:
        """Whether a thread is doing something in the database."""
        readers = [one for it in tuple(self.readers.values()) if (one := it()) is not None]
        self._made = [it for it in self._made if it() is not None]
        lent = [it for made in self._made if (it := made()) is not None and _is_open(it)]
        kept = sum(it in lent for it in [*self.idle, *self._aside, *(it.cursor for it in readers)])
        return len(lent) > kept or any(it.reads for it in readers)

    def close(self) -> None:
        """Close what is not lent out; the last one of all puts the log into the file."""
        self._has_log = None
        while self.idle:
            cursor = self.idle.pop()
            cursor.connection.close()

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


def _is_open(cursor: sqlite3.Cursor) -> bool:
    try:
        return cursor.connection.total_changes >= 0
    except sqlite3.ProgrammingError:
        return False


def _all() -> list[Connections]:
    """Those that live, though others may be made meanwhile."""
    return [it for place in _places.valuerefs() if (it := place()) is not None]


def _before_fork() -> None:
    # SQLite has locks of its own, which a child would find taken by threads that it has not.
    _opening.acquire()
    places = _all()
    until = time.monotonic() + _PATIENCE
    while True:
        for it in places:
            it.hold_back()
        if not any(it.at_work() for it in places) or time.monotonic() > until:
            return
        time.sleep(1e-5)  # in which others finish what they are at


def _after_fork_in_parent() -> None:
    for it in _all():
        it.go_on()
    _opening.release()


def _after_fork() -> None:
    global _opening
    _opening = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork
    )


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
