"""Databases of ``dbm.sqlite3`` for all versions of Python: the module requires Python 3.13."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zarr_stores.databases.sqlite_connections import is_plain_table

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = b"SQLite format 3\0"
_TIMEOUT = 60.0  # seconds to wait for another process


def is_sqlite_file(path: str) -> bool:
    """Return whether a file is an SQLite database."""
    with (
        suppress(FileNotFoundError, IsADirectoryError, NotADirectoryError),
        open(path, "rb") as file,
    ):
        return file.read(len(_MAGIC)) == _MAGIC
    return False


class SQLiteTable:
    """A table ``Dict`` of keys and values, both bytes; changes are lost without ``sync``."""

    def __init__(self, path: str, flag: str) -> None:
        # Reading also completes or reverts the change of a killed process, so it opens the file for
        # writing.  SQLite opens a file that is write-protected for reading.
        mode = "rwc" if flag == "c" else "rw"
        connection = sqlite3.connect(
            f"file:{quote(path)}?mode={mode}",
            timeout=_TIMEOUT,
            isolation_level=None,  # no implicit transactions
            uri=True,
        )
        self._cursor = connection.cursor()
        try:
            self._cursor.execute("PRAGMA trusted_schema=OFF")
            # Excludes writers, also other programs; reads are from one state of the database.
            self._cursor.execute("BEGIN" if flag == "r" else "BEGIN IMMEDIATE")
            if flag == "c":
                self._cursor.execute(
                    "CREATE TABLE IF NOT EXISTS Dict(key BLOB UNIQUE NOT NULL, value BLOB NOT NULL)"
                )
            is_plain_table(connection, "Dict")
        except BaseException:
            connection.close()
            raise

    def __getitem__(self, name: bytes) -> Any:
        (value,) = self._cursor.execute("SELECT value FROM Dict WHERE key = ?", (name,)).fetchone()
        return value

    def __setitem__(self, name: bytes, value: bytes) -> None:
        self._cursor.execute("REPLACE INTO Dict(key, value) VALUES(?, ?)", (name, value))

    def __delitem__(self, name: bytes) -> None:
        self._cursor.execute("DELETE FROM Dict WHERE key = ?", (name,))

    def __contains__(self, name: bytes) -> bool:
        row = self._cursor.execute("SELECT 1 FROM Dict WHERE key = ?", (name,)).fetchone()
        return row is not None

    def keys(self) -> Iterator[bytes]:
        """Iterate over the keys."""
        return (name for (name,) in self._cursor.execute("SELECT key FROM Dict"))

    def sync(self) -> None:
        """Store all changes at once."""
        self._cursor.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._cursor.connection.close()
