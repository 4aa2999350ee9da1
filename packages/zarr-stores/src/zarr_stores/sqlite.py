"""A store in one SQLite file.

Name:           sqlite
URL:            sqlite:///absolute/path.sqlite, or a path that ends in .sqlite or .sqldb
"""

from __future__ import annotations

import sqlite3
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from zarr_core.extension import (
    BufferReader,
    StoreError,
    StoreReadError,
    ValueReader,
    check_key,
    check_prefix,
    only_keys,
)

from zarr_stores._database import DatabaseStore, encoded, is_key, joined
from zarr_stores.sqlite_connections import Connections
from zarr_stores.sqlite_reader import BlobReader

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator
    from typing import Self

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces

__all__ = ["SQLiteStore"]

_WHOLE = 1 << 16  # bytes: smaller values are read at once, larger ones in parts

_MOST = 1 << 30  # bytes; no value is as long

_FAILURES = (sqlite3.Error, OverflowError, MemoryError, OSError, UnicodeEncodeError)
_GET = "SELECT v FROM zarr WHERE k = ?"
_SET = "INSERT INTO zarr(k, v) VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v"
_ERASE = "DELETE FROM zarr WHERE k = ?"
_BELOW = "FROM zarr WHERE k >= ? AND k < ?"
_WHERE = "SELECT rowid FROM zarr WHERE k = ?"
_LOOK = f"SELECT CASE WHEN length(v) <= {_WHOLE} THEN v END, typeof(v) FROM zarr WHERE k = ?"
_PART = f"SELECT CASE WHEN length(v) <= {_WHOLE} THEN substr(v, ?, ?) END FROM zarr WHERE k = ?"
_END = _PART.replace("(v, ?", "(v, max(1, length(v) + ?)")

# From each child to the first key behind all that it may have below it: as many
# steps as there are children, however many keys lie deeper.
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


