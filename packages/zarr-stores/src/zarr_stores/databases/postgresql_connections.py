"""A pool of connections to PostgreSQL.

``psycopg_pool`` connects in threads of its own, which hide why a connection failed until a timeout,
and do not survive a fork.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from psycopg import Connection, OperationalError
from psycopg.errors import DuplicateObject, DuplicateTable, UndefinedTable, UniqueViolation
from psycopg.pq import TransactionStatus
from psycopg.waiting import wait
from zarr_core.threads import waiting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import SimpleNamespace

_MOST = 16
_CREATED_BY_OTHERS = (DuplicateObject, DuplicateTable, UniqueViolation)


class TimeoutConnection(Connection[Any]):
    """A connection with a timeout that restarts whenever data is sent or received."""

    limit = 60.0
    """Timeout in seconds."""

    process = 0
    """Id of the process that created the connection."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Wait for a response; raise an error if no data is transferred within the timeout."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        with waiting():
            # Not by ``super``, which waits for the server after an interrupt.
            return wait(self._limited(gen), self.pgconn.socket, interval)

    def _limited(self, gen: Any) -> Any:
        """Pass on what a generator waits for, while data is transferred."""
        last = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted  # 0 at every interval
                if ready:
                    last = time.monotonic()
                elif time.monotonic() - last > self.limit:
                    self.pgconn.finish()
                    raise OperationalError(f"no response within {self.limit:g} s")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value

    def __del__(self, *rest: Any) -> None:
        if self.process == os.getpid():  # inherited connections belong to the parent
            super().__del__(*rest)


class Connections:
    """Connections of one process, each used by one thread at a time."""

    def __init__(self, options: Mapping[str, Any], timeout: float) -> None:
        self._options = options
        self._timeout = timeout
        self._idle: list[TimeoutConnection] = []

    def rows(self, sql: str, values: Any) -> list[Any]:
        """Return the rows of a query; none if the table does not exist."""
        try:
            with self.connection() as connection:
                result: list[Any] = connection.cursor(binary=True).execute(sql, values).fetchall()
                return result
        except UndefinedTable:
            return []

    def count(self, sql: str, values: Any) -> int:
        """Execute a statement and return the number of changed rows."""
        with self.connection() as connection:
            changed: int = connection.cursor().execute(sql, values).rowcount
            return changed

    def remove(self, sql: str, values: Any) -> None:
        """Execute a DELETE statement; a missing table is ignored."""
        try:
            self.count(sql, values)
        except UndefinedTable:
            return

    def create(self, statements: SimpleNamespace) -> None:
        """Create the table if it does not exist."""
        with self.connection() as connection:
            row = connection.execute(statements.look, ()).fetchone()
            if row is not None and row[0] is not None:
                return
            try:
                with connection.transaction():
                    for sql in statements.create:
                        connection.execute(sql, ())
            except _CREATED_BY_OTHERS:  # another client created it at the same time
                pass

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """Provide a connection for a ``with`` block."""
        connection = self._acquire()
        try:
            yield connection
        except BaseException:
            if connection.pgconn.transaction_status != TransactionStatus.IDLE:
                connection.close()
                self.close()  # the other idle connections are probably lost, too
            raise
        finally:
            if not connection.closed and len(self._idle) < _MOST:
                self._idle.append(connection)
            else:
                connection.close()

    def _acquire(self) -> TimeoutConnection:
        try:
            return self._idle.pop()
        except IndexError:
            connection = TimeoutConnection.connect(**self._options, autocommit=True)
            connection.process = os.getpid()
            connection.limit = self._timeout
            return connection

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()
