"""Direct calls of databases, with the same guarantees as in ``benchmarks.bare``."""

from __future__ import annotations

import itertools
import sqlite3
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchmarks.bare import Bare, parts_of_values

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.bare import Part

_BLOB = 1 << 16  # bytes; parts of larger values are read without the rest


def sqlite(path: Path) -> Bare:
    """One table in write-ahead mode, one connection per thread, each statement is a transaction."""
    own = threading.local()

    def connect() -> sqlite3.Connection:
        connection = own.connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("CREATE TABLE IF NOT EXISTS zarr(k TEXT PRIMARY KEY, v BLOB)")
        return connection

    connect()

    def execute(statement: str, arguments: tuple[Any, ...]) -> Any:
        try:
            connection = own.connection
        except AttributeError:
            connection = connect()
        return connection.execute(statement, arguments)

    def get(key: str) -> Any:
        row = execute("SELECT v FROM zarr WHERE k = ?", (key,)).fetchone()
        return None if row is None else row[0]

    into, *_ = parts_of_values(get)

    def part(key: str, start: int, length: int) -> Any:
        row = execute(
            "SELECT substr(v, ?, ?) FROM zarr WHERE k = ?", (start + 1, length, key)
        ).fetchone()
        return None if row is None else row[0]

    def parts(asked: list[Part]) -> list[Any]:
        execute("BEGIN", ())
        try:
            return [part(*each) for each in asked]
        finally:
            execute("COMMIT", ())

    def two_reads(key: str, first: memoryview, second: memoryview) -> None:
        execute("BEGIN", ())
        try:
            row = execute("SELECT rowid, length(v) FROM zarr WHERE k = ?", (key,)).fetchone()
            middle = row[1] // 2
            if row[1] <= _BLOB:
                value = memoryview(get(key))
                first[:] = value[: len(first)]
                second[:] = value[middle : middle + len(second)]
            else:
                with own.connection.blobopen("zarr", "v", row[0], readonly=True) as blob:
                    first[:] = blob[: len(first)]
                    second[:] = blob[middle : middle + len(second)]
        finally:
            execute("COMMIT", ())

    upsert = "INSERT INTO zarr(k, v) VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v"
    return Bare(
        get, into, part, parts, two_reads,
        lambda key: execute("SELECT 1 FROM zarr WHERE k = ?", (key,)).fetchone() is not None,
        lambda key, value: execute(upsert, (key, value)),
        lambda key: execute("DELETE FROM zarr WHERE k = ?", (key,)),
        lambda prefix: [
            key
            for (key,) in execute(
                "SELECT k FROM zarr WHERE k >= ? AND k < ?", (prefix, f"{prefix[:-1]}0")
            )
        ],
    )  # fmt: skip


def lmdb(path: Path, *, sync: bool) -> Bare:
    """One environment of ``lmdb.open``; each call is a transaction."""
    library: Any = import_module("lmdb")
    environment = library.open(str(path), map_size=1 << 30, sync=sync, metasync=sync)
    begin = environment.begin

    def get(key: str) -> Any:
        with begin() as transaction:
            return transaction.get(key.encode())

    def into(key: str, buffer: memoryview) -> int | None:
        with begin(buffers=True) as transaction:
            value = transaction.get(key.encode())
            if value is None:
                return None
            buffer[: len(value)] = value
            return len(value)

    def part(key: str, start: int, length: int) -> bytes | None:
        with begin(buffers=True) as transaction:
            value = transaction.get(key.encode())
            return None if value is None else bytes(value[start : start + length])

    def parts(asked: list[Part]) -> list[bytes | None]:
        found: list[bytes | None] = []
        with begin(buffers=True) as transaction:
            for key, start, length in asked:
                value = transaction.get(key.encode())
                found.append(None if value is None else bytes(value[start : start + length]))
        return found

    def two_reads(key: str, first: memoryview, second: memoryview) -> None:
        with begin(buffers=True) as transaction:
            value = transaction.get(key.encode())
            middle = len(value) // 2
            first[:] = value[: len(first)]
            second[:] = value[middle : middle + len(second)]

    def exists(key: str) -> bool:
        with begin(buffers=True) as transaction:
            return transaction.get(key.encode()) is not None

    def put(key: str, value: bytes) -> None:
        with begin(write=True) as transaction:
            transaction.put(key.encode(), value)

    def erase(key: str) -> None:
        with begin(write=True) as transaction:
            transaction.delete(key.encode())

    def names(prefix: str) -> list[str]:
        first = prefix.encode()
        with begin() as transaction, transaction.cursor() as cursor:
            cursor.set_range(first)
            found = itertools.takewhile(
                lambda key: key.startswith(first), cursor.iternext(values=False)
            )
            return [key.decode() for key in found]

    return Bare(get, into, part, parts, two_reads, exists, put, erase, names)
