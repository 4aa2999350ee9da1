"""Reading parts of one value in Redis, all of the same version."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from redis.exceptions import ConnectionError, RedisError, ResponseError
from zarr_core.extension import StoreReadError, ValueReplacedError

from zarr_stores._held_reader import HeldReader

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class _Asked:
    """Parts that a thread asks for, then those parts, or why they could not be had."""

    __slots__ = ("awake", "error", "found", "lengths", "starts")

    def __init__(self, starts: list[int], lengths: list[int]) -> None:
        self.starts, self.lengths = starts, lengths
        self.found: list[bytes] | None = None
        self.error: StoreReadError | None = None
        self.awake = threading.Event()


class RedisReader(HeldReader):
    """A large value that is watched: once it is replaced nothing more is read of it.

    Parameters
    ----------
    store, key, name
        Where it is; its name in Redis.
    size : int
        Length of the value.
    held : list of (int, bytes)
        Parts that are here already, each with its start.
    sessions, session
        Where the session comes from; the session that watches the value.
    """

    def __init__(
        self, store: RedisStore, key: str, name: str, size: int, held: list[tuple[int, bytes]],
        sessions: Sessions, session: Session,
    ) -> None:  # fmt: skip
        super().__init__(store, key, size, held)
        self._name = name
        self._session = session
        self._asked: deque[_Asked] = deque()
        self._lock = threading.Lock()
        self._closing = weakref.finalize(self, sessions.give_back, session)

    def _fetch(self, starts: list[int], lengths: list[int]) -> list[bytes]:
        mine = _Asked(starts, lengths)
        self._asked.append(mine)
        while mine.found is None and mine.error is None:
            # Who gets the connection asks for all that waits, and the others need not have it.
            if self._lock.acquire(blocking=False):
                try:
                    self._ask_for_all()
                finally:
                    self._lock.release()
                with suppress(IndexError):
                    self._asked[0].awake.set()  # who came too late for that
            else:
                mine.awake.wait()
                mine.awake.clear()
        if mine.found is None:
            error = mine.error or StoreReadError("cannot be read")
            raise type(error)(error.reason, self._store, self._key)  # each thread its own
        return mine.found

    def _ask_for_all(self) -> None:
        """Send everything that waits as one request."""
        asked = []
        while self._asked:
            asked.append(self._asked.popleft())
        if not asked:
            return
        commands: list[tuple[Any, ...]] = [
            ("GETRANGE", self._name, start, start + length - 1)
            for each in asked
            for start, length in zip(each.starts, each.lengths, strict=True)
        ]
        commands.append(("CLIENT", "INFO"))

        def work() -> list[Any]:
            if not self._closing.alive:
                raise StoreReadError("the reader is closed", self._store, self._key)
            return self._session.answers(*commands, watching=True)

        try:
            # Without its connection nobody would see that the value was replaced.
            answers = self._store.ask(self._key, ValueReplacedError, "read", work, again=False)
            if is_dirty(answers[-1]) is not False:
                raise ValueReplacedError("was replaced while it was read", self._store, self._key)
        except BaseException as error:
            for each in asked:
                each.error = (
                    error
                    if isinstance(error, StoreReadError)
                    else StoreReadError("another thread was interrupted while it read this too")
                )
            if not isinstance(error, StoreReadError):
                raise
        else:
            found = iter(answers)
            for each in asked:
                each.found = [next(found) for _ in each.starts]
        finally:
            for each in asked:
                each.awake.set()

    def close(self) -> None:
        with self._lock:
            self._closing()
