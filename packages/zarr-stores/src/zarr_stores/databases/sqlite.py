"""A store in one SQLite file.

Name:           sqlite
URL:            sqlite:///absolute/path.sqlite, or a path that ends in .sqlite or .sqldb
"""

from __future__ import annotations

import sqlite3
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    BufferByteReader,
    ByteReader,
    StoreError,
    StoreReadError,
    StoreTraits,
    check_key,
    encode_key,
)

from zarr_stores.databases.database_store import DatabaseStore, SortedStore, key_range
from zarr_stores.databases.sqlite_connections import BlobReader, Connections

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, ByteRange

__all__ = ["SQLiteStore"]

_WHOLE = 1 << 16  # bytes: smaller values are read as a whole

_GET = "SELECT v FROM zarr WHERE k = ?"
# The length of a blob is in the header of its row.
_GET_LIMITED = """
    SELECT CASE WHEN typeof(v) = 'blob' THEN CASE WHEN length(v) > ? THEN length(v) ELSE v END END
    FROM zarr WHERE k = ?"""
_SET = "INSERT INTO zarr(k, v) VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v"
_ERASE = "DELETE FROM zarr WHERE k = ?"
_BELOW = "FROM zarr WHERE k >= ? AND k < ?"
_WHERE = "SELECT rowid FROM zarr WHERE k = ?"
_LOOK = f"SELECT CASE WHEN length(v) <= {_WHOLE} THEN v END, typeof(v) FROM zarr WHERE k = ?"

# From each child, skip to the first key after everything below it: the number of
# steps is the number of children, independent of the number of deeper keys.
_CHILDREN = """
    WITH RECURSIVE child(k) AS (
        SELECT (SELECT min(k) FROM zarr WHERE k >= :prefix AND k < :end)
        UNION ALL
        SELECT (
            SELECT min(z.k) FROM zarr AS z WHERE z.k < :end AND z.k >=
            CASE instr(substr(child.k, :skip), '/')
            WHEN 0 THEN child.k || char(1)
            ELSE substr(child.k, 1, :skip + instr(substr(child.k, :skip), '/') - 2) || '0' END
        ) FROM child WHERE child.k IS NOT NULL
    )
    SELECT k FROM child WHERE k IS NOT NULL"""


