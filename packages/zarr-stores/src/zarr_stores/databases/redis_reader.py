"""Reader of parts of one generation of a value in Redis, and a pool of connections."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from redis.exceptions import ConnectionError, RedisError, ResponseError
from zarr_core.extension import StoreReadError, ValueReplacedError
from zarr_core.tools import waiting

from zarr_stores._partial_reader import PartialReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_stores.databases.redis import RedisStore


class Session:
    """A connection with exclusive use, which can watch a key.

    Parameters
    ----------
    pool : redis.ConnectionPool
        The connection pool.
    """

    __slots__ = ("_pool", "_watches", "connection")

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._watches = False
        self.connection = pool.get_connection()

    def answers(
        self, *commands: tuple[Any, ...], watch: str | None = None, watching: bool = False
    ) -> list[Any]:
        """Send commands with one request and return the responses.

        Parameters
        ----------
        *commands : tuple
            Name and arguments of each command.
        watch : str, optional
            Redis key to watch from now on, instead of any other.
        watching : bool
            Whether the commands require that the key is still watched.

        Raises
        ------
        redis.RedisError
            The first error among the responses.  Errors of ``CLIENT`` commands are returned
            as responses instead.
        """
        if watching and not self._watches:
            raise ConnectionError("the connection that watched the key was lost")
        before: list[tuple[Any, ...]] = []
        if watch is not None:
            before = [("UNWATCH",), ("WATCH", watch)] if self._watches else [("WATCH", watch)]
            self._watches = True
        connection = self.connection
        failure: Exception | None = None
        answers: list[Any] = []
        try:
            connection.send_packed_command(connection.pack_commands([*before, *commands]))
            for command in (*before, *commands):
                answer = _answer(connection)
                if isinstance(answer, Exception) and command[0] != "CLIENT":
                    failure = failure or answer
                answers.append(answer)
        except BaseException:  # an unknown number of responses is outstanding
            self._watches = False
            connection.disconnect()
            raise
        if failure is not None:
            raise failure
        return answers[len(before) :]

    def refresh(self) -> None:
        """Disconnect if the server has closed the connection."""
        connection = self.connection
        try:
            ended = connection.is_connected and connection.can_read()  # no response is expected
        except (RedisError, OSError):
            ended = True
        if ended or not connection.is_connected:
            self._watches = False
            connection.disconnect()

    def end(self) -> None:
        """Return the connection to the pool."""
        if self._watches:
            self.connection.disconnect()
        self._pool.release(self.connection)


def _answer(connection: Any) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error


class Sessions:
    """A pool of idle sessions.

    Parameters
    ----------
    pool : redis.ConnectionPool
        The connection pool.
    most : int
        Maximum number of idle sessions.
    """

    def __init__(self, pool: Any, most: int) -> None:
        self._pool = pool
        self._most = most
        self._idle: list[Session] = []

    def acquire(self) -> Session:
        """Return an idle or new session for exclusive use."""
        try:
            session = self._idle.pop()
        except IndexError:
            return Session(self._pool)
        session.refresh()
        return session

    def release(self, session: Session) -> None:
        """Return a session to the pool."""
        if len(self._idle) < self._most:
            self._idle.append(session)
        else:
            session.end()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Provide a session for a ``with`` block."""
        session = self.acquire()
        try:
            yield session
        finally:
            self.release(session)

    def close(self) -> None:
        """End the idle sessions."""
        while self._idle:
            self._idle.pop().end()


def is_dirty(state: Any) -> bool | None:
    """Return whether the watched key has changed; None if Redis is older than 6.2.

    Parameters
    ----------
    state : bytes or Exception
        Response to ``CLIENT INFO``, which requires Redis 6.2.
    """
    if isinstance(state, str):
        state = state.encode()
    if not isinstance(state, bytes):
        return None
    flags = dict(word.partition(b"=")[::2] for word in state.split()).get(b"flags")
    return None if flags is None else b"d" in flags


class _Request:
    """A request of one thread for several parts, and its result or error."""

    __slots__ = ("awake", "error", "found", "lengths", "starts")

    def __init__(self, starts: list[int], lengths: list[int]) -> None:
        self.starts, self.lengths = starts, lengths
        self.found: list[bytes] | None = None
        self.error: StoreReadError | None = None
        self.awake = threading.Event()


class RedisReader(PartialReader):
    """Reader of a large value that is watched; raises an error after it is replaced.

    Parameters
    ----------
    store, key, name
        Store and key of the value, and its key in Redis.
    size : int
        Length of the value in bytes.
    held : list of (int, bytes)
        Parts that are in memory, each with its start.
    sessions, session
        The pool of the session, and the session that watches the value.
    """

    def __init__(
        self, store: RedisStore, key: str, name: str, size: int, held: list[tuple[int, bytes]],
        sessions: Sessions, session: Session,
    ) -> None:  # fmt: skip
        super().__init__(store, key, size, held)
        self.gap_bytes = store.gap_bytes
        self._name = name
        self._session = session
        self._waiting: deque[_Request] = deque()
        self._lock = threading.Lock()
        self._closing = weakref.finalize(self, sessions.release, session)

    def _fetch(self, starts: list[int], lengths: list[int]) -> list[bytes]:
        mine = _Request(starts, lengths)
        self._waiting.append(mine)
        while mine.found is None and mine.error is None:
            # The thread with the lock sends the requests of all waiting threads.
            if self._lock.acquire(blocking=False):
                try:
                    self._send_waiting()
                finally:
                    self._lock.release()
                with suppress(IndexError):
                    self._waiting[0].awake.set()  # a request that was added too late
            else:
                with waiting():
                    mine.awake.wait()
                mine.awake.clear()
        if mine.found is None:
            error = mine.error or StoreReadError("cannot be read")
            raise type(error)(error.reason, self._store, self._key)  # one exception per thread
        return mine.found

    def _send_waiting(self) -> None:
        """Send all waiting requests as one request."""
        requested = []
        while self._waiting:
            requested.append(self._waiting.popleft())
        if not requested:
            return
        commands: list[tuple[Any, ...]] = [
            ("GETRANGE", self._name, start, start + length - 1)
            for each in requested
            for start, length in zip(each.starts, each.lengths, strict=True)
        ]
        commands.append(("CLIENT", "INFO"))

        def work() -> list[Any]:
            if not self._closing.alive:
                raise StoreReadError("the reader is closed", self._store, self._key)
            return self._session.answers(*commands, watching=True)

        try:
            # A new connection could not detect that the value was replaced.
            answers = self._store.request(self._key, ValueReplacedError, "read", work, again=False)
            if is_dirty(answers[-1]) is not False:
                raise ValueReplacedError(
                    "the value was replaced while it was read", self._store, self._key
                )
        except BaseException as error:
            for each in requested:
                each.error = (
                    error
                    if isinstance(error, StoreReadError)
                    else StoreReadError("the thread that sent this request was interrupted")
                )
            if not isinstance(error, StoreReadError):
                raise
        else:
            found = iter(answers)
            for each in requested:
                each.found = [next(found) for _ in each.starts]
        finally:
            for each in requested:
                each.awake.set()

    def close(self) -> None:
        with self._lock:
            self._closing()