class SQLiteStore(DatabaseStore):
    """Keys and values in a table of one SQLite file, as zarr-python 2 has them.

    Parameters
    ----------
    path : str or os.PathLike
        The file; it is created when first written to.
    read_only : bool
        Refuse changes, and create nothing.
    fsync : bool
        Have every change on the disk before ``set`` returns.  Without it a power
        failure may lose the last changes, but never damages the file.

    Notes
    -----
    Any number of threads and processes may read and write at the same time.  The
    file is in write-ahead mode: while it is open, ``path-wal`` and ``path-shm`` lie
    beside it and belong to it.  A value has at most 1,000,000,000 bytes.  Use it on
    a local disk: network file systems do not have the locks that SQLite needs.
    """

    scheme = "sqlite"
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

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Parts of values, in the order asked for, all of the same moment."""
        asked = list(key_ranges)
        for key, _ in asked:
            check_key(key)
        if len(asked) == 1:
            return [self._part(*asked[0])]
        values: list[Buffer | None] = []
        with self._reading(asked[0][0] if asked else "") as cursor:
            if cursor is None:
                return [None] * len(asked)
            cursor.execute("BEGIN")
            for key, part in asked:
                row = cursor.execute(*_part_of(key, part)).fetchone()
                if row is not None and row[0] is None:  # it is large, or no bytes
                    row = cursor.execute(_WHERE, (key,)).fetchone()
                    with cursor.connection.blobopen("zarr", "v", row[0], readonly=True) as blob:
                        start, stop = part.within(len(blob))
                        values.append(cast("bytes", blob[start:stop]))
                else:
                    values.append(None if row is None else self._bytes(key, row[0]))
            cursor.execute("COMMIT")
        return values

    def _part(self, key: str, part: ByteRange) -> Buffer | None:
        statement, arguments = _part_of(key, part)
        row = self._row(statement, key, arguments)
        if row is None:
            return None
        value: bytes | None = row[0]
        return super()._part(key, part) if value is None else self._bytes(key, value)

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        check_key(key)
        row = self._row(_LOOK, key)
        if row is None:
            return None
        if row[0] is not None or row[1] != "blob":
            return BufferReader(self._bytes(key, row[0]))
        with self._naming(key, StoreReadError, "read"):
            cursor = self._connections.take()
            if cursor is None:
                return None
            try:
                if self._connections.has_log(cursor):
                    reader = self._open_large(key, cursor)
                    if reader is not None:
                        return reader
            except BaseException:
                cursor.connection.close()
                raise
            self._connections.idle.append(cursor)
        # A reader that stays open would keep everyone from writing; or it was just erased.
        value = self.get(key)
        return None if value is None else BufferReader(value)

    def _open_large(self, key: str, cursor: sqlite3.Cursor) -> ValueReader | None:
        cursor.execute("BEGIN")  # until the reader is closed it sees this version
        row = cursor.execute(_WHERE, (key,)).fetchone()
        if row is not None:
            blob = cursor.connection.blobopen("zarr", "v", row[0], readonly=True)
            return BlobReader(self, key, blob, self._connections, cursor)
        cursor.execute("COMMIT")
        return None

    def exists(self, key: str) -> bool:
        check_key(key)
        return self._row("SELECT 1 FROM zarr WHERE k = ?", key) is not None

    def getsize(self, key: str) -> int | None:
        check_key(key)
        row = self._row("SELECT length(v), typeof(v) FROM zarr WHERE k = ?", key)
        if row is None:
            return None
        if row[1] != "blob":
            return len(self._bytes(key, row[1]))
        return int(row[0])

    def _row(self, statement: str, key: str, arguments: tuple[Any, ...] = ()) -> Any:
        # In one piece, as this is what nearly always happens.
        connections = self._connections
        try:
            try:
                cursor: sqlite3.Cursor | None = connections.idle.pop()
            except IndexError:
                cursor = connections.take()
            if cursor is None:
                encoded(key)
                return None
            try:
                row = cursor.execute(statement, arguments or (key,)).fetchone()
            except BaseException:
                cursor.connection.close()
                raise
        except _FAILURES as error:
            raise self._told(error, key, StoreReadError, "read") from error
        connections.idle.append(cursor)
        return row

    def _bytes(self, key: str, value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        raise StoreReadError("the table has text or a number here, not bytes", self, key)

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        check_key(key)
        if self.read_only:
            self._require_writable(key)
        self._write(_SET, key, (key, value if type(value) is bytes else joined(value)))

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        """Store parts of values, all in one transaction."""
        changes = list(key_start_values)
        for key, _, _ in changes:
            self._check_to_change(key)
        with self._transaction() as cursor:
            values: dict[str, bytearray] = {}
            for key, start, part in changes:
                if key not in values:
                    row = cursor.execute(_GET, (key,)).fetchone()
                    values[key] = bytearray(b"" if row is None else self._bytes(key, row[0]))
                value = values[key]
                value.extend(bytes(max(0, start + len(part) - len(value))))
                value[start : start + len(part)] = part
            cursor.executemany(_SET, ((key, bytes(value)) for key, value in values.items()))

    def erase(self, key: str) -> None:
        self._check_to_change(key)
        self._write(_ERASE, key, (key,), create=False)

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys in one transaction."""
        names = list(keys)
        for key in names:
            self._check_to_change(key)
        if names and self._is_there():
            with self._transaction(names[0]) as cursor:
                cursor.executemany(_ERASE, ((key,) for key in names))

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix in one transaction."""
        self._check_prefix_to_change(prefix)
        self._write(f"DELETE {_BELOW}", prefix, _bounds(prefix), create=False)

    def _swap(self, key: str, old: bytes | None, new: bytes | None) -> bool:
        if old is None:
            statement = "INSERT INTO zarr(k, v) VALUES(?, ?) ON CONFLICT(k) DO NOTHING"
            return self._write(statement, key, (key, new)) == 1
        if new is None:
            return self._write(f"{_ERASE} AND v = ?", key, (key, old)) == 1
        return self._write("UPDATE zarr SET v = ? WHERE k = ? AND v = ?", key, (new, key, old)) == 1

    def _change_alone(self, key: str, change: Change) -> None:
        with self._transaction(key) as cursor:
            row = cursor.execute(_GET, (key,)).fetchone()
            value = change(None if row is None else BufferReader(self._bytes(key, row[0])))
            if value is None:
                cursor.execute(_ERASE, (key,))
            elif not isinstance(value, ValueReader):
                cursor.execute(_SET, (key, joined(value)))

    def _write(
        self, statement: str, key: str, arguments: tuple[Any, ...], *, create: bool = True
    ) -> int:
        """Change values in a transaction of its own; how many."""
        connections = self._connections
        try:
            try:
                cursor: sqlite3.Cursor | None = connections.idle.pop()
            except IndexError:
                cursor = connections.take(create=create)
            if cursor is None:
                return 0
            try:
                with connections.writing:
                    count = cursor.execute(statement, arguments).rowcount
            except BaseException:
                cursor.connection.close()
                raise
        except _FAILURES as error:
            raise self._told(error, key, StoreError, "written") from error
        connections.idle.append(cursor)
        return count

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        with self._reading(prefix) as cursor:
            if cursor is None:
                return iter(())
            rows = cursor.execute(f"SELECT k {_BELOW}", _bounds(prefix)).fetchall()
        return iter(only_keys([key for (key,) in rows]))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        check_prefix(prefix)
        first, end = _bounds(prefix)
        place = {"prefix": first, "end": end, "skip": len(prefix) + 1}
        with self._reading(prefix) as cursor:
            rows = () if cursor is None else cursor.execute(_CHILDREN, place).fetchall()
        keys: list[str] = []
        prefixes: list[str] = []
        for (key,) in rows:
            head, slash, _ = key[len(prefix) :].partition("/")
            if is_key(prefix + head):
                (prefixes if slash else keys).append(prefix + head + slash)
        return keys, prefixes

    # --- lifetime ---

    def close(self) -> None:
        """Close the file; what is used again afterwards is opened again."""
        self._connections.close()

    def __reduce__(self) -> tuple[type[Self], tuple[str, bool, bool]]:
        return type(self), (self.path, self.read_only, self._fsync)

    # --- connections ---

    def _is_there(self) -> bool:
        with self._reading("") as cursor:
            return cursor is not None

    @contextmanager
    def _reading(self, key: str) -> Iterator[sqlite3.Cursor | None]:
        with self._naming(key, StoreReadError, "read"):
            cursor = self._connections.take()
            try:
                yield cursor
            except BaseException:
                if cursor is not None:
                    cursor.connection.close()
                raise
            if cursor is not None:
                self._connections.idle.append(cursor)

    @contextmanager
    def _transaction(self, key: str = "") -> Iterator[sqlite3.Cursor]:
        with self._naming(key, StoreError, "written"):
            cursor = self._connections.take(create=True)
            assert cursor is not None
            try:
                with self._connections.writing:
                    cursor.execute("BEGIN IMMEDIATE")
                    yield cursor
                    cursor.execute("COMMIT")
            except BaseException:
                cursor.connection.close()  # nothing of it has happened
                raise
            self._connections.idle.append(cursor)

    @contextmanager
    def _naming(self, key: str, kind: type[StoreError], done: str) -> Iterator[None]:
        """Add store and key to what goes wrong in the database."""
        try:
            yield
        except _FAILURES as error:
            raise self._told(error, key, kind, done) from error

    def _told(self, error: Exception, key: str, kind: type[StoreError], done: str) -> StoreError:
        encoded(key)
        reason = str(error)
        if (
            isinstance(error, sqlite3.OperationalError)
            and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
        ):
            reason = "another program has held the database for a minute"
        return kind(f"cannot be {done}: {reason}", self, key)


def _part_of(key: str, part: ByteRange) -> tuple[str, tuple[int, int, str]]:
    """The statement that reads a part of a value, with its arguments."""
    start, length = part
    count = _MOST if length is None or length > _MOST else length
    if start < 0:
        return _END, (max(start, -_MOST) + 1, count, key)
    return _PART, (min(start, _MOST) + 1, count, key)


def _bounds(prefix: str) -> tuple[str, str | bytes]:
    """The first key below a prefix, and what comes after the last."""
    # "0" follows "/", and any bytes follow all text.
    return (prefix, f"{prefix[:-1]}0") if prefix else ("", b"")
