"""A pool of connections to PostgreSQL.

``psycopg_pool`` connects in threads of its own, which hide why a connection failed until a timeout,
and do not survive a fork.
"""

from __future__ import annotations

import os
import select
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from psycopg import Connection, OperationalError
from psycopg.errors import DuplicateObject, DuplicateTable, UndefinedTable, UniqueViolation
from psycopg.pq import TransactionStatus
from zarr_core.threads import waiting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import SimpleNamespace

_MOST = 16
_CREATED_BY_OTHERS = (DuplicateObject, DuplicateTable, UniqueViolation)


_EVENTS = {1: select.POLLIN, 2: select.POLLOUT, 3: select.POLLIN | select.POLLOUT}
_READY_TO_READ = select.POLLIN | select.POLLERR | select.POLLHUP


class TimeoutConnection(Connection[Any]):
    """A connection with a timeout that restarts whenever data is sent or received."""

    limit_ms = 60_000
    """Timeout in milliseconds."""

    process = 0
    """Id of the process that created the connection."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Wait for a response; raise an error if no data is transferred within the timeout."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        with waiting():
            return self._wait(gen)

    def _wait(self, gen: Any) -> Any:
        try:
            poll = select.poll()
            wanted = next(gen)
            poll.register(self.pgconn.socket, _EVENTS[wanted])
            while True:
                events = poll.poll(self.limit_ms)
                if not events:
                    self.pgconn.finish()
                    raise OperationalError(f"no response within {self.limit_ms / 1000:g} s")
                event = events[0][1]
                ready = (1 if event & _READY_TO_READ else 0) | (2 if event & select.POLLOUT else 0)
                before, wanted = wanted, gen.send(ready)
                if wanted != before:
                    poll.modify(self.pgconn.socket, _EVENTS[wanted])
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
            connection.limit_ms = round(self._timeout * 1000)
            return connection

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()
