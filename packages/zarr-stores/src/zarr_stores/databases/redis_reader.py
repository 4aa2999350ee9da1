"""Requests of several commands to Redis, and the reader of parts of one generation of a value.

The pipelines of redis-py need one request to watch a key, one to read it and one to end the watch.
Here the commands are sent together, on connections of redis-py's pool.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

from redis.exceptions import ConnectionError, ResponseError
from zarr_core.extension import StoreReadError, ValueReplacedError

from zarr_stores._partial_reader import PartialReader
from zarr_stores._reader_store import replaced

if TYPE_CHECKING:
    from zarr_stores.databases.redis import RedisStore


def answers(connection: Any, *commands: tuple[Any, ...], watch: str | None = None) -> list[Any]:
    """Send commands with one request; return the responses, or raise the first error.

    With ``watch``, a Redis key is watched from now on, instead of the one that an earlier use of
    the connection may have left.  Errors of ``CLIENT`` commands are returned as responses.
    """
    before = [] if watch is None else [("UNWATCH",), ("WATCH", watch)]
    failure: Exception | None = None
    found: list[Any] = []
    try:
        connection.send_packed_command(connection.pack_commands([*before, *commands]))
        for command in (*before, *commands):
            answer = _answer(connection)
            if isinstance(answer, Exception) and command[0] != "CLIENT":
                failure = failure or answer
            found.append(answer)
    except BaseException:  # an unknown number of responses is outstanding
        connection.disconnect()
        raise
    if failure is not None:
        raise failure
    return found[len(before) :]


def answers_while_watching(connection: Any, *commands: tuple[Any, ...]) -> list[Any]:
    """Send commands, unless the connection that watches the key was lost."""
    if not connection.is_connected:
        raise ConnectionError("the connection that watched the key was lost")
    return answers(connection, *commands)


def _answer(connection: Any) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error


def is_dirty(state: Any) -> bool | None:
    """Return whether the watched key has changed, by the response to ``CLIENT INFO``.

    None if Redis is older than 6.2, which does not know the command.
    """
    if isinstance(state, str):
        state = state.encode()
    if not isinstance(state, bytes):
        return None
    flags = dict(word.partition(b"=")[::2] for word in state.split()).get(b"flags")
    return None if flags is None else b"d" in flags


class RedisReader(PartialReader):
    """Reader of a large value that is watched; raises an error after it is replaced."""

    def __init__(
        self, store: RedisStore, key: str, name: str, size: int, held: list[tuple[int, bytes]],
        pool: Any, connection: Any,
    ) -> None:  # fmt: skip
        super().__init__(store, key, size, held)
        self.gap_nbytes = store.gap_nbytes
        self._name = name
        self._connection = connection
        self._lock = threading.Lock()
        self._closing = weakref.finalize(self, pool.release, connection)

    def _fetch(self, starts: list[int], lengths: list[int]) -> list[bytes]:
        commands: list[tuple[Any, ...]] = [
            ("GETRANGE", self._name, start, start + length - 1)
            for start, length in zip(starts, lengths, strict=True)
        ]

        def work() -> list[Any]:
            with self._lock:
                if not self._closing.alive:
                    raise StoreReadError("the reader is closed", self._store, self._key)
                return answers_while_watching(self._connection, *commands, ("CLIENT", "INFO"))

        # A new connection could not detect that the value was replaced.
        found: list[Any] = self._store.request(
            self._key, ValueReplacedError, "read", work, again=False
        )
        if is_dirty(found.pop()) is not False:
            raise replaced(self._store, self._key)
        return found

    def close(self) -> None:
        with self._lock:
            self._closing()
