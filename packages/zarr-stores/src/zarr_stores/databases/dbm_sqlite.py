"""Databases of ``dbm.sqlite3`` for all threads and all versions of Python.

The module of the standard library requires Python 3.13, and its databases can be used only
by the thread that opened them.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zarr_stores.databases.sqlite_connections import is_plain_table

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = b"SQLite format 3\0"
_TIMEOUT = 60.0  # seconds to wait for another process
_GET = "SELECT value FROM Dict WHERE key = ?"


def is_sqlite_file(path: str) -> bool:
    """Return whether a file is an SQLite database."""
    with suppress(FileNotFoundError, IsADirectoryError, NotADirectoryError), open(path, "rb") as it:
        return it.read(len(_MAGIC)) == _MAGIC
    return False


class SQLiteTable:
    """A table ``Dict`` of keys and values, both bytes.  Not thread-safe."""

    def __init__(self, path: str, flag: str) -> None:
        mode = "rwc" if flag == "c" else "ro"
        connection = sqlite3.connect(
            f"file:{quote(path)}?mode={mode}",
            timeout=_TIMEOUT,
            isolation_level=None,  # each statement is a transaction, except in ``transaction``
            check_same_thread=False,
            uri=True,
        )
        self._cursor = connection.cursor()
        try:
            connection.execute("PRAGMA trusted_schema=OFF")
            with suppress(sqlite3.OperationalError):
                self._cursor.execute("PRAGMA journal_mode = wal").fetchone()
            if flag == "c":
                self._cursor.execute(
                    "CREATE TABLE IF NOT EXISTS Dict(key BLOB UNIQUE NOT NULL, value BLOB NOT NULL)"
                )
            is_plain_table(connection, "Dict")
        except BaseException:
            connection.close()
            raise

    def __getitem__(self, name: bytes) -> Any:
        row = self._cursor.execute(_GET, (name,)).fetchone()
        if row is None:
            raise KeyError(name)
        return row[0]

    def __setitem__(self, name: bytes, value: bytes) -> None:
        self._cursor.execute("REPLACE INTO Dict(key, value) VALUES(?, ?)", (name, value))

    def __delitem__(self, name: bytes) -> None:
        self._cursor.execute("DELETE FROM Dict WHERE key = ?", (name,))

    def __contains__(self, name: bytes) -> bool:
        found = self._cursor.execute("SELECT 1 FROM Dict WHERE key = ?", (name,)).fetchone()
        return found is not None

    def __iter__(self) -> Iterator[bytes]:
        return (name for (name,) in self._cursor.execute("SELECT key FROM Dict").fetchall())

    keys = __iter__

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Exclude other writers, also those of other programs, in the block."""
        self._cursor.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._cursor.execute("ROLLBACK")
            raise
        self._cursor.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._cursor.connection.close()
