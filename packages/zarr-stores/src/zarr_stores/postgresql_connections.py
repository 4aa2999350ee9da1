"""Connections to PostgreSQL that wait for their next use."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST = 16


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
        self._idle: list[Any] = []
        self._kind: Any = None

    @contextmanager
    def taken(self) -> Iterator[Any]:
        """A connection for the time of a ``with`` block; after an error it is the last time."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        except BaseException as error:
            if self._is_of_use(connection, error):
                self._idle.append(connection)
            else:
                connection.close()
                self.close()  # the others are as old
            raise
        if len(self._idle) < _MOST:
            self._idle.append(connection)
        else:
            connection.close()

    def _is_of_use(self, connection: Any, error: BaseException) -> bool:
        from psycopg.pq import TransactionStatus  # noqa: PLC0415 - lazy: an extra, wanted by few

        return (
            not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        )

    def _connect(self) -> Any:
        if self._kind is None:
            self._kind = _kind(self._timeout)
        return self._kind.connect(**self._options, autocommit=True)

    def close(self) -> None:
        """Close those that wait."""
        while self._idle:
            self._idle.pop().close()


def _kind(limit: float) -> Any:
    """The class of connections on which waiting for an answer ends."""
    from psycopg import Connection, OperationalError  # noqa: PLC0415 - lazy: an extra
    from psycopg.errors import _WaitTimeout  # noqa: PLC0415

    class Patient(Connection[Any]):
        def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
            try:
                return super().wait(gen, interval, limit if timeout is None else timeout)
            except _WaitTimeout as error:
                self.pgconn.finish()
                raise OperationalError(f"no answer within {limit:g} s") from error

    return Patient
