"""Connections to PostgreSQL that wait for their next use."""

from __future__ import annotations

import os
import select
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from psycopg import Connection, OperationalError
from psycopg.errors import DuplicateObject, DuplicateTable, UndefinedTable, UniqueViolation
from psycopg.pq import TransactionStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_stores.postgresql_statements import Statements

_MOST = 16
_LATE = (DuplicateObject, DuplicateTable, UniqueViolation)


_EVENTS = {1: select.POLLIN, 2: select.POLLOUT, 3: select.POLLIN | select.POLLOUT}
_READY_TO_READ = select.POLLIN | select.POLLERR | select.POLLHUP


class Patient(Connection[Any]):
    """A connection on which waiting ends, but not as long as something comes or goes."""

    limit_ms = 60_000
    """Milliseconds."""

    process = 0
    """The process that made it."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Wait for an answer, which may be long but must not pause for too long."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            poll = select.poll()
            wanted = next(gen)
            poll.register(self.pgconn.socket, _EVENTS[wanted])
            while True:
                found = poll.poll(self.limit_ms)
                if not found:
                    self.pgconn.finish()
                    raise OperationalError(f"no answer within {self.limit_ms / 1000:g} s")
                event = found[0][1]
                ready = (1 if event & _READY_TO_READ else 0) | (2 if event & select.POLLOUT else 0)
                before, wanted = wanted, gen.send(ready)
                if wanted != before:
                    poll.modify(self.pgconn.socket, _EVENTS[wanted])
        except StopIteration as end:
            return end.value

    def __del__(self, *rest: Any) -> None:
        if self.process == os.getpid():  # one that was inherited is not ours to end
            super().__del__(*rest)


class Connections:
    """Connections of one process, each used by one thread at a time.

    Parameters
    ----------
    options : mapping
        What libpq needs to connect.
    timeout : float
        Seconds after which an answer is given up, and the connection with it.
    """

    def __init__(self, options: Mapping[str, Any], timeout: float) -> None:
        self._options = options
        self._timeout = timeout
        self._idle: list[Patient] = []

    def rows(self, words: str, values: Any) -> list[Any]:
        """The rows that a statement gives; none if there is no table."""
        connection = self._take()
        try:
            found: list[Any] = connection.cursor(binary=True).execute(words, values).fetchall()
        except BaseException as error:
            self._failed(connection)
            if isinstance(error, UndefinedTable):
                return []
            raise
        self._give_back(connection)
        return found

    def count(self, words: str, values: Any) -> int:
        """How many rows a statement changes."""
        connection = self._take()
        try:
            changed = connection.cursor().execute(words, values).rowcount
        except BaseException:
            self._failed(connection)
            raise
        self._give_back(connection)
        return changed

    def remove(self, words: str, values: Any) -> None:
        """Remove rows, if there is a table."""
        try:
            self.count(words, values)
        except UndefinedTable:
            return

    def create(self, say: Statements) -> None:
        """Create the table if there is none."""
        with self.taken() as connection:
            row = connection.execute(say.look, ()).fetchone()
            if row is not None and row[0] is not None:
                return
            try:
                with connection.transaction():
                    for words in say.create:
                        connection.execute(words, ())
            except _LATE:  # someone else has made it just now
                pass

    @contextmanager
    def taken(self) -> Iterator[Any]:
        """A connection for the time of a ``with`` block."""
        connection = self._take()
        try:
            yield connection
        except BaseException:
            self._failed(connection)
            raise
        self._give_back(connection)

    def _take(self) -> Patient:
        try:
            return self._idle.pop()
        except IndexError:
            connection = Patient.connect(**self._options, autocommit=True)
            connection.process = os.getpid()
            connection.limit_ms = round(self._timeout * 1000)
            return connection

    def _give_back(self, connection: Patient) -> None:
        if len(self._idle) < _MOST:
            self._idle.append(connection)
        else:
            connection.close()

    def _failed(self, connection: Patient) -> None:
        status = connection.pgconn.transaction_status
        if not connection.closed and status == TransactionStatus.IDLE:
            self._give_back(connection)
        else:
            connection.close()
            self.close()  # the others are as old

    def close(self) -> None:
        """Close those that wait."""
        while self._idle:
            self._idle.pop().close()