class SQLiteStore(SortedStore, DatabaseStore):
    """A store in a table of an SQLite file, with the layout of zarr-python 2.

    Parameters
    ----------
    path : str or os.PathLike
        Path of the file; created by the first write.
    read_only : bool
        If True, changes raise an error and no file is created.
    fsync : bool
        Whether ``set`` returns only after the change is on disk.  Without it, a power
        failure may lose the last changes, but does not damage the file.

    Notes
    -----
    Threads and processes can read and write concurrently.  The file is in write-ahead mode:
    while it is open, the files ``path-wal`` and ``path-shm`` belong to it.  A value has at
    most 1,000,000,000 bytes.  Use it on a local disk: network file systems do not provide
    the locks that SQLite requires.
    """

    scheme = "sqlite"
    traits = StoreTraits(batch_nbytes=1 << 22)
    options = frozenset({"fsync"})

    def __init__(
        self, path: str | os.PathLike[str], read_only: bool = False, fsync: bool = False
    ) -> None:
        super().__init__(path, read_only)
        self._fsync = fsync
        self._connections = Connections(self.path, read_only, fsync)
        self._closing = weakref.finalize(self, self._connections.close)

    # --- readable ---

    def get(self, key: str) -> bytes | None:
        check_key(key)
        row = self._row(_GET, key)
        return None if row is None else self._bytes(key, row[0])

    _get = get

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        check_key(key)
        row = self._row(_GET_LIMITED, key, (limit, key))
        if row is None or isinstance(row[0], int):
            return None if row is None else int(row[0])
        return self._bytes(key, row[0])

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        check_key(key)
        row = self._row(_LOOK, key)
        if row is None:
            return None
        if row[0] is not None or row[1] != "blob":
            return BufferByteReader(self._bytes(key, row[0]))
        reader = self.request(key, StoreReadError, "read", lambda: self._open_large(key))
        if reader is not None:
            return reader
        # Without a write-ahead log an open reader would block all writers.  The value may also
        # have been erased.
        value = self.get(key)
        return None if value is None else BufferByteReader(value)

    def _open_large(self, key: str) -> ByteReader | None:
        connections = self._connections
        cursor = connections.take()
        if cursor is None:
            return None
        try:
            if connections.has_log(cursor):
                cursor.execute("BEGIN")  # the reader sees this snapshot until it is closed
                row = cursor.execute(_WHERE, (key,)).fetchone()
                if row is not None:
                    blob = cursor.connection.blobopen("zarr", "v", row[0], readonly=True)
                    return BlobReader(self, key, blob, connections, cursor)
                cursor.execute("COMMIT")
        except BaseException:
            connections.discard(cursor)
            raise
        connections.idle.append(cursor)
        return None

    def getsize(self, key: str) -> int | None:
        check_key(key)
        row = self._row("SELECT length(v), typeof(v) FROM zarr WHERE k = ?", key)
        if row is None:
            return None
        if row[1] != "blob":
            return len(self._bytes(key, row[1]))
        return int(row[0])

    def _row(self, statement: str, key: str, arguments: tuple[Any, ...] = ()) -> Any:
        # Without helper functions, because this is the hot path.
        connections = self._connections
        try:
            try:
                cursor: sqlite3.Cursor | None = connections.idle.pop()
            except IndexError:
                cursor = connections.take()
            if cursor is None:
                encode_key(key)
                return None
            try:
                row = cursor.execute(statement, arguments or (key,)).fetchone()
            except BaseException:
                connections.discard(cursor)
                raise
        except self._failures() as error:
            raise self._failure(error, key, StoreReadError, "read") from error
        connections.idle.append(cursor)
        return row

    def _bytes(self, key: str, value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        raise StoreReadError("the value in the table is not a blob", self, key)

    # --- writeable ---

    def _set(self, values: Sequence[tuple[str, bytes]]) -> None:
        if len(values) == 1:
            self._write(_SET, values[0])
            return
        with self._transaction(create=True) as cursor:
            assert cursor is not None
            cursor.executemany(_SET, values)

    def _erase(self, keys: Sequence[str]) -> None:
        if len(keys) == 1:
            self._write(_ERASE, (keys[0],), create=False)
            return
        with self._transaction(create=False) as cursor:
            if cursor is not None:
                cursor.executemany(_ERASE, ((key,) for key in keys))

    def _erase_below(self, prefix: str) -> None:
        self._write(f"DELETE {_BELOW}", _bounds(prefix), create=False)

    def _swap(self, key: str, expected: bytes | None, new: bytes | None) -> bool:
        if expected is None:
            statement = "INSERT INTO zarr(k, v) VALUES(?, ?) ON CONFLICT(k) DO NOTHING"
            return self._write(statement, (key, new)) == 1
        if new is None:
            return self._write(f"{_ERASE} AND v = ?", (key, expected)) == 1
        return self._write("UPDATE zarr SET v = ? WHERE k = ? AND v = ?", (new, key, expected)) == 1

    def _write(self, statement: str, arguments: Sequence[Any], *, create: bool = True) -> int:
        """Execute a statement in its own transaction; return the number of changed rows."""
        with self._connections.writing, self._connections.cursor(create=create) as cursor:
            return 0 if cursor is None else cursor.execute(statement, arguments).rowcount

    # --- listable ---

    def _list(self, prefix: str) -> list[str]:
        return self._texts(f"SELECT k {_BELOW}", _bounds(prefix))

    def _children(self, prefix: str) -> list[str]:
        first, end = _bounds(prefix)
        bounds = {"prefix": first, "end": end, "skip": len(prefix) + 1}
        return self._texts(_CHILDREN, bounds)

    def _texts(self, statement: str, arguments: Any) -> list[str]:
        with self._connections.cursor() as cursor:
            rows = () if cursor is None else cursor.execute(statement, arguments)
            return [name for (name,) in rows if name is not None]  # NULL is from damaged files

    # --- lifetime ---

    def close(self) -> None:
        """Close the file.  It is reopened at its next use."""
        self._connections.close()

    def __reduce__(self) -> tuple[type[Self], tuple[str, bool, bool]]:
        return type(self), (self.path, self.read_only, self._fsync)

    # --- connections ---

    @contextmanager
    def _transaction(self, *, create: bool) -> Iterator[sqlite3.Cursor | None]:
        with self._connections.writing, self._connections.cursor(create=create) as cursor:
            if cursor is None:
                yield None
                return
            cursor.execute("BEGIN IMMEDIATE")
            yield cursor
            cursor.execute("COMMIT")

    def _failures(self) -> tuple[type[BaseException], ...]:
        return sqlite3.Error, OverflowError, MemoryError, OSError, UnicodeEncodeError

    def _failure(
        self, error: BaseException, key: str, kind: type[StoreError], done: str
    ) -> StoreError:
        encode_key(key)
        reason = str(error)
        if (
            isinstance(error, sqlite3.OperationalError)
            # Errors raised by Python have no code.
            and getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
        ):
            reason = "the database is locked by another program (waited for 60 s)"
        return kind(f"cannot be {done}: {reason}", self, key)


def _bounds(prefix: str) -> tuple[str, str | bytes]:
    return key_range(prefix) if prefix else ("", b"")  # SQLite sorts blobs after text
