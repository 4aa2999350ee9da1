"""A store in one SQLite file.

Name:           sqlite
URL:            sqlite:///absolute/path.sqlite, or a path that ends in .sqlite or .sqldb
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from zarr_core.extension import (
    BufferReader,
    StoreError,
    StoreReadError,
    ValueReader,
    check_prefix,
)

from zarr_stores._database import DatabaseStore, is_key, joined
from zarr_stores.sqlite_connections import Connections, has_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces

__all__ = ["SQLiteStore"]

_WHOLE = 1 << 16  # bytes: smaller values are read at once, larger ones in parts

_FAILURES = (sqlite3.Error, OverflowError, MemoryError, OSError)
_GET = "SELECT v FROM zarr WHERE k = ?"
_SET = "INSERT INTO zarr(k, v) VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v"
_ERASE = "DELETE FROM zarr WHERE k = ?"
_BELOW = "FROM zarr WHERE k >= ? AND k < ?"
_LOOK = f"""
    SELECT rowid, typeof(v), length(v), CASE WHEN length(v) <= {_WHOLE} THEN v END
    FROM zarr WHERE k = ?"""

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

    def _get(self, key: str) -> bytes | None:
        row = self._row(_GET, key)
        return None if row is None else self._bytes(key, row[0])

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        self._check(key)
        with self._reading(key) as connection:
            if connection is None:
                return None
            row = connection.execute(_LOOK, (key,)).fetchone()
            if row is None:
                return None
            if row[3] is not None or row[1] != "blob":
                return BufferReader(self._bytes(key, row[3]))
            whole = not has_log(connection)
        if whole:  # a reader that stays open would keep everyone from writing
            value = self._get(key)
            return None if value is None else BufferReader(value)
        return self._open_large(key)

    def _open_large(self, key: str) -> ValueReader | None:
        with self._naming(key, StoreReadError, "read"):
            connection = self._connections.take()
            if connection is None:
                return None
            try:
                connection.execute("BEGIN")  # until the reader is closed it sees this version
                row = connection.execute(_LOOK, (key,)).fetchone()
                if row is not None:
                    blob = connection.blobopen("zarr", "v", row[0], readonly=True)
                    return _BlobReader(self, key, blob, self._connections, connection)
                connection.execute("COMMIT")
            except BaseException:
                connection.close()
                raise
            self._connections.give_back(connection)
            return None

    def exists(self, key: str) -> bool:
        self._check(key)
        return self._row("SELECT 1 FROM zarr WHERE k = ?", key) is not None

    def getsize(self, key: str) -> int | None:
        self._check(key)
        row = self._row("SELECT length(v), typeof(v) FROM zarr WHERE k = ?", key)
        if row is None:
            return None
        if row[1] != "blob":
            return len(self._bytes(key, row[1]))
        return int(row[0])

    def _row(self, statement: str, key: str) -> Any:
        # In one piece, as this is what nearly always happens.
        try:
            connection = self._connections.take()
            if connection is None:
                return None
            try:
                return connection.execute(statement, (key,)).fetchone()
            finally:
                self._connections.give_back(connection)
        except _FAILURES as error:
            raise self._told(error, key, StoreReadError, "read") from error

    def _bytes(self, key: str, value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        raise StoreReadError("the table has text or a number here, not bytes", self, key)

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self._check_to_change(key)
        data = joined(value)
        with self._writing(key) as connection:
            connection.execute(_SET, (key, data))

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        """Store parts of values, all in one transaction."""
        changes = list(key_start_values)
        for key, _, _ in changes:
            self._check_to_change(key)
        with self._transaction() as connection:
            values: dict[str, bytearray] = {}
            for key, start, part in changes:
                if key not in values:
                    row = connection.execute(_GET, (key,)).fetchone()
                    values[key] = bytearray(b"" if row is None else self._bytes(key, row[0]))
                value = values[key]
                value.extend(bytes(max(0, start + len(part) - len(value))))
                value[start : start + len(part)] = part
            connection.executemany(_SET, ((key, bytes(value)) for key, value in values.items()))

    def erase(self, key: str) -> None:
        self.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys in one transaction."""
        names = list(keys)
        for key in names:
            self._check_to_change(key)
        if names and self._is_there():
            with self._transaction(names[0]) as connection:
                connection.executemany(_ERASE, ((key,) for key in names))

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix in one transaction."""
        self._check_prefix_to_change(prefix)
        if self._is_there():
            with self._writing(prefix) as connection:
                connection.execute(f"DELETE {_BELOW}", _bounds(prefix))

    def _swap(self, key: str, old: bytes | None, new: bytes | None) -> bool:
        with self._writing(key) as connection:
            if old is None:
                statement = "INSERT INTO zarr(k, v) VALUES(?, ?) ON CONFLICT(k) DO NOTHING"
                return connection.execute(statement, (key, new)).rowcount == 1
            if new is None:
                return connection.execute(f"{_ERASE} AND v = ?", (key, old)).rowcount == 1
            statement = "UPDATE zarr SET v = ? WHERE k = ? AND v = ?"
            return connection.execute(statement, (new, key, old)).rowcount == 1

    def _change_alone(self, key: str, change: Change) -> None:
        with self._transaction(key) as connection:
            row = connection.execute(_GET, (key,)).fetchone()
            value = change(None if row is None else BufferReader(self._bytes(key, row[0])))
            if value is None:
                connection.execute(_ERASE, (key,))
            elif not isinstance(value, ValueReader):
                connection.execute(_SET, (key, joined(value)))

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        with self._reading(prefix) as connection:
            if connection is None:
                return iter(())
            rows = connection.execute(f"SELECT k {_BELOW}", _bounds(prefix)).fetchall()
        return (key for (key,) in rows if is_key(key))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        check_prefix(prefix)
        first, end = _bounds(prefix)
        place = {"prefix": first, "end": end, "skip": len(prefix) + 1}
        with self._reading(prefix) as connection:
            rows = () if connection is None else connection.execute(_CHILDREN, place).fetchall()
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
        with self._reading("") as connection:
            return connection is not None

    @contextmanager
    def _reading(self, key: str) -> Iterator[sqlite3.Connection | None]:
        with self._naming(key, StoreReadError, "read"):
            connection = self._connections.take()
            try:
                yield connection
            finally:
                if connection is not None:
                    self._connections.give_back(connection)

    @contextmanager
    def _writing(self, key: str) -> Iterator[sqlite3.Connection]:
        with self._naming(key, StoreError, "written"):
            # First, as it may begin the life of this process.
            connection = self._connections.take(create=True)
            assert connection is not None
            try:
                with self._connections.writing:
                    yield connection
            finally:
                self._connections.give_back(connection)

    @contextmanager
    def _transaction(self, key: str = "") -> Iterator[sqlite3.Connection]:
        with self._writing(key) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _naming(self, key: str, kind: type[StoreError], done: str) -> Iterator[None]:
        """Add store and key to what goes wrong in the database."""
        try:
            yield
        except _FAILURES as error:
            raise self._told(error, key, kind, done) from error

    def _told(self, error: Exception, key: str, kind: type[StoreError], done: str) -> StoreError:
        reason = str(error)
        if (
            isinstance(error, sqlite3.OperationalError)
            and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
        ):
            reason = "another program has held the database for a minute"
        return kind(f"cannot be {done}: {reason}", self, key)


class _BlobReader(ValueReader):
    """A large value, read where it lies in the file; its connection is nobody else's."""

    def __init__(self, store: SQLiteStore, key: str, blob: sqlite3.Blob, *held: Any) -> None:
        self._store = store
        self._key = key
        self._blob = blob
        self._size = len(blob)
        self._closing = weakref.finalize(self, _end_reading, os.getpid(), blob, *held)

    @property
    def size(self) -> int:
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            end = start + len(buffer)
            if start < 0 or end > self._size:
                raise StoreReadError(
                    f"bytes {start} to {end} of a value of {self._size} bytes",
                    self._store,
                    self._key,
                )
            if buffer:
                try:
                    part = cast("bytes", self._blob[start:end])
                except sqlite3.Error as error:
                    raise StoreReadError(str(error), self._store, self._key) from error
                buffer[:] = part

    def close(self) -> None:
        self._closing()


def _end_reading(
    process: int, blob: sqlite3.Blob, connections: Connections, connection: sqlite3.Connection
) -> None:
    if process != os.getpid():
        connections.keep_inherited(connection, blob)
        return
    blob.close()
    connection.execute("COMMIT")
    connections.give_back(connection)


def _bounds(prefix: str) -> tuple[str, str | bytes]:
    """The first key below a prefix, and what comes after the last."""
    # "0" follows "/", and any bytes follow all text.
    return (prefix, f"{prefix[:-1]}0") if prefix else ("", b"")
