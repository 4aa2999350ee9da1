"""Reading parts of one value in Redis, all of the same version."""

from __future__ import annotations

import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreReadError, ValueReader, ValueReplacedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_stores.redis import RedisStore


class Session:
    """A connection that is nobody else's, and may watch a key.

    Parameters
    ----------
    pool : redis.ConnectionPool
        Where connections come from.
    """

    __slots__ = ("_pool", "_watches", "connection")

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._watches = False
        self.connection = pool.get_connection()

    def answers(
        self, *commands: tuple[Any, ...], watch: str | None = None, watching: bool = False
    ) -> list[Any]:
        """Send commands at once, then read what Redis answers to each.

        Parameters
        ----------
        *commands : tuple
            Words of each.
        watch : str, optional
            A name to watch from now on, instead of any other.
        watching : bool
            Whether the commands mean something only if the name is still watched.

        Raises
        ------
        redis.RedisError
            The first error among the answers, but those about the connection itself
            (``CLIENT``), which are given as answers.
        """
        from redis.exceptions import ConnectionError  # noqa: PLC0415 - lazy: an extra

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
        except BaseException:  # nobody knows how many answers are still to come
            self._watches = False
            connection.disconnect()
            raise
        if failure is not None:
            raise failure
        return answers[len(before) :]

    def refresh(self) -> None:
        """Let go of a connection that the server has ended meanwhile."""
        from redis.exceptions import RedisError  # noqa: PLC0415 - lazy: an extra

        connection = self.connection
        try:
            ended = connection.is_connected and connection.can_read()  # nothing was asked
        except (RedisError, OSError):
            ended = True
        if ended or not connection.is_connected:
            self._watches = False
            connection.disconnect()

    def end(self) -> None:
        """Give the connection back."""
        if self._watches:
            self.connection.disconnect()
        self._pool.release(self.connection)


def _answer(connection: Any) -> Any:
    from redis.exceptions import ResponseError  # noqa: PLC0415 - lazy: an extra, wanted by few

    try:
        return connection.read_response()
    except ResponseError as error:
        return error


class Sessions:
    """Sessions that wait for their next use, as long as there are not too many.

    Parameters
    ----------
    pool : redis.ConnectionPool
        Where connections come from.
    most : int
        How many to keep.
    """

    def __init__(self, pool: Any, most: int) -> None:
        self._pool = pool
        self._most = most
        self._idle: list[Session] = []

    def take(self) -> Session:
        """A session of one's own."""
        try:
            session = self._idle.pop()
        except IndexError:
            return Session(self._pool)
        session.refresh()
        return session

    def give_back(self, session: Session) -> None:
        """Let someone else have it."""
        if len(self._idle) < self._most:
            self._idle.append(session)
        else:
            session.end()

    @contextmanager
    def taken(self) -> Iterator[Session]:
        """A session for the time of a ``with`` block."""
        session = self.take()
        try:
            yield session
        finally:
            self.give_back(session)

    def close(self) -> None:
        """End those that wait."""
        while self._idle:
            self._idle.pop().end()


def is_dirty(state: Any) -> bool | None:
    """Whether what the session watches has been changed; None if Redis is too old to say.

    Parameters
    ----------
    state : bytes or Exception
        The answer to ``CLIENT INFO``, of Redis 6.2 or newer.
    """
    if isinstance(state, str):
        state = state.encode()
    if not isinstance(state, bytes):
        return None
    flags = dict(word.partition(b"=")[::2] for word in state.split()).get(b"flags")
    return None if flags is None else b"d" in flags


class RedisReader(ValueReader):
    """A large value that is watched: once it is replaced nothing more is read of it.

    Parameters
    ----------
    store, key, name
        Where it is; its name in Redis.
    sessions, session
        Where the session comes from; the session that watches the value.
    size : int
        Length of the value.
    held : list of (int, bytes)
        Parts that are here already, each with its start.
    """

    requests = 1  # all parts of a call with one request, on one connection

    def __init__(
        self, store: RedisStore, key: str, name: str, sessions: Sessions, session: Session,
        size: int, held: list[tuple[int, bytes]],
    ) -> None:  # fmt: skip
        self._store, self._key, self._name = store, key, name
        self._session = session
        self._size = size
        self._held = held
        self._lock = threading.Lock()
        self._closing = weakref.finalize(self, sessions.give_back, session)

    @property
    def size(self) -> int:
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        asked = []
        for start, buffer in parts:
            end = start + len(buffer)
            if start < 0 or end > self._size:
                raise StoreReadError(
                    f"bytes {start} to {end} of a value of {self._size} bytes",
                    self._store,
                    self._key,
                )
            for first, data in self._held:
                if first <= start and end <= first + len(data):
                    buffer[:] = memoryview(data)[start - first : end - first]
                    break
            else:
                if buffer:
                    asked.append((start, buffer))
        if asked:
            for (_, buffer), data in zip(asked, self._fetch(asked), strict=True):
                buffer[:] = data

    def _fetch(self, parts: list[tuple[int, memoryview]]) -> list[bytes]:
        commands: list[tuple[Any, ...]] = [
            ("GETRANGE", self._name, start, start + len(buffer) - 1) for start, buffer in parts
        ]
        commands.append(("CLIENT", "INFO"))

        def work() -> list[bytes]:
            with self._lock:
                if not self._closing.alive:
                    raise StoreReadError("the reader is closed", self._store, self._key)
                return self._session.answers(*commands, watching=True)

        # Without its connection nobody would see that the value was replaced.
        *found, state = self._store.ask(self._key, ValueReplacedError, "read", work, again=False)
        if is_dirty(state) is not False:
            raise ValueReplacedError("was replaced while it was read", self._store, self._key)
        return found

    def close(self) -> None:
        with self._lock:
            self._closing()
